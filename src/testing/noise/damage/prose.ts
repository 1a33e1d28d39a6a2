/** Damage by text around the document: prose, code fences, tags, special tokens and reasoning blocks. */
import type { Random } from '../random.ts'
import { rootForm } from '../shape.ts'
import type { Damage, Sample } from '../types.ts'
import { around, decoyText, embedded, isDocument, isText } from './outcome.ts'

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
/** Explanations, greetings, citations and apologies. */
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

function fence(name: string, apply: Damage['apply']): Damage {
  return {
    name,
    family: 'fence',
    slot: 'embed',
    apply: (random, sample) => (isText(sample) ? undefined : apply(random, sample)),
  }
}

/** A fence inside the document would end the one around it for a reader that only checks lines. */
const hasRawFence = (sample: Sample): boolean => /^\s*(```|~~~)/m.test(sample.text)

/** Code fences: labelled, unlabelled, mislabelled, unclosed, nested, inline, with other code before. */
export const FENCES: readonly Damage[] = [
  fence('fence-json', (r, s) => around(s, r.pick(['```json\n', '```JSON\n', '``` json\n']), '\n```')),
  fence('fence-bare', (_, s) => around(s, '```\n', '\n```')),
  fence('fence-mislabelled', (r, s) =>
    around(s, `\`\`\`${r.pick(['python', 'javascript', 'text', 'yaml', 'jsonc'])}\n`, '\n```\n'),
  ),
  fence('fence-unclosed', (_, s) => around(s, '```json\n', '')),
  fence('fence-only-closed', (_, s) => (isDocument(s) ? around(s, '', '\n```') : undefined)),
  fence('fence-tilde', (_, s) => around(s, '~~~json\n', '\n~~~')),
  fence('fence-four', (_, s) => around(s, '````json\n', '\n````')),
  fence('fence-same-line', (_, s) => (hasRawFence(s) ? undefined : around(s, '```json ', ' ```'))),
  fence('fence-indented', (_, s) => around(s, '  ```json\n  ', '\n  ```\n')),
  fence('fence-prose', (r, s) =>
    isDocument(s)
      ? around(
          s,
          r.pick(["Here's what I found:\n\n```json\n", 'Result (see [1]):\n```\n', '结果如下：\n```json\n']),
          r.pick(['\n```\n\nLet me know!', "\n```\nThat's it.", '\n```\n\n[1]: https://example.com']),
        )
      : undefined,
  ),
  fence('fence-nested', (_, s) =>
    hasRawFence(s) ? undefined : around(s, '````markdown\n## Answer\n\n```json\n', '\n```\n````'),
  ),
  fence('fence-inline', (r, s) => {
    if (s.text.includes('`') || !isDocument(s)) return undefined
    return around(s, r.pick(['`', 'The answer is `', 'Result: `']), r.pick(['`', '`.']))
  }),
  fence('fence-after-code', (r, s) => {
    if (rootForm(s.schema, s.value) === 'scalar' || !isDocument(s)) return undefined
    const code = r.pick([
      '```python\ndata = {"tmp": [0]}\nprint(f"{data}")\n```',
      '```bash\ncurl -d \'{"probe": true}\' https://example.com\n```',
      '```js\nconst x = { y: [0, 1] }\n```',
    ])
    return around(s, `First I ran this:\n\n${code}\n\nIt gave:\n\n\`\`\`json\n`, '\n```')
  }),
]

const SPECIAL = [
  '<|im_end|>',
  '</s>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<end_of_turn>',
  '<｜end▁of▁sentence｜>',
]
const REASONING = ['think', 'thinking', 'reasoning', 'reflection', 'scratchpad']

