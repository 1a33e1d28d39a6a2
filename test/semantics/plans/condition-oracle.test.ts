/** Proof, evaluation and engine agree with an evaluator that was written from the specification alone. */
import { expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import { holds } from '../../../src/engine/decide/checks/conditions.ts'
import { compileSchema } from '../../../src/schema/compile/compile.ts'
import { evaluate, parseCondition } from '../../../src/schema/condition/condition.ts'
import { createWorld } from '../../../src/schema/values/known-values.ts'
import { getValueLookup } from '../../../src/schema/values/schema-values.ts'
import { assumeAll, decide } from '../../../src/schema/values/solve.ts'
import { envelope, local, open } from '../../journeys/support.ts'
import { Random } from '../../random.ts'
import { oracle } from './condition-oracle.ts'
import { anyCondition, anyDeclared, anyObject, anyValue, shuffled } from './random-conditions.ts'

const scale = process.env['PROVISO_LONG'] === '1' ? 12 : 0.4

function parsed(json: Json) {
  const read = parseCondition(json)
  if (!read.ok) throw new Error(`${JSON.stringify(json)}: ${read.issues[0]?.message}`)
  return read.condition
}

const evaluations = 20_000 * scale

it(`evaluates ${evaluations} conditions on any value as the oracle does, in any order of operands`, () => {
  const seen = { true: 0, unlike: 0 }
  for (let seed = 1; seed <= evaluations; seed++) {
    const random = new Random(seed)
    const json = anyCondition(random)
    const value = random.chance(0.9) ? anyObject(random) : anyValue(random)
    const expected = oracle(json, value)
    const about = JSON.stringify({ seed, json, value, expected })
    const result = evaluate(parsed(json), value)
    const found = [
      result.kind,
      holds(json, value) === 'yes' ? 'true' : 'false',
      evaluate(parsed(shuffled(random, json)), value).kind,
      String(oracle(shuffled(random, json), value)),
    ]
    if (found.some((each) => each !== String(expected))) expect.fail(`${about}: ${found.join(' ')}`)
    if (expected) seen.true += 1
    if (result.issue?.code === 'condition/type') seen.unlike += 1
  }
  // A generator that produced only numbers, or only one verdict, would show nothing.
  expect(seen.true).toBeGreaterThan(evaluations / 5)
  expect(seen.true).toBeLessThan((evaluations * 4) / 5)
  expect(seen.unlike).toBeGreaterThan(evaluations / 5)
}, 600_000)

const proofs = 6_000 * scale
const samples = 40

it(`proves ${proofs} conditions over any types without a verdict that a value contradicts`, () => {
  const counts = { true: 0, false: 0, depends: 0, impossible: 0 }
  for (let seed = 1; seed <= proofs; seed++) {
    const random = new Random(seed + 5e6)
    const made = anyDeclared(random)
    const json = anyCondition(random)
    const world = createWorld(getValueLookup(made.schema))
    const verdict = decide(parsed(json), world)
    counts[verdict] += 1
    const other = decide(parsed(shuffled(random, json)), world)
    const about = { seed, schema: made.schema, json }
    for (let i = 0; i < samples; i++) {
      const value = made.sample()
      if (i === 0 && seed % 20 === 0)
        expect(compileSchema(made.schema).accepts(value), JSON.stringify(about)).toBe(true)
      const expected = String(oracle(json, value))
      for (const each of [verdict, other])
        if (each !== 'depends' && each !== expected)
          expect.fail(`unsound: ${JSON.stringify({ ...about, value, each, expected }, null, 1)}`)
    }
  }
  console.log(`conditions over any types: ${JSON.stringify(counts)}`)
  expect(counts.impossible).toBe(0)
  expect(counts.true).toBeGreaterThan(proofs / 10)
  expect(counts.false).toBeGreaterThan(proofs / 10)
}, 600_000)

it('never assumes away a value that satisfies all conditions', () => {
  let contradictory = 0
  for (let seed = 1; seed <= proofs / 2; seed++) {
    const random = new Random(seed + 9e6)
    const made = anyDeclared(random)
    const all = Array.from({ length: random.int(2, 3) }, () => anyCondition(random))
    if (assumeAll(all.map(parsed), createWorld(getValueLookup(made.schema))).length > 0) continue
    contradictory += 1
    for (let i = 0; i < samples; i++) {
      const value = made.sample()
      if (all.every((json) => oracle(json, value)))
        expect.fail(`unsound: ${JSON.stringify({ seed, schema: made.schema, all, value }, null, 1)}`)
    }
  }
  expect(contradictory).toBeGreaterThan(0)
}, 600_000)

const runs = 150 * scale

it(`ends ${runs} runs as the oracle says: what is proved or guarded holds exactly when it is true`, async () => {
  const ends = { completed: 0, unmet: 0, rejected: 0 }
  const made = new Map<number, { readonly value: Json; readonly condition: Json }>()
  const app = await open({
    capabilities: [
      local('write', ({ seed }) => made.get(seed as number)?.value ?? null, { outputContract: {} }),
      local('check', () => ({ text: 'checked' }), { nodeKind: 'validation' }),
    ],
  })
  for (let seed = 1; seed <= runs; seed++) {
    const random = new Random(seed + 7e6)
    const declared = anyDeclared(random, 1)
    const [value, condition] = [declared.sample(), anyCondition(random, { depth: 2, paths: ['a', 'b', 'c'] })]
    made.set(seed, { value, condition })
    const contracts = { output: declared.schema }
    const draft = {
      nodes: [
        { id: 'write', capabilityId: 'write', inputs: { seed: { value: seed } }, contracts },
        { id: 'check', capabilityId: 'check', inputs: { a: { node: 'write' } } },
      ],
      output: { node: 'write' },
    }
    const outputContract = {
      schema: declared.schema,
      constraints: [{ constraintId: 'c', expr: condition, level: 'hard' }],
    }
    const done = await app.run(envelope({ outputContract }), { draft: draft })
    const end =
      done.status === 'completed' ? 'completed' : done.failure === 'plan/rejected' ? 'rejected' : 'unmet'
    ends[end] += 1
    const expected = oracle(condition, value)
    if (end !== 'rejected')
      expect(end, JSON.stringify({ seed, condition, value })).toBe(expected ? 'completed' : 'unmet')
  }
  console.log(`runs under conditions over any types: ${JSON.stringify(ends)}`)
  expect(ends.completed).toBeGreaterThan(runs / 10)
  expect(ends.unmet).toBeGreaterThan(0)
}, 600_000)
