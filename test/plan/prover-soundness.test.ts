/** What the prover calls true or false is so for every value: random schemas, conditions, and values that satisfy them. */
import { expect, it } from 'vitest'
import { Random, randomCondition, randomObject } from '../random.ts'
import {
  assumeAll,
  compileSchema,
  createWorld,
  decide,
  evaluate,
  getValueLookup,
  isVacant,
  parseCondition,
} from '../seams/schema.ts'

const long = process.env['PROVISO_LONG'] === '1'
const pairs = long ? 120_000 : 4_000
const samples = 60

it(`decides ${pairs} conditions without a single wrong verdict`, () => {
  const counts = { true: 0, false: 0, depends: 0, impossible: 0 }
  let open = 0
  for (let seed = 1; seed <= pairs; seed++) {
    const random = new Random(seed)
    const made = randomObject(random)
    const json = randomCondition(random, made)
    const parsed = parseCondition(json)
    if (!parsed.ok) throw new Error(`seed ${seed}: ${JSON.stringify(json)} was refused`)
    const verdict = decide(parsed.condition, createWorld(getValueLookup(made.schema)))
    counts[verdict] += 1
    const seen = new Set<string>()
    for (let i = 0; i < samples; i++) {
      const value = made.sample()
      const { kind } = evaluate(parsed.condition, value)
      seen.add(kind)
      const right = verdict === 'depends' || verdict === kind
      if (!right) {
        const about = JSON.stringify({ seed, schema: made.schema, json, value, verdict, kind }, null, 1)
        expect.fail(`unsound: ${about}`)
      }
      if (i === 0 && seed % 20 === 0)
        expect(compileSchema(made.schema).accepts(value), `seed ${seed}`).toBe(true)
    }
    if (verdict === 'depends' && seen.size === 1) open += 1
  }
  const decided = (counts.true + counts.false) / pairs
  const couldBe = decided + open / pairs
  console.log(
    `prover: ${pairs} pairs × ${samples} values, 0 unsound, ${(100 * decided).toFixed(1)} % decided` +
      ` (at most ${(100 * couldBe).toFixed(1)} % could be), ${JSON.stringify(counts)}`,
  )
  expect(counts.impossible).toBe(0)
  expect(decided).toBeGreaterThanOrEqual(0.4)
}, 600_000)

it('never takes conditions for contradictory that a value satisfies together', () => {
  let contradictory = 0
  for (let seed = 1; seed <= pairs / 4; seed++) {
    const random = new Random(seed + 1e6)
    const made = randomObject(random)
    const conditions = Array.from({ length: 3 }, () => parseCondition(randomCondition(random, made))).flatMap(
      (parsed) => (parsed.ok ? [parsed.condition] : []),
    )
    if (assumeAll(conditions, createWorld(getValueLookup(made.schema))).length > 0) continue
    contradictory += 1
    for (let i = 0; i < samples; i++) {
      const value = made.sample()
      const all = conditions.every((condition) => evaluate(condition, value).kind === 'true')
      if (all)
        expect.fail(`unsound: ${JSON.stringify({ seed, schema: made.schema, value, conditions }, null, 1)}`)
    }
  }
  expect(contradictory).toBeGreaterThan(0)
}, 600_000)

it(`finds no value for a schema with unions only where there is none, ${pairs} times`, () => {
  let vacant = 0
  for (let seed = 1; seed <= pairs; seed++) {
    const random = new Random(seed)
    const [one, two, wanted] = [randomObject(random), randomObject(random), randomObject(random)]
    // They refer to definitions at the root.
    const $defs = Object.assign({}, ...[one, two, wanted].map(({ schema }) => schema['$defs'] ?? {}))
    const items = { allOf: [{ anyOf: [one.schema, two.schema] }, wanted.schema] }
    const schema = { type: 'array', minItems: 1, items, $defs }
    if (!isVacant(schema)) continue
    vacant++
    const compiled = compileSchema(schema)
    for (const made of [one, two, wanted])
      for (let i = 0; i < samples / 4; i++) {
        const value = [made.sample()]
        if (compiled.accepts(value)) expect.fail(`unsound: ${JSON.stringify({ seed, schema, value })}`)
      }
  }
  expect(vacant).toBeGreaterThan(pairs / 100)
})