function embed(family: 'tag' | 'reasoning', name: string, apply: Damage['apply']): Damage {
  return {
    name,
    family,
    slot: 'embed',
    ...(family === 'reasoning' ? { decoy: true as const } : {}),
    apply(random, sample) {
      if (isText(sample)) return undefined
      // A tag inside a string would make the end of the block ambiguous.
      if (family === 'reasoning' && (/think>/.test(sample.text) || !isDocument(sample))) return undefined
      return apply(random, sample)
    },
  }
}

/** Tags, special tokens and reasoning blocks, whose drafts are not the answer. */
export const TAGS: readonly Damage[] = [
  embed('tag', 'tag-answer', (r, s) => {
    const tag = r.pick(['answer', 'json', 'output', 'result', 'response', 'final_answer'])
    const gap = r.pick(['', '\n'])
    return around(s, `<${tag}>${gap}`, `${gap}</${tag}>`)
  }),
  embed('tag', 'tag-prose', (r, s) => {
    if (!isDocument(s)) return undefined
    const tag = r.pick(['answer', 'json', 'output'])
    return around(s, `I'll answer inside the tags.\n<${tag}>`, `</${tag}>\nDone.`)
  }),
  embed('tag', 'tag-fence', (_, s) => around(s, '<answer>\n```json\n', '\n```\n</answer>')),
  embed('tag', 'tag-unclosed', (r, s) => around(s, `<${r.pick(['answer', 'json', 'output'])}>\n`, '')),
  embed('tag', 'tag-tool-call', (r, s) => {
    if (!isDocument(s)) return undefined
    return r.chance()
      ? around(s, '<tool_call>\n', '\n</tool_call>')
      : around(s, '<function=submit>', '</function>')
  }),
  embed('tag', 'token-end', (r, s) => around(s, '', `${r.pick(['', '\n'])}${r.pick(SPECIAL)}`)),
  embed('tag', 'token-start', (r, s) =>
    around(s, r.pick(['<s>', '<|assistant|>\n', '<|im_start|>assistant\n', '[/INST] ']), ''),
  ),
  embed('tag', 'token-role', (r, s) =>
    isDocument(s)
      ? around(s, '', `<|im_end|>\n<|im_start|>user\n${r.pick(['Thanks!', 'Is that all?'])}`)
      : undefined,
  ),
  embed('reasoning', 'reasoning-closed', (r, s) => {
    const tag = r.pick(REASONING)
    return around(
      s,
      `<${tag}>\nLet's see, a first draft:\n${decoyText(r, s)}\nNo, that isn't right.\n</${tag}>\n\n`,
      '',
    )
  }),
  embed('reasoning', 'reasoning-closed-fence', (r, s) =>
    around(s, `<think>\nMaybe \`\`\`json\n${decoyText(r, s)}\n\`\`\` ?\n</think>\n\n\`\`\`json\n`, '\n```'),
  ),
  embed('reasoning', 'reasoning-stray-close', (r, s) =>
    around(
      s,
      `Okay, the user wants JSON. Perhaps ${decoyText(r, s)}? I'd rather check again.\n</think>\n\n`,
      '',
    ),
  ),
  embed('reasoning', 'reasoning-unclosed', (r, s) =>
    around(
      s,
      `<${r.pick(['think', 'thinking'])}>\nThe text isn't long. I'll extract the fields now.\n\n`,
      '',
    ),
  ),
  embed('reasoning', 'reasoning-after', (r, s) =>
    around(s, '', `\n\n<reflection>\nAnother option was ${decoyText(r, s)}.\n</reflection>`),
  ),
  embed('reasoning', 'reasoning-harmony', (r, s) =>
    around(
      s,
      `<|channel|>analysis<|message|>Draft: ${decoyText(r, s)} needs work.<|end|><|start|>assistant<|channel|>final<|message|>`,
      r.pick(['<|return|>', '']),
    ),
  ),
  embed('reasoning', 'reasoning-two', (r, s) =>
    around(s, `<think>${decoyText(r, s)}</think>\n<think>Still unsure, isn't it?</think>\n`, ''),
  ),
]
