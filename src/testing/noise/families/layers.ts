/** Layers to add around a document in any order: encoding, wrappers, fences, prose, drafts, citations. */
import { isObject } from '../../../base/json.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import type { Random } from '../random.ts'
import { rootKeys } from '../shape.ts'
import type { Layer, Passage } from '../types.ts'

const layer = (name: string, apply: Layer['apply']): Layer => ({ name, apply })

const changed = (passage: Passage, name: string, changes: Partial<Passage>): Passage => ({
  ...passage,
  ...changes,
  kinds: [...passage.kinds, name],
})

const WRAPPER_KEYS = ['result', 'data', 'response', 'output', 'answer', 'payload']
const BEFORE = [
  'Sure! Here is the JSON you asked for:\n\n',
  'Based on the text, the result is:\n',
  "I've read it. Here's everything:\n\n",
  '好的，以下是结果：\n',
  '**Answer:**\n\n',
]
const AFTER = [
  '\n\nLet me know if you need anything else!',
  "\n\nThat's all.",
  '\n\nNote: all values were taken from the text.',
  '\n希望对你有帮助！',
  '',
]
/** Brackets in prose that contain no part of the answer. */
const CITATIONS = [
  'As shown in [3], this holds:\n\n',
  'According to [1] and [2, 3], the result is:\n',
  'We start with {} and end with:\n',
  'The list was empty ([]) at first. Now:\n',
  'Sources: [12], [13].\n\n',
  'An empty object {} would be wrong here [4]. The data:\n',
]
const CITATIONS_AFTER = ['', '\n\nSee [3].', '\n\nSources: [1], [2]', '\n(It was {} before.)']

/** Encodes the text as one JSON string. */
export const encode = layer('encode', (_, passage) =>
  passage.encoded >= 2
    ? undefined
    : changed(passage, 'encode', {
        text: JSON.stringify(passage.text),
        single: true,
        encoded: passage.encoded + 1,
      }),
)

/** Wraps the value in an object or list that the schema does not have. */
export const wrap = layer('wrap', (random, passage) => {
  if (!passage.single) return undefined
  const key = random.pick(WRAPPER_KEYS.filter((name) => !rootKeys(passage.schema).includes(name)))
  const { text } = passage
  const wrapped = random.pick([
    `{"${key}": ${text}}`,
    `{"status": "ok", "${key}": ${text}}`,
    `{"${key}": {"content": ${text}}}`,
    // A list in a list could be a list of lists, and a list of one item is valid where a list is expected.
    ...(Array.isArray(passage.value) ? [] : [`[${text}]`]),
  ])
  return changed(passage, 'wrap', { text: wrapped })
})

export const fence = layer('fence', (random, passage) =>
  !passage.single || /^\s*(?:```|~~~)/m.test(passage.text)
    ? undefined
    : changed(passage, 'fence', {
        text: `\`\`\`${random.pick(['json', '', 'JSON'])}\n${passage.text}\n\`\`\``,
        single: false,
      }),
)

export const tag = layer('tag', (random, passage) => {
  const name = random.pick(['answer', 'output', 'json'])
  return changed(passage, 'tag', { text: `<${name}>\n${passage.text}\n</${name}>`, single: false })
})

export const talk = layer('talk', (random, passage) =>
  changed(passage, 'talk', { text: random.pick(BEFORE) + passage.text + random.pick(AFTER), single: false }),
)

/** Adds a draft in a reasoning block, unless a string contains the tag, which makes the end of the block ambiguous. */
export const draft = layer('draft', (random, passage) => {
  const decoy = JSON.stringify(passage.decoy)
  if (/think/.test(passage.text + decoy)) return undefined
  const shown = random.pick([
    decoy,
    JSON.stringify(decoy),
    `{"result": ${decoy}}`,
    `\`\`\`json\n${decoy}\n\`\`\``,
  ])
  return changed(passage, 'draft', {
    text: `<think>\nPerhaps ${shown}\nNo, that isn't right.\n</think>\n\n${passage.text}`,
    single: false,
  })
})

/** Adds citations and empty brackets around an answer that is an object with content; for a list they would be ambiguous. */
export const cite = layer('cite', (random, passage) =>
  passage.value !== undefined && !isObject(passage.value)
    ? undefined
    : changed(passage, 'cite', {
        text: random.pick(CITATIONS) + passage.text + random.pick(CITATIONS_AFTER),
        single: false,
      }),
)

/** Converts line breaks to CRLF; those inside strings are escaped and stay. */
export const windows = layer('windows', (_, passage) =>
  changed(passage, 'windows', { text: passage.text.replace(/\r?\n/g, '\r\n') }),
)

/** Adds a byte order mark, as files have it. */
export const mark = layer('byte-order-mark', (_, passage) =>
  changed(passage, 'byte-order-mark', { text: `\uFEFF${passage.text}` }),
)

/** Writes a model text without an answer. */
export function withoutAnswer(
  random: Random,
  passage: Omit<Passage, 'text' | 'single' | 'kinds' | 'encoded'>,
): Passage {
  const keys = rootKeys(passage.schema).map((key) => `"${key}"`)
  const named = keys.length > 0 ? keys.join(' and ') : 'the items'
  const text = random.pick([
    'As shown in [3], nothing was found.',
    'According to [1] and [2], the text says nothing about it.',
    'The answer is not in the sources [12].',
    'See [4].',
    `I cannot tell ${named}: the text does not mention them.`,
    `Before I go on, please send me ${named} (see [2]).`,
    `<think>\nThey want ${named}. I do not know.\n</think>\n\nI'm sorry, I can't answer that.`,
    `Ich kann ${named} nicht finden.\r\nBitte mehr Text!`,
  ])
  return { ...passage, value: undefined, text, single: false, kinds: ['no-answer'], encoded: 0 }
}

/** Applies a number of layers one after another; returns `undefined` if one does not apply. */
export function applyAll(random: Random, passage: Passage, layers: readonly Layer[]): Passage | undefined {
  let now: Passage | undefined = passage
  for (const one of layers) {
    now = one.apply(random, now)
    if (now === undefined) return undefined
  }
  return isStrictAnswer(now) ? undefined : now
}

/** Returns whether the text is strict JSON that validates but is not the expected value: such texts do not belong to these families. */
function isStrictAnswer({ text, schema, value }: Passage): boolean {
  try {
    const strict: unknown = JSON.parse(text)
    return compileSchema(schema).accepts(strict) && JSON.stringify(strict) !== JSON.stringify(value)
  } catch {
    return false
  }
}
