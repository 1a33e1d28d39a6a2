/** Damage by prose around the document: explanations, greetings, citations and apologies. */
import type { Random } from '../random.ts'
import { rootForm } from '../shape.ts'
import type { Damage, Sample } from '../types.ts'
import { around, embedded, isDocument } from './outcome.ts'

const BEFORE = [
  'Sure! Here is the JSON you asked for:\n\n',
  'Based on the text, the result is:\n',
  'Output: ',
  'I have read the document carefully. The extracted data follows.\n\n',
  'As requested (see the instructions above):\n',
]
const APOSTROPHES = [
  "Here's the JSON: ",
  "I've read it and I'm confident that's right:\n",
  "Let's go. The user's request isn't long, so here's everything:\n\n",
  'The so-called "final" one:\n',
  "Voilà l'objet :\n",
]
const AFTER = [
  '\n\nLet me know if you need anything else!',
  '\n\nNote: all values were taken from the text.',
  ' I hope this helps.',
  "\n\nThat's all; don't hesitate to ask.",
  '\n---\nGenerated with care.',
]
const FOREIGN_BEFORE = [
  '好的，以下是结果：\n',
  'はい、こちらがJSONです：\n\n',
  'إليك النتيجة المطلوبة:\n',
  'यह रहा परिणाम:\n',
  'Voici la réponse demandée, n’hésitez pas :\n',
  'Вот результат:\n',
]
const FOREIGN_AFTER = [
  '\n希望对你有帮助！',
  '\n以上です。',
  '\nأتمنى أن يكون هذا مفيدًا.',
  '\nधन्यवाद।',
  '\nBonne journée !',
  '',
]
const STRAY = [
  'The format uses { to open an object. Here it is:\n',
  'Remember: every [ needs a partner.\n\n',
  'I will not write :{ or [: again :-)\n',
  'A set {a, b} is not an object {, so:\n',
]
const CITATIONS = [
  'According to the source [1] and the appendix [2, 3], the result is:\n',
  'As shown in [12], this holds:\n\n',
  'See the [documentation](https://example.com/docs) for details.\n\n',
  '- [x] read the text\n- [ ] write the answer\n\n',
  'Steps taken:\n1. [done] read\n2. [done] think\n\n',
]
const CITATIONS_AFTER = [
  '\n\nSources: [1], [2]',
  '\n\n[1]: https://example.com/source',
  '\n\n- [x] done',
  '\nMore in the [manual](https://example.com/m).',
]

function talk(name: string, before: readonly string[], after: readonly string[]): Damage {
  return {
    name,
    family: 'prose',
    slot: 'embed',
    apply: (random: Random, sample: Sample) =>
      isDocument(sample) ? around(sample, random.pick(before), random.pick(after)) : undefined,
  }
}

/** Brackets in prose can only be distinguished from the answer when the answer consists of objects. */
export const PROSE: readonly Damage[] = [
  talk('prose-before', BEFORE, ['']),
  talk('prose-after', [''], AFTER),
  talk('prose-around', BEFORE, AFTER),
  talk('prose-apostrophe', APOSTROPHES, ['', ...AFTER]),
  talk('prose-foreign', FOREIGN_BEFORE, FOREIGN_AFTER),
  talk('prose-stray-bracket', STRAY, ['', ...AFTER]),
  talk('prose-citation', CITATIONS, ['', ...CITATIONS_AFTER]),
  talk(
    'prose-markdown',
    ['# Result\n\n**Answer:**\n\n', '> Quoted task\n\n## Output\n', '1. **JSON**:\n'],
    ['', '\n\n---\n*end*'],
  ),
  {
    name: 'prose-bare-root',
    family: 'prose',
    slot: 'embed',
    apply(random, sample) {
      const form = rootForm(sample.schema, sample.value)
      if (form !== 'list' && form !== 'object') return undefined
      return around(sample, random.pick(BEFORE), '')
    },
  },
  {
    name: 'plain-answer',
    family: 'prose',
    slot: 'embed',
    apply(_random, sample) {
      if (rootForm(sample.schema, sample.value) !== 'text' || typeof sample.value !== 'string')
        return undefined
      if (/^\s|\s$|^["'`{[<]|`{3}/.test(sample.value)) return undefined
      return embedded(sample, sample.value)
    },
  },
]
