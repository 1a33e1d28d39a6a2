/**
 * Keywords at the root of a node's input schema speak about the input as a whole, which is assembled from several sources.
 * They are proved, refuted before anything runs, or reported as checked at run time only; never overlooked.
 */

import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import { compileSchema } from '../../../src/schema/compile/compile.ts'
import type { JsonSchema } from '../../../src/schema/json-schema.ts'
import { local, open, envelope as started } from '../../journeys/support.ts'
import { capability, envelope, listCodes, object, proveWith } from '../../plan/support.ts'
import { Random, randomSchema, type Schema } from '../../random.ts'

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0, maximum: 9 }
const maybe = { type: 'object', properties: { b: count } } as unknown as Schema
const certain = object({ b: count }) as Schema
const base = { type: 'object', properties: { a: text, b: count }, required: ['a'] }
const caller = object({ c: text })

/** `a` is always there, `b` as the second node declares it; the third reads both under these keywords. */
function prove(keywords: { [keyword: string]: Json }, second: Schema = maybe) {
  return proveWith(envelope(caller), [
    capability('first', { out: object({ a: text }) }),
    capability('second', { out: second }),
    capability('reader', { in: { ...base, ...keywords }, out: caller }),
  ])
}

type Case = [keyword: string, schema: { [keyword: string]: Json }, second?: Schema]

describe('a keyword that every assembled input satisfies', () => {
  const cases: Case[] = [
    ['maxProperties', { maxProperties: 2 }],
    ['minProperties', { minProperties: 2 }, certain],
    ['additionalProperties', { additionalProperties: false }],
    ['dependentRequired', { dependentRequired: { b: ['a'] } }],
    ['not', { not: { required: ['c'] } }],
    ['anyOf', { anyOf: [{ required: ['b'] }, { required: ['a'] }] }],
    ['$ref', { $ref: '#/$defs/pair', $defs: { pair: { maxProperties: 2 } } }],
  ]
  it.each(cases)('%s is proved: accepted without findings', (_, keywords, second) => {
    expect(prove(keywords, second).bundle).toMatchObject({ status: 'accepted', failures: [], infos: [] })
  })
})

describe('a keyword that no assembled input can satisfy', () => {
  const cases: Case[] = [
    ['maxProperties', { maxProperties: 1 }, certain],
    ['minProperties', { minProperties: 3 }],
    ['dependentRequired', { dependentRequired: { a: ['z'] } }],
    ['not', { not: { required: ['a'] } }],
    ['anyOf', { anyOf: [{ required: ['y'] }, { required: ['z'] }] }],
  ]
  it.each(cases)('%s rejects the draft and says where', (keyword, keywords, second) => {
    expect(prove(keywords, second).bundle).toMatchObject({
      status: 'rejected',
      failures: [
        {
          cause: 'schema_incompatible',
          nodeId: 'reader',
          constraint: `the input of "reader" as a whole satisfies "${keyword}" of its schema`,
          suggestion: expect.stringContaining(`the input schema at /${keyword}`),
          details: { code: 'plan/input-mismatch', keyword, schemaPointer: `/${keyword}` },
        },
      ],
    })
  })
})

describe('a keyword that depends on what is supplied', () => {
  const cases: Case[] = [
    ['maxProperties', { maxProperties: 1 }],
    ['minProperties', { minProperties: 2 }],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }],
    ['not', { not: { required: ['b'] } }],
    ['anyOf', { anyOf: [{ required: ['b'] }, { properties: { a: { const: 'x' } } }] }],
  ]
  it.each(cases)('%s is a finding: checked at run time only', (keyword, keywords, second) => {
    expect(prove(keywords, second).bundle).toMatchObject({
      status: 'accepted_with_findings',
      infos: [
        {
          nodeId: 'reader',
          details: { code: 'plan/input-unproven', keyword },
          suggestion: expect.stringContaining('before the node starts'),
        },
      ],
    })
  })
})

it('is judged by the schema of the one node that the input comes from', () => {
  const either = {
    type: 'object',
    properties: { a: text, b: count },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  }
  const from = (out: JsonSchema) =>
    proveWith(envelope(caller), [
      capability('writer', { out: out }),
      capability('reader', { in: either, out: caller }),
    ])
  expect(from(either).bundle.status).toBe('accepted')
  expect(listCodes(from({ type: 'object', properties: { a: text, b: count } }))).toEqual([
    'plan/input-unproven',
  ])
})

