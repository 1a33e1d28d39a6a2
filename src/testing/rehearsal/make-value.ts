/** Generates a value that satisfies a schema from given words, for the rehearsal model. The same seed gives the same value. */
import { isObject, type Json, setOwn } from '../../base/json.ts'
import { mergeAll } from '../../schema/build/merge.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { createRandom, mixSeed, type Random } from '../noise/random.ts'
import { textFor } from './from-pattern.ts'

export interface MakeOptions {
  readonly seed: number
  readonly words: readonly string[]
}

type Keywords = Readonly<Record<string, unknown>>

interface Making {
  readonly random: Random
  readonly words: readonly string[]
  readonly root: JsonSchema
  readonly depth: number
}

/** Maximum number of attempts. Keywords without a rule here (`not`, `if`, dependencies) are satisfied by chance; most schemas need one attempt. */
const tries = 60

/** Always returns a value; for a schema that cannot be satisfied, the last attempt. */
export function makeValue(schema: JsonSchema, { seed, words }: MakeOptions): Json {
  const { accepts } = compileSchema(schema)
  let value: Json = null
  for (let index = 0; index < tries; index++) {
    value = make(schema, { random: createRandom(mixSeed(seed, index)), words, root: schema, depth: 0 })
    if (accepts(value)) return value
  }
  return value
}

function make(given: unknown, making: Making): Json {
  if (!isObject(given)) return phrase(making.random, making.words, { min: 0, max: 80 })
  const { schema } = mergeAll(withBranches(given, making.random), making.root)
  if ('const' in schema) return schema['const'] as Json
  if (Array.isArray(schema['enum'])) return making.random.pick(schema['enum']) as Json
  const type = getType(schema, making.random)
  return makers[type]?.(schema, making) ?? null
}

/** Replaces every union by one of its branches, and `if` by one of its sides. */
function withBranches(schema: Keywords, random: Random): Record<string, unknown> {
  const { anyOf, oneOf, if: condition, then: holds, else: fails, ...rest } = schema
  const chosen = [anyOf, oneOf].flatMap((union) =>
    Array.isArray(union) && union.length > 0 ? [random.pick(union)] : [],
  )
  if (condition !== undefined) chosen.push(...(random.chance() ? [condition, holds] : [fails]))
  const parts = chosen
    .filter(isObject)
    .map((part) => ('anyOf' in part || 'oneOf' in part ? withBranches(part, random) : part))
  const all = Array.isArray(rest['allOf'])
    ? rest['allOf'].map((part) => (isObject(part) ? withBranches(part, random) : part))
    : []
  return parts.length + all.length > 0 ? { ...rest, allOf: [...all, ...parts] } : { ...rest }
}

function getType(schema: Keywords, random: Random): string {
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) {
    const solid = type.filter((one) => one !== 'null')
    return solid.length > 0 && random.chance(0.85) ? random.pick(solid) : random.pick(type)
  }
  if (isObject(schema['properties']) || Array.isArray(schema['required'])) return 'object'
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array'
  if (schema['minimum'] !== undefined || schema['maximum'] !== undefined) return 'number'
  return 'string'
}

const makers: Readonly<Record<string, (schema: Keywords, making: Making) => Json>> = {
  null: () => null,
  boolean: (_, { random }) => random.chance(),
  integer: (schema, { random }) => numberIn(schema, random, 1),
  number: (schema, { random }) => numberIn(schema, random, 0.01),
  string: makeText,
  array: makeList,
  object: makeObject,
}

function numberIn(schema: Keywords, random: Random, step: number): number {
  const size = typeof schema['multipleOf'] === 'number' ? schema['multipleOf'] : step
  const low = bound(schema, 'minimum', 'exclusiveMinimum', size)
  const high = bound(schema, 'maximum', 'exclusiveMaximum', -size)
  const from = low ?? (high === undefined ? size : high - 10 * size)
  const to = high ?? from + 100 * Math.max(size, 1)
  const [first, last] = [Math.ceil(from / size - 1e-9), Math.floor(to / size + 1e-9)]
  const value = random.int(first, Math.max(first, last)) * size
  return Number(value.toFixed(6))
}

function bound(schema: Keywords, open: string, strict: string, step: number): number | undefined {
  const [inclusive, exclusive] = [schema[open], schema[strict]]
  if (typeof exclusive === 'number') return exclusive + step
  return typeof inclusive === 'number' ? inclusive : undefined
}

