/** Answers beside reasoning sections that contain drafts, in the notations that models use. */
import { isObject } from '../../../base/json.ts'
import type { Random } from '../random.ts'
import { NOISE_SCHEMAS } from '../schemas.ts'
import { rootForm } from '../shape.ts'
import type { NoiseFamily, Passage } from '../types.ts'
import { NESTED, OPTIONAL } from './documents.ts'
import { applyAll, encode, fence, tag, windows, withoutAnswer, wrap } from './layers.ts'

/** A section around its content. */
type Section = (content: string) => string

const named =
  (name: string): Section =>
  (content) =>
    `<${name}>\n${content}\n</${name}>`

const SECTIONS: Readonly<Record<string, Section>> = {
  think: named('think'),
  thinking: named('thinking'),
  thought: named('thought'),
  reasoning: named('reasoning'),
  reflection: named('reflection'),
  scratchpad: named('scratchpad'),
  analysis: named('analysis'),
  capitals: named('Thinking'),
  'in-one-line': (content) => `<think>${content.replaceAll('\n', ' ')}</think>`,
  brackets: (content) => `[THINK]${content}[/THINK]`,
  triangles: (content) => `◁think▷${content}◁/think▷`,
  channel: (content) =>
    `<|channel|>analysis<|message|>${content}<|end|><|start|>assistant<|channel|>final<|message|>`,
  'without-opening': (content) => `${content}\n</think>`,
  nested: (content) => `<think>\nFirst a plan.\n<reflection>\n${content}\n</reflection>\nFine.\n</think>`,
}

/** What a section says around the draft. */
function thoughts(random: Random, draft: string): string {
  return random.pick([
    `The user wants an object. Perhaps ${draft}? No, that isn't right.`,
    `Let me see.\n\n\`\`\`json\n${draft}\n\`\`\`\n\nWait, the second value is wrong.`,
    `Draft: ${draft}\nBut [1] says otherwise, so I change it.`,
    `{"plan": ["read", "answer"], "draft": ${draft}}`,
    `First idea:\n${draft}\nSecond idea: an empty object {}.`,
    'I have to read the text [2] first. It has {braces} and "quotes".',
  ])
}

/** Strings with tags, fences or brackets of their own could be taken for those of the section. */
const isPlain = (value: string): boolean => !/think|reflect|analysis|```|~~~|<\/?[a-z]|\[[A-Z/]/i.test(value)

export const REASONING: NoiseFamily = {
  name: 'reasoning sections with drafts',
  make(random): Passage | undefined {
    const source = random.pick(random.chance(0.7) ? NOISE_SCHEMAS : [...NESTED, ...OPTIONAL])
    const { name: schemaName, schema } = source
    const form = rootForm(schema, source.make(random))
    if (form === 'text' || form === 'scalar') return undefined
    const value = source.make(random)
    const decoy = source.make(random)
    const draft = JSON.stringify(decoy)
    const text = JSON.stringify(value, null, random.pick([0, 2]))
    if (!isPlain(draft) || !isPlain(text) || (isObject(value) && Object.keys(value).length === 0))
      return undefined
    const shared = { schemaName, schema, decoy, encoded: 0 }
    const kind = random.pick(Object.keys(SECTIONS))
    const section = SECTIONS[kind] as Section
    // A draft alone is the answer of last resort, so a text without an answer has none. The citations of such a text could
    // be lists.
    if (random.chance(0.12))
      return isObject(value) ? withoutAnswer(random, { ...shared, value: undefined }) : undefined
    const plain: Passage = { ...shared, value, text, single: true, kinds: [] }
    const written = applyAll(random, plain, random.pick([[], [], [fence], [wrap], [tag], [encode]]))
    if (written === undefined) return undefined
    const said = section(thoughts(random, draft))
    const again = section(thoughts(random, draft))
    // A section without its opening tag begins with the text, and a channel ends with the answer.
    const isFirst = kind === 'without-opening' || kind === 'channel'
    const whole = isFirst
      ? `${said}\n\n${written.text}`
      : random.pick([
          `${said}\n\n${written.text}`,
          `${said}\n\nHere is the answer:\n\n${written.text}`,
          `${said}\n${again}\n\n${written.text}`,
          `${said}\n\n${written.text}\n\n${again}`,
        ])
    const passage = { ...written, text: whole, single: false, kinds: [kind, ...written.kinds] }
    return random.chance(0.15) ? applyAll(random, passage, [windows]) : passage
  },
}
