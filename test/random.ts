/** Random schemas with values that satisfy them, and random conditions over both: what the prover is tested on. */
import type { Json } from '../src/index.ts'

export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(p: number): boolean {
    return this.next() < p
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T
  }
}

export type Schema = { [keyword: string]: Json }

export interface Generated {
  readonly schema: Schema
  /** A value that satisfies the schema. */
  sample(): Json
  /** Paths that conditions may read, `item` paths of lists apart. */
  readonly paths: readonly string[]
  readonly lists: readonly { readonly path: string; readonly items: readonly string[] }[]
}

const leaf = (schema: Schema, sample: () => Json): Generated => ({ schema, sample, paths: [''], lists: [] })

const shared: Schema = {
  unit: { type: 'number', minimum: 0, maximum: 1 },
  count: { type: 'integer', minimum: 1 },
}

/** A flat or nested object of numbers, enums, texts, booleans, lists and unions. */
export function randomObject(random: Random, depth = 0): Generated {
  const names = ['a', 'b', 'c', 'd', 'e'].slice(0, random.int(1, depth === 0 ? 5 : 2))
  const members = names.map((name) => ({
    name,
    made: randomSchema(random, depth + 1),
    required: random.chance(0.7),
  }))
  const schema: Schema = {
    type: 'object',
    properties: Object.fromEntries(members.map(({ name, made }) => [name, made.schema])),
    required: members.filter((member) => member.required).map(({ name }) => name),
    ...(random.chance(0.3) && { additionalProperties: false }),
    ...(depth === 0 && { $defs: shared }),
  }
  return {
    schema,
    sample: () =>
      Object.fromEntries(
        members
          .filter((member) => member.required || random.chance(0.6))
          .map(({ name, made }) => [name, made.sample()]),
      ),
    paths: members.flatMap(({ name, made }) =>
      made.paths.map((path) => (path === '' ? name : `${name}.${path}`)),
    ),
    lists: members.flatMap(({ name, made }) =>
      made.lists.map((list) => ({ ...list, path: list.path === '' ? name : `${name}.${list.path}` })),
    ),
  }
}

export function randomSchema(random: Random, depth: number): Generated {
  const kinds = ['number', 'integer', 'enum', 'string', 'boolean', 'array', 'union', 'all', 'ref', 'const']
  if (depth < 2) kinds.push('object')
  switch (random.pick(kinds)) {
    case 'number':
      return randomNumber(random, false)
    case 'integer':
      return randomNumber(random, true)
    case 'enum': {
      const values = [0, 1, 2, 'x', 'y', 'z', true, false, null].filter(() => random.chance(0.4))
      const some = values.length === 0 ? ['x'] : values
      return leaf({ enum: some }, () => random.pick(some))
    }
    case 'const': {
      const value = random.pick<Json>([1, 'x', null, [1, 2], { a: 1 }])
      return leaf({ const: value }, () => value)
    }
    case 'string':
      return leaf({ type: 'string' }, () => random.pick(['x', 'y', 'z', 'other']))
    case 'boolean':
      return leaf({ type: 'boolean' }, () => random.chance(0.5))
    case 'array':
      return randomList(random, depth)
    case 'object':
      return randomObject(random, depth)
    case 'all': {
      const made = randomSchema(random, 2)
      return { ...made, schema: { allOf: [made.schema, {}] } }
    }
    case 'ref':
      return random.chance(0.5)
        ? leaf({ $ref: '#/$defs/unit' }, () => random.pick([0, 0.25, 0.5, 1]))
        : leaf({ $ref: '#/$defs/count', maximum: 3 }, () => random.int(1, 3))
    default: {
      const branches = [randomSchema(random, 2), randomSchema(random, 2)]
      return {
        schema: { anyOf: branches.map((branch) => branch.schema) },
        sample: () => random.pick(branches).sample(),
        paths: branches.flatMap((branch) => branch.paths),
        lists: branches.flatMap((branch) => branch.lists),
      }
    }
  }
}

