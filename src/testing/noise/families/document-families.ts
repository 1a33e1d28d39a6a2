/** Families of documents with layers: encoded and wrapped, with citations, with similar keys, nested in objects of the same schema. */
import { isObject, type Json } from '../../../base/json.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import { makeSample } from '../corpus.ts'
import { isDocument } from '../damage/outcome.ts'
import { DAMAGES } from '../damages.ts'
import type { Random } from '../random.ts'
import { NOISE_SCHEMAS } from '../schemas.ts'
import type { Layer, NoiseFamily, NoiseSchema, Passage } from '../types.ts'
import { KEYED, NESTED, OPTIONAL } from './documents.ts'
import {
  applyAll,
  cite,
  draft,
  encode,
  fence,
  mark,
  tag,
  talk,
  windows,
  withoutAnswer,
  wrap,
} from './layers.ts'

/** Unambiguous errors of syntax and type, with any text around the document. */
const SLIPS = [
  'comma-trailing',
  'quotes-single',
  'python',
  'number-quoted',
  'boolean-quoted',
  'comment-block',
  'extra-key',
]

function toPassage(
  random: Random,
  source: NoiseSchema,
  { slips = SLIPS, share = 0.5 }: { slips?: readonly string[]; share?: number } = {},
): Passage {
  const sample = makeSample(random, source)
  const damage = DAMAGES.find(({ name }) => name === random.pick(slips))
  const outcome = random.chance(share) ? damage?.apply(random, sample) : undefined
  const right = outcome !== undefined && 'expected' in outcome ? outcome : undefined
  return {
    schemaName: source.name,
    schema: source.schema,
    value: right?.expected ?? sample.value,
    decoy: sample.decoy,
    text: right?.text ?? sample.text,
    single: true,
    kinds: right && damage ? [damage.name] : [],
    encoded: 0,
  }
}

/** Removes a required member, so that the text contains no answer. */
function withoutRequired(random: Random, passage: Passage): Passage | undefined {
  const { schema, value } = passage
  const required = typeof schema === 'object' && Array.isArray(schema['required']) ? schema['required'] : []
  if (!isObject(value) || required.length < 2) return undefined
  const gone = random.pick(required as string[])
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => key !== gone)) as Json
  // A part of the rest could be an answer itself.
  if (Object.values(rest as object).some((part) => typeof part === 'object' && part !== null))
    return undefined
  return { ...passage, value: undefined, text: JSON.stringify(rest), kinds: ['required-missing'] }
}

/** Picks a number of layers in any order; after prose, fences, tags and drafts the text must be encoded before it can be wrapped. */
function pickLayers(random: Random, layers: readonly Layer[], count: number): Layer[] {
  return Array.from({ length: count }, () => random.pick(layers))
}

const ENCODED: NoiseFamily = {
  name: 'encoded as a string and wrapped',
  make(random) {
    const source = random.pick(random.chance(0.7) ? NOISE_SCHEMAS : OPTIONAL)
    const whole = toPassage(random, source)
    const document = isObject(whole.value) || isDocument({ ...whole, value: whole.value ?? null })
    if (!document) return undefined
    const passage = random.chance(0.12) ? withoutRequired(random, whole) : whole
    const layers = pickLayers(random, [encode, wrap, encode, wrap, fence, talk, draft, tag], random.int(2, 5))
    if (!layers.includes(encode) || !layers.includes(wrap)) return undefined
    // In a text without an answer, a draft would be one.
    if (passage === undefined || (passage.value === undefined && layers.includes(draft))) return undefined
    return applyAll(random, passage, layers)
  },
}

/** The text contains no value of the schema, not even an empty one. */
function makeEmptyPassage(random: Random, source: NoiseSchema): Passage {
  const { name: schemaName, schema } = source
  return withoutAnswer(random, { schemaName, schema, value: undefined, decoy: source.make(random) })
}

/** Share of texts without an answer. */
const LOST = 0.12