const formats: Readonly<Record<string, (random: Random) => string>> = {
  date: (random) => `2026-0${random.int(1, 9)}-${random.int(10, 28)}`,
  'date-time': (random) => `2026-0${random.int(1, 9)}-${random.int(10, 28)}T${random.int(10, 23)}:30:00Z`,
  time: (random) => `${random.int(10, 23)}:30:00Z`,
  duration: (random) => `PT${random.int(1, 59)}M`,
  email: (random) => `person${random.int(1, 99)}@example.com`,
  hostname: (random) => `host${random.int(1, 99)}.example.com`,
  ipv4: (random) => `192.0.2.${random.int(1, 254)}`,
  ipv6: (random) => `2001:db8::${random.int(1, 9)}`,
  uri: (random) => `https://example.com/${random.int(1, 99)}`,
  'uri-reference': (random) => `/page/${random.int(1, 99)}`,
  uuid: (random) => `00000000-0000-4000-8000-${String(random.int(1, 999_999)).padStart(12, '0')}`,
  'json-pointer': (random) => `/item/${random.int(0, 9)}`,
}

function makeText(schema: Keywords, { random, words }: Making): string {
  const format = typeof schema['format'] === 'string' ? formats[schema['format']] : undefined
  if (format) return format(random)
  if (typeof schema['pattern'] === 'string') {
    const [example] = Array.isArray(schema['examples']) ? schema['examples'] : []
    const text = textFor(schema['pattern'], random) ?? example
    if (typeof text === 'string') return text
  }
  const min = typeof schema['minLength'] === 'number' ? schema['minLength'] : 0
  const max = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : Math.max(min, 80)
  return phrase(random, words, { min, max })
}

function makeList(schema: Keywords, making: Making): Json {
  const { random } = making
  const inside = { ...making, depth: making.depth + 1 }
  const min = typeof schema['minItems'] === 'number' ? schema['minItems'] : making.depth > deepest ? 0 : 1
  const most = typeof schema['maxItems'] === 'number' ? schema['maxItems'] : min + 2
  const prefix = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []
  const items: Json[] = prefix.map((part) => make(part, inside))
  if (schema['contains'] !== undefined) items.push(make(schema['contains'], inside))
  const length = random.int(min, Math.max(min, Math.min(most, making.depth > deepest ? min : min + 2)))
  const seen = new Set(items.map((item) => JSON.stringify(item)))
  for (let attempt = 0; items.length < length && attempt < 50 && schema['items'] !== false; attempt++) {
    const item = make(schema['items'], inside)
    const text = JSON.stringify(item)
    if (schema['uniqueItems'] === true && seen.has(text)) continue
    seen.add(text)
    items.push(item)
  }
  return items.slice(0, Math.max(most, min))
}

/** Below this depth, only required members and items are generated. */
const deepest = 4

function makeObject(schema: Keywords, making: Making): Json {
  const { random, words } = making
  const inside = { ...making, depth: making.depth + 1 }
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  const made = {}
  for (const [name, part] of Object.entries(properties)) {
    const wanted = required.has(name) || (making.depth < deepest && random.chance(0.7))
    if (wanted && part !== false) setOwn(made, name, make(part, inside))
  }
  for (const name of required)
    if (!Object.hasOwn(made, name as string))
      setOwn(made, name as string, make(schema['additionalProperties'], inside))
  const least = typeof schema['minProperties'] === 'number' ? schema['minProperties'] : 0
  const free = isObject(schema['additionalProperties']) && Object.keys(properties).length === 0 ? 2 : 0
  for (let attempt = 0; Object.keys(made).length < Math.max(least, free) && attempt < 50; attempt++) {
    const [pattern, part] =
      Object.entries(isObject(schema['patternProperties']) ? schema['patternProperties'] : {})[0] ?? []
    const name = pattern === undefined ? random.pick(words) : textFor(pattern, random)
    if (name !== undefined) setOwn(made, name, make(part ?? schema['additionalProperties'], inside))
  }
  return made as Json
}

/** Words of the prompt template and of JSON, which are not about the task. */
const frame: ReadonlySet<string> = new Set([
  'objective',
  'inputs',
  'clarifications',
  'null',
  'true',
  'false',
  'the',
  'and',
])

/** Returns the words of a prompt, in any language: the vocabulary of the answers. */
export function wordsIn(prompt: string): readonly string[] {
  const found = prompt.match(/[\p{L}\p{M}][\p{L}\p{M}\p{N}'’-]*/gu) ?? []
  const words = [...new Set(found.filter((word) => word.length > 1 && !frame.has(word.toLowerCase())))]
  return words.length > 0 ? words.slice(0, 200) : ['tea', 'time']
}

/** Returns consecutive words, within the given length. */
function phrase(
  random: Random,
  words: readonly string[],
  length: { readonly min: number; readonly max: number },
): string {
  const count = random.int(2, 6)
  const start = random.int(0, Math.max(words.length - count, 0))
  let text = words.slice(start, start + count).join(' ')
  while ([...text].length < length.min) text += `${text === '' ? '' : ' '}${random.pick(words)}`
  return [...text].slice(0, length.max).join('').trimEnd().padEnd(Math.min(length.min, length.max), '.')
}