function randomNumber(random: Random, whole: boolean): Generated {
  const min = random.chance(0.8) ? random.int(-3, 3) / (whole ? 1 : 2) : undefined
  const max = random.chance(0.8) ? (min ?? 0) + random.int(1, 4) : undefined
  const openMin = !whole && min !== undefined && random.chance(0.3)
  const openMax = !whole && max !== undefined && random.chance(0.3)
  const schema: Schema = {
    type: whole ? 'integer' : 'number',
    ...(min !== undefined && { [openMin ? 'exclusiveMinimum' : 'minimum']: min }),
    ...(max !== undefined && { [openMax ? 'exclusiveMaximum' : 'maximum']: max }),
  }
  const [low, high] = [min ?? (max ?? 0) - 5, max ?? (min ?? 0) + 5]
  return leaf(schema, () => {
    const at = random.next()
    if (at < 0.2 && !openMin) return low
    if (at > 0.8 && !openMax) return high
    if (whole) return random.int(low, high)
    return low + (high - low) * random.pick([0.1, 0.25, 0.5, 0.75, 0.9])
  })
}

function randomList(random: Random, depth: number): Generated {
  const item = random.chance(0.5)
    ? randomNumber(random, random.chance(0.5))
    : randomSchema(random, Math.max(depth, 1))
  const min = random.int(0, 2)
  const max = random.chance(0.6) ? min + random.int(0, 2) : undefined
  const schema: Schema = {
    type: 'array',
    items: item.schema,
    ...(min > 0 && { minItems: min }),
    ...(max !== undefined && { maxItems: max }),
  }
  return {
    schema,
    sample: () => Array.from({ length: random.int(min, max ?? min + 2) }, () => item.sample()),
    paths: ['', 'length', '0'],
    lists: [{ path: '', items: item.paths }],
  }
}

/** A condition over the paths of a schema; now and then over one that is not there. */
export function randomCondition(random: Random, over: Generated, depth = 0): Json {
  const path = () => (random.chance(0.05) ? 'nowhere' : random.pick(over.paths))
  const kind = random.next()
  if (depth < 3 && kind < 0.15) {
    return {
      [random.pick(['and', 'or'])]: Array.from({ length: random.int(1, 3) }, () =>
        randomCondition(random, over, depth + 1),
      ),
    }
  }
  if (depth < 3 && kind < 0.25) return { '!': randomCondition(random, over, depth + 1) }
  if (depth < 3 && kind < 0.4 && over.lists.length > 0) {
    const list = random.pick(over.lists)
    const items = list.items.map((item) => (item === '' ? 'item' : `item.${item}`))
    const inner = {
      ...over,
      paths: [...items, ...items, random.pick(over.paths)],
      lists: over.lists.slice(0, 1),
    }
    return {
      [random.pick(['some', 'all', 'none'])]: [{ var: list.path }, randomCondition(random, inner, depth + 1)],
    }
  }
  if (kind < 0.48) return { missing: [path(), ...(random.chance(0.3) ? [path()] : [])] }
  if (kind < 0.54) return { between: [{ var: path() }, random.int(-4, 2), random.int(-1, 5)] }
  if (kind < 0.62)
    return {
      in: [
        { var: path() },
        random.pick<Json>([
          ['x', 'y'],
          [0, 1, 2],
          [true, null],
          ['x', 'y', 'z', 1],
        ]),
      ],
    }
  if (kind < 0.66) return { var: path() }
  const number = random.pick([-4, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 6])
  if (kind < 0.85) {
    const right = random.chance(0.15) ? { var: path() } : number
    return { [random.pick(['<', '<=', '>', '>='])]: [{ var: path() }, right] }
  }
  const right = random.chance(0.15)
    ? { var: path() }
    : random.pick<Json>([number, 'x', 'z', true, null, [1, 2]])
  return { [random.pick(['==', '!='])]: [{ var: path() }, right] }
}
