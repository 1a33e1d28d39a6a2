/** Small random schemas and values from a seed, for comparing our answers with those of another validator. */

export type Random = () => number

/** mulberry32: the same numbers for the same seed on every machine. */
export function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const names = ['a', 'b', 'c', 'toString', 'x/y']
const texts = ['', 'a', 'ab', 'abc', '😀', 'é!', '12']
const types = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
const some = <T>(random: Random, list: readonly T[]): T[] => list.filter(() => random() < 0.4)
const below = (random: Random, limit: number) => Math.floor(random() * limit)

export function randomValue(random: Random, depth = 3): unknown {
  const kind = below(random, depth > 0 ? 9 : 6)
  if (kind === 0) return null
  if (kind === 1) return random() < 0.5
  if (kind === 2) return below(random, 6) - 1
  if (kind === 3) return below(random, 12) / 4
  if (kind < 6) return pick(random, texts)
  if (kind === 6) return Array.from({ length: below(random, 4) }, () => randomValue(random, depth - 1))
  return Object.fromEntries(some(random, names).map((name) => [name, randomValue(random, depth - 1)]))
}

type Keyword = (random: Random, inner: () => unknown) => Record<string, unknown>

const map = (random: Random, inner: () => unknown) =>
  Object.fromEntries(some(random, names).map((name) => [name, inner()]))
const list = (random: Random, inner: () => unknown) => Array.from({ length: 1 + below(random, 3) }, inner)

const keywords: readonly Keyword[] = [
  (random) => ({ type: pick(random, types) }),
  (random) => ({ type: pick(random, types) }),
  (random) => ({ type: [...new Set([pick(random, types), pick(random, types)])] }),
  (random) => ({ enum: Array.from({ length: 3 }, () => randomValue(random, 1)) }),
  (random) => ({ const: randomValue(random, 1) }),
  (random) => ({ minimum: below(random, 4), exclusiveMaximum: 3 }),
  (random) => ({ multipleOf: pick(random, [1, 2, 0.5]) }),
  (random) => ({ minLength: below(random, 3), maxLength: 2 }),
  (random) => ({ pattern: pick(random, ['^a', 'b$', '^[a-z]*$', '^.$']) }),
  (random) => ({ required: some(random, names) }),
  (random) => ({ minProperties: below(random, 3), maxProperties: 3 }),
  (random) => ({ minItems: below(random, 3), maxItems: 3 }),
  () => ({ uniqueItems: true }),
  (random, inner) => ({ properties: map(random, inner) }),
  (random, inner) => ({ properties: map(random, inner), additionalProperties: inner() }),
  (_, inner) => ({ patternProperties: { '^[ab]$': inner() } }),
  (_, inner) => ({ propertyNames: inner() }),
  (random) => ({ dependentRequired: { a: some(random, names) } }),
  (_, inner) => ({ dependentSchemas: { b: inner() } }),
  (_, inner) => ({ items: inner() }),
  (random, inner) => ({ prefixItems: list(random, inner), items: inner() }),
  (random, inner) => ({ contains: inner(), minContains: below(random, 3) }),
  (random, inner) => ({ anyOf: list(random, inner) }),
  (random, inner) => ({ oneOf: list(random, inner) }),
  (random, inner) => ({ allOf: list(random, inner) }),
  (_, inner) => ({ not: inner() }),
  (_, inner) => Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, inner()])),
  (random, inner) => ({ anyOf: list(random, inner), unevaluatedProperties: false }),
  (random, inner) => ({ prefixItems: list(random, inner), unevaluatedItems: inner() }),
  (random) => ({ $ref: pick(random, ['#/$defs/a', '#/$defs/b']) }),
]

export function randomSchema(random: Random): Record<string, unknown> {
  const grow = (depth: number): unknown => {
    if (depth === 0) return random() < 0.2 ? random() < 0.7 : { type: pick(random, types) }
    const count = 1 + below(random, 3)
    return Object.assign(
      {},
      ...Array.from({ length: count }, () => pick(random, keywords)(random, () => grow(depth - 1))),
    )
  }
  return { ...(grow(3) as object), $defs: { a: grow(0), b: { properties: { a: { $ref: '#' } } } } }
}
