/**
 * Conditions, values and schemas in which every type meets every operator: texts, booleans, null, lists, objects and
 * absent values under orderings, literals on either side, two variables compared, lists that are texts.
 */
import type { Json } from '../../../src/base/json.ts'
import type { Random } from '../../random.ts'

const scalars: readonly Json[] = [-1, 0, 0.5, 1, 2, 3, '', 'x', '0.5', 'tea', true, false, null]

/** Any JSON, small, with the same few names and numbers again and again. */
export function anyValue(random: Random, depth = 0): Json {
  const at = random.next()
  if (depth > 2 || at < 0.6) return random.pick(scalars)
  if (at < 0.8) return Array.from({ length: random.int(0, 3) }, () => anyValue(random, depth + 1))
  return anyObject(random, depth + 1)
}

export function anyObject(random: Random, depth = 0): Json {
  const names = ['a', 'b', 'c', 'item', 'length'].filter(() => random.chance(depth === 0 ? 0.75 : 0.4))
  return Object.fromEntries(names.map((name) => [name, anyValue(random, depth + 1)]))
}

const rootPaths: readonly string[] = [
  'a',
  'b',
  'c',
  'a.b',
  'b.a',
  'a.0',
  'b.1',
  'a.length',
  'c.length',
  'a.0.b',
  'c.b.a',
  'item',
  'length',
  'nowhere',
  '',
]
const itemPaths: readonly string[] = ['item', 'item', 'item.a', 'item.b', 'item.0', 'item.length', '']
const literals: readonly Json[] = [...scalars, [], [1, 2], ['x', 'tea'], [0.5, 'x', null, true]]

interface Where {
  readonly depth?: number
  readonly inItem?: boolean
  /** What conditions may read from the root; default: all that values of `anyObject` may have, and more. */
  readonly paths?: readonly string[]
}

export function anyCondition(random: Random, where: Where = {}): Json {
  const { depth = 0, inItem = false, paths = rootPaths } = where
  const path = () => random.pick(inItem && random.chance(0.7) ? itemPaths : paths)
  const variable = () => ({ var: path() })
  const number = () => random.pick([-1, 0, 0.5, 1, 2, 3])
  const inner = (more: Where = {}) => anyCondition(random, { depth: depth + 1, inItem, paths, ...more })
  const ordered = () => (random.chance(0.6) ? variable() : number())
  const value = () =>
    random.chance(0.55)
      ? variable()
      : random.chance(0.15) && depth < 3
        ? inner()
        : (random.pick(literals) as Json)
  const at = random.next()
  if (depth < 4 && at < 0.24)
    return { [random.pick(['and', 'or'])]: Array.from({ length: random.int(1, 4) }, () => inner()) }
  if (depth < 4 && at < 0.38) return { '!': random.chance(0.5) ? [inner()] : inner() }
  if (depth < 4 && at < 0.48)
    return { [random.pick(['some', 'all', 'none'])]: [value(), inner({ inItem: true })] }
  if (at < 0.54) return { missing: random.chance(0.5) ? [path(), variable()] : path() }
  if (at < 0.6) return { between: [variable(), ordered(), ordered()] }
  if (at < 0.66) return { in: [value(), value()] }
  if (at < 0.69) return random.chance(0.8) ? variable() : random.chance(0.5)
  if (at < 0.88) {
    const pair = [variable(), ordered()]
    return { [random.pick(['<', '<=', '>', '>='])]: random.chance(0.3) ? pair.reverse() : pair }
  }
  return { [random.pick(['==', '!='])]: [value(), value()] }
}

/** The same condition with the operands of every `and` and `or` in another order. */
export function shuffled(random: Random, condition: Json): Json {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return condition
  const [operator, held] = Object.entries(condition)[0] as [string, Json]
  if (operator === 'var' || operator === 'missing') return condition
  if (!Array.isArray(held)) return { [operator]: shuffled(random, held) }
  const operands = held.map((each) => shuffled(random, each as Json))
  if (operator !== 'and' && operator !== 'or') return { [operator]: operands }
  return {
    [operator]: operands
      .map((each) => ({ each, key: random.next() }))
      .sort((left, right) => left.key - right.key)
      .map(({ each }) => each),
  }
}

export interface Declared {
  readonly schema: { [keyword: string]: Json }
  /** A value that satisfies the schema. */
  sample(): Json
}

/** An object with the names that conditions read, each of any type, of several, listed, or not declared at all. */
export function anyDeclared(random: Random, declared = 0.85): Declared {
  const members = ['a', 'b', 'c']
    .filter(() => random.chance(declared))
    .map((name) => ({ name, made: declaredValue(random, 0), required: random.chance(0.6) }))
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(members.map(({ name, made }) => [name, made.schema])),
      required: members.filter((member) => member.required).map(({ name }) => name),
      ...(random.chance(0.4) && { additionalProperties: false }),
    },
    sample: () =>
      Object.fromEntries(
        members
          .filter((member) => member.required || random.chance(0.6))
          .map(({ name, made }) => [name, made.sample()]),
      ),
  }
}

const kinds = [
  'any',
  'number',
  'text',
  'boolean',
  'null',
  'types',
  'enum',
  'const',
  'list',
  'object',
  'either',
]

function declaredValue(random: Random, depth: number): Declared {
  const kind = random.pick(depth > 1 ? kinds.slice(0, 8) : kinds)
  switch (kind) {
    case 'any':
      return { schema: {}, sample: () => anyValue(random, 1) }
    case 'number': {
      const [low, high] = [random.int(-2, 1), random.int(1, 3)]
      const sample = () => random.pick([low, high, (low + high) / 2])
      return { schema: { type: 'number', minimum: low, maximum: high }, sample }
    }
    case 'text':
      return { schema: { type: 'string' }, sample: () => random.pick(['', 'x', '0.5', 'tea']) }
    case 'boolean':
      return { schema: { type: 'boolean' }, sample: () => random.chance(0.5) }
    case 'null':
      return { schema: { type: 'null' }, sample: () => null }
    case 'types': {
      const sample = () => random.pick<Json>([null, 'x', 0, 0.5, 2])
      return { schema: { type: ['number', 'string', 'null'] }, sample }
    }
    case 'enum': {
      const some = scalars.filter(() => random.chance(0.3))
      const values = some.length === 0 ? ['x'] : [...some]
      return { schema: { enum: values }, sample: () => random.pick(values) }
    }
    case 'const': {
      const value = anyValue(random, 1)
      return { schema: { const: value }, sample: () => value }
    }
    case 'list': {
      const item = declaredValue(random, depth + 1)
      const min = random.int(0, 2)
      return {
        schema: { type: 'array', items: item.schema, minItems: min, maxItems: min + 2 },
        sample: () => Array.from({ length: random.int(min, min + 2) }, () => item.sample()),
      }
    }
    case 'object':
      return nested(random, depth)
    default: {
      const branches = [declaredValue(random, depth + 1), declaredValue(random, depth + 1)]
      return {
        schema: { anyOf: branches.map(({ schema }) => schema) },
        sample: () => random.pick(branches).sample(),
      }
    }
  }
}

function nested(random: Random, depth: number): Declared {
  const inner = declaredValue(random, depth + 1)
  const required = random.chance(0.5)
  return {
    schema: { type: 'object', properties: { b: inner.schema }, ...(required && { required: ['b'] }) },
    sample: () => (required || random.chance(0.5) ? { b: inner.sample() } : {}),
  }
}