const CITED: NoiseFamily = {
  name: 'citations and {} before an object, nothing required',
  make(random) {
    const source = random.pick(OPTIONAL)
    if (random.chance(LOST)) return makeEmptyPassage(random, source)
    const layers = random.pick([
      [cite],
      [cite],
      [fence, cite],
      [tag, cite],
      [encode, cite],
      [cite, draft],
      [encode, fence, cite],
    ])
    return applyAll(random, toPassage(random, source, { share: 0.7 }), layers)
  },
}

/** Removes the space of a key where only one key of the schema matches. */
function trimmedKeys(passage: Passage): Passage {
  if (passage.schemaName !== 'key-with-space') return passage
  return {
    ...passage,
    text: passage.text.replace(/(["'])id \1/, '$1id$1'),
    kinds: [...passage.kinds, 'key-trimmed'],
  }
}

const KEYS: NoiseFamily = {
  name: 'keys that differ by a space',
  make(random) {
    const source = random.pick(KEYED)
    if (random.chance(LOST)) return makeEmptyPassage(random, source)
    const slips = ['comma-trailing', 'quotes-single', 'python', 'number-quoted', 'comment-block']
    const passage = toPassage(random, source, { slips, share: 0.8 })
    const written = random.chance(0.2) ? trimmedKeys(passage) : passage
    const layers = random.pick([[], [], [fence], [talk], [wrap], [encode], [tag]])
    const made = applyAll(random, written, layers)
    return made === undefined || isIntact(made) ? undefined : made
  },
}

/** Returns whether the text is strict JSON of the value itself, which does not test a reader. */
function isIntact({ text, value }: Passage): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}

/** Adds members that the schema does not have, one of them an object that could be the answer itself, with less content than the whole. */
function withForeignParts(random: Random, passage: Passage): Passage | undefined {
  const { value, schema } = passage
  if (!isObject(value)) return undefined
  const scalars = Object.entries(value).filter(([, member]) => typeof member !== 'object')
  const part = Object.fromEntries(scalars.slice(0, random.int(1, Math.max(1, scalars.length - 1))))
  const foreign = Object.fromEntries(
    Array.from({ length: random.int(0, 6) }, (_, index) => [`x${index}`, index]),
  )
  const whole = { ...value, ...foreign, [random.pick(['child', 'origin', 'previous'])]: part } as Json
  const open = compileSchema(schema).accepts(whole)
  const text = JSON.stringify(whole, null, random.pick([0, 2]))
  return { ...passage, value: open ? whole : (value as Json), text, kinds: ['foreign-parts'] }
}

const INSIDE: NoiseFamily = {
  name: 'an object inside its like',
  make(random) {
    const source = random.pick([...NESTED, ...NESTED, ...OPTIONAL])
    if (random.chance(LOST)) return makeEmptyPassage(random, source)
    const passage = toPassage(random, source, { share: 0.7 })
    const written = random.chance(0.4) ? withForeignParts(random, passage) : passage
    const layers = random.pick([[], [], [fence], [talk], [wrap], [encode], [encode, wrap], [draft]])
    const made = written && applyAll(random, written, layers)
    return made === undefined || isIntact(made) ? undefined : made
  },
}

/** Combines two families: every kind of document with the layers of every other family. */
const COMPOSED: NoiseFamily = {
  name: 'two families composed',
  make(random) {
    const source = random.pick([...KEYED, ...NESTED, ...OPTIONAL])
    if (random.chance(LOST)) return makeEmptyPassage(random, source)
    const slips = ['comma-trailing', 'quotes-single', 'python', 'number-quoted']
    const passage = toPassage(random, source, { slips })
    const layers = pickLayers(random, [encode, wrap, cite, fence, draft, talk, tag], random.int(2, 5))
    if (random.chance(0.3)) layers.push(random.pick([windows, mark]))
    if (
      layers.filter((one) => one === cite).length > 1 ||
      !layers.some((one) => one === cite || one === encode)
    )
      return undefined
    return applyAll(random, passage, layers)
  },
}

export const DOCUMENT_FAMILIES: readonly NoiseFamily[] = [ENCODED, CITED, KEYS, INSIDE, COMPOSED]
