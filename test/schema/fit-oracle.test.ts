/** `fit` against sampling: what it calls fitting, every sampled value fits; what it refuses, its witness shows. */
import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12'
import { expect, it } from 'vitest'
import type { Json } from '../../src/index.ts'
import { Random, randomSchema, type Schema } from '../random.ts'
import { checkFit, compileSchema } from '../seams/schema.ts'

const long = process.env['PROVISO_LONG'] === '1'
const pairs = long ? 6_000 : 300
const defs = { unit: { type: 'number', minimum: 0, maximum: 1 }, count: { type: 'integer', minimum: 1 } }

it(`agrees with values on ${pairs} pairs of schemas`, () => {
  const counts = { yes: 0, no: 0, unknown: 0 }
  for (let seed = 1; seed <= pairs; seed++) {
    const random = new Random(seed)
    const made = randomSchema(random, random.int(0, 1))
    const from = { ...made.schema, $defs: defs }
    const to = {
      ...mutate(random, random.chance(0.8) ? made.schema : randomSchema(random, 1).schema),
      $defs: defs,
    }
    const result = checkFit(from, to)
    counts[result.kind] += 1
    const about = () => `seed ${seed}: ${JSON.stringify({ from, to, result })}`
    const [source, target] = [compileSchema(from), compileSchema(to)]
    if (result.kind === 'no') {
      expect(source.accepts(result.witness), about()).toBe(true)
      expect(target.accepts(result.witness), about()).toBe(false)
    }
    for (let i = 0; i < 30 && result.kind === 'yes'; i++) {
      const value = made.sample()
      if (!target.accepts(value)) expect.fail(`${about()} but ${JSON.stringify(value)}`)
    }
  }
  console.log(`fit: ${pairs} pairs, ${JSON.stringify(counts)}`)
  expect(counts.yes).toBeGreaterThan(pairs / 20)
  expect(counts.no).toBeGreaterThan(pairs / 20)
  expect(counts.unknown).toBeLessThan(pairs / 5)
}, 600_000)

it('gives witnesses that another validator sees the same way', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new Random(seed + 5e5)
    const from: Schema = { ...randomSchema(random, 1).schema, $defs: defs }
    const to: Schema = { ...randomSchema(random, 1).schema, $defs: defs }
    const result = checkFit(from, to)
    if (result.kind !== 'no') continue
    const judge = async (schema: Schema) => {
      const own = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }
      const id = `https://example.org/fit-${seed}`
      registerSchema(own, id)
      const output = await validate(id, result.witness as never)
      unregisterSchema(id)
      return output.valid
    }
    expect(await judge(from), `seed ${seed}`).toBe(true)
    expect(await judge(to), `seed ${seed}`).toBe(false)
  }
}, 60_000)

/** A schema with one word changed, tightened or loosened, somewhere. */
function mutate(random: Random, schema: Schema): Schema {
  const copy = structuredClone(schema)
  const parents: Schema[] = []
  const queue: Json[] = [copy]
  for (const value of queue) {
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) parents.push(value as Schema)
    for (const [key, held] of Object.entries(value))
      if (key !== 'enum' && key !== 'const') queue.push(held as Json)
  }
  const parent = random.pick(
    parents.filter((each) => Object.keys(each).some((key) => keys.has(key))).concat(copy),
  )
  const changes: (() => void)[] = [
    () => {
      for (const key of [
        'minimum',
        'maximum',
        'minItems',
        'maxItems',
        'exclusiveMinimum',
        'exclusiveMaximum',
      ]) {
        const old = parent[key]
        if (typeof old === 'number')
          parent[key] = Math.max(old + random.int(-1, 1), key.includes('Items') ? 0 : old - 1)
      }
    },
    () => {
      if (parent['type'] === 'integer') parent['type'] = 'number'
      else if (parent['type'] === 'number') parent['type'] = 'integer'
      else if (typeof parent['type'] === 'string') parent['type'] = [parent['type'], 'null']
    },
    () => {
      if (Array.isArray(parent['enum']))
        parent['enum'] =
          parent['enum'].length > 1 && random.chance(0.5)
            ? parent['enum'].slice(1)
            : [...parent['enum'], 'new']
    },
    () => {
      if (Array.isArray(parent['required'])) parent['required'] = parent['required'].slice(1)
      delete parent['additionalProperties']
    },
    () => {
      if (parent['type'] === 'object')
        parent['additionalProperties'] = random.chance(0.5) ? false : { type: 'number' }
    },
    () => {
      parent['anyOf'] = [{ type: 'string' }, { type: ['number', 'array', 'object'] }]
    },
  ]
  random.pick(changes)()
  return copy
}

const keys = new Set(['type', 'enum', 'minimum', 'maximum', 'required', 'items'])