it('rejects over the whole app what would have stopped the node in every run', async () => {
  const reader = (keywords: object) =>
    local('reader', () => ({ text: 'read' }), { inputContract: { ...base, ...keywords } })
  const run = async (keywords: object) => {
    const app = await open({
      capabilities: [
        local('first', () => ({ a: 'x' }), { outputContract: object({ a: text }) }),
        local('second', () => ({ b: 1 }), { outputContract: maybe }),
        reader(keywords),
      ],
    })
    const nodes = ['first', 'second', 'reader'].map((id) => ({ id, capabilityId: id }))
    return app.run(started(), { draft: { nodes } })
  }
  expect(await run({ minProperties: 3 })).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  expect(await run({ maxProperties: 2 })).toMatchObject({ status: 'completed', output: { text: 'read' } })
  expect(await run({ maxProperties: 1 })).toMatchObject({ status: 'failed', failure: 'node/input-invalid' })
})

it('counts only runs that start the node: what an untaken branch supplies is not there', async () => {
  const route = { routes: [{ condition: { '==': [{ var: 'a' }, 'x'] }, to: 'left' }], elseTo: 'right' }
  const side = (name: string) =>
    local(name, () => ({ [name]: 1 }), { outputContract: object({ [name]: count }) })
  const app = await open({
    capabilities: [
      local('first', () => ({ a: 'x' }), { outputContract: object({ a: text }) }),
      side('left'),
      side('right'),
      local('reader', ({ left, right }) => ({ text: `${left ?? ''}${right ?? ''}` }), {
        inputContract: {
          type: 'object',
          properties: { left: count, right: count },
          oneOf: [{ required: ['left'] }, { required: ['right'] }],
        },
      }),
    ],
  })
  const done = await app.run(started(), {
    draft: {
      nodes: [
        { id: 'first', capabilityId: 'first' },
        { id: 'gate', inputs: { a: { node: 'first', pointer: '/a' } }, routing: route },
        { id: 'left', capabilityId: 'left' },
        { id: 'right', capabilityId: 'right' },
        {
          id: 'reader',
          capabilityId: 'reader',
          inputs: { left: { node: 'left', pointer: '/left' }, right: { node: 'right', pointer: '/right' } },
        },
      ],
      edges: [
        { from: 'left', to: 'reader' },
        { from: 'right', to: 'reader' },
      ],
      output: { node: 'reader' },
    },
  })
  expect(done).toMatchObject({ status: 'completed', output: { text: '1' } })
  expect((await app.state(done.runId)).plan?.diagnostics.status).toBe('accepted')
})

const rounds = process.env['PROVISO_LONG'] === '1' ? 8_000 : 200

it(`never accepts without a finding what a sampled input breaks, and never rejects what one satisfies (${rounds} contracts)`, () => {
  const counts = { accepted: 0, accepted_with_findings: 0, rejected: 0 }
  const names = ['a', 'b', 'd']
  for (let seed = 1; seed <= rounds; seed++) {
    const random = new Random(seed + 5e6)
    const parts = names.slice(0, random.int(1, 3)).map((name) => ({
      name,
      made: randomSchema(random, 1),
      required: random.chance(0.6),
    }))
    const some = () => names.filter(() => random.chance(0.4))
    const keywords = random.pick<Schema>([
      { maxProperties: random.int(0, 3) },
      { minProperties: random.int(0, 3) },
      { dependentRequired: { [random.pick(names)]: some() } },
      { not: { required: some() } },
      { anyOf: [{ required: some() }, { maxProperties: random.int(0, 2) }] },
      { oneOf: [{ required: some() }, { required: some() }] },
    ])
    const $defs = {
      unit: { type: 'number', minimum: 0, maximum: 1 },
      count: { type: 'integer', minimum: 1 },
    }
    const properties = Object.fromEntries(parts.map(({ name, made }) => [name, made.schema]))
    const input = { type: 'object', properties, ...keywords, $defs } as Schema
    const makers = parts.map(({ name, made, required }) =>
      capability(`make-${name}`, {
        out: {
          type: 'object',
          properties: { [name]: made.schema },
          ...(required && { required: [name] }),
          $defs,
        },
      }),
    )
    const proof = proveWith(envelope(caller), [...makers, capability('reader', { in: input, out: caller })])
    counts[proof.bundle.status] += 1
    const asWhole = proof.all.every(({ constraint }) => constraint?.includes('as a whole'))
    if (proof.bundle.status === 'accepted_with_findings' || !asWhole) continue
    const compiled = compileSchema(input)
    for (let i = 0; i < 20; i++) {
      const given = Object.fromEntries(
        parts
          .filter(({ required }) => required || random.chance(0.5))
          .map(({ name, made }) => [name, made.sample()]),
      )
      if (compiled.accepts(given) !== (proof.bundle.status === 'accepted'))
        expect.fail(JSON.stringify({ seed, input, given, bundle: proof.bundle }, null, 1))
    }
  }
  for (const each of Object.values(counts)) expect(each).toBeGreaterThan(rounds / 20)
}, 600_000)
