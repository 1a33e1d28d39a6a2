/**
 * Keywords at the root of the caller's schema speak about the answer as a whole, which is assembled from several nodes.
 * They are proved, refuted before anything runs, or reported as checked at run time only; never overlooked.
 */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import { compileSchema } from '../../../src/schema/compile/compile.ts'
import { local, open, envelope as started } from '../../journeys/support.ts'
import { capability, envelope, listCodes, object, proveWith } from '../../plan/support.ts'
import { Random, randomSchema, type Schema } from '../../random.ts'

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0, maximum: 9 }
const maybe = { type: 'object', properties: { b: count } }
const base = { type: 'object', properties: { a: text, b: count }, required: ['a'] }

/** `a` is always there, `b` as the second node declares it. */
const writers = (second: Schema = maybe as unknown as Schema) => [
  capability('first', { out: object({ a: text }) }),
  capability('second', { out: second }),
]
const certain = object({ b: count }) as Schema

function prove(keywords: { [keyword: string]: Json }, second?: Schema) {
  return proveWith(envelope({ ...base, ...keywords }), writers(second))
}

/** `if`, `then` and `else` of a schema. */
const branch = (test: Json, then: Json, otherwise: Json = true): Schema =>
  JSON.parse(JSON.stringify({ if: test, else: otherwise }).replace('{', `{"then":${JSON.stringify(then)},`))

type Case = [keyword: string, schema: { [keyword: string]: Json }, second?: Schema]

describe('a keyword that every assembled answer satisfies', () => {
  const cases: Case[] = [
    ['maxProperties', { maxProperties: 2 }],
    ['minProperties', { minProperties: 2 }, certain],
    ['additionalProperties', { additionalProperties: false }],
    ['unevaluatedProperties', { unevaluatedProperties: false }],
    ['propertyNames', { propertyNames: { pattern: '^[a-z]$' } }],
    ['patternProperties', { patternProperties: { '^b': { type: 'number', maximum: 9 } } }],
    ['dependentRequired', { dependentRequired: { b: ['a'] } }],
    ['dependentSchemas', { dependentSchemas: { b: { required: ['a'] } } }],
    ['not', { not: { required: ['c'] } }],
    ['anyOf', { anyOf: [{ required: ['b'] }, { required: ['a'] }] }],
    ['oneOf', { oneOf: [{ required: ['a', 'b'] }, { required: ['c'] }] }, certain],
    ['allOf', { allOf: [{ maxProperties: 3 }, { not: { required: ['c'] } }] }],
    ['if', branch({ required: ['b'] }, { required: ['a'] })],
    ['$ref', { $ref: '#/$defs/pair', $defs: { pair: { maxProperties: 2 } } }],
  ]
  it.each(cases)('%s is proved: accepted without findings', (_, keywords, second) => {
    const { bundle } = prove(keywords, second)
    expect(bundle).toMatchObject({ status: 'accepted', failures: [], warnings: [], infos: [] })
  })
})

describe('a keyword that no assembled answer can satisfy', () => {
  const cases: Case[] = [
    ['maxProperties', { maxProperties: 1 }, certain],
    ['minProperties', { minProperties: 3 }],
    ['propertyNames', { propertyNames: { minLength: 2 } }],
    ['patternProperties', { patternProperties: { '^a$': false } }],
    ['dependentRequired', { dependentRequired: { a: ['c'] } }],
    ['dependentSchemas', { dependentSchemas: { a: { maxProperties: 0 } } }],
    ['not', { not: { required: ['a'] } }],
    ['anyOf', { anyOf: [{ required: ['c'] }, { maxProperties: 0 }] }],
    ['oneOf', { oneOf: [{ required: ['a'] }, { type: 'object' }] }],
    ['allOf', { allOf: [{ minProperties: 3 }] }],
    ['if', branch({ required: ['a'] }, { required: ['c'] })],
    ['$ref', { $ref: '#/$defs/none', $defs: { none: { maxProperties: 0 } } }],
    ['const', { const: { c: 1 } }],
    ['enum', { enum: [{ b: 1 }, 'x'] }],
  ]
  it.each(cases)('%s rejects the draft and says where', (keyword, keywords, second) => {
    const proof = prove(keywords, second)
    expect(proof.bundle).toMatchObject({
      status: 'rejected',
      failures: [
        {
          cause: 'schema_incompatible',
          constraint: `the answer as a whole satisfies "${keyword}" of the caller's schema`,
          suggestion: expect.stringContaining(`outputContract.schema/${keyword}`),
          details: { code: 'plan/output-mismatch', keyword, schemaPointer: `/${keyword}` },
        },
      ],
    })
  })

  it('includes limits that exclude each other only together', () => {
    const proof = prove({ minProperties: 2, maxProperties: 1 })
    expect(proof.bundle.status).toBe('rejected')
  })
})

describe('a keyword that depends on what is produced', () => {
  const cases: Case[] = [
    ['maxProperties', { maxProperties: 1 }],
    ['minProperties', { minProperties: 2 }],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }],
    ['not', { not: { required: ['b'] } }],
    ['anyOf', { anyOf: [{ required: ['b'] }, { properties: { a: { const: 'x' } } }] }],
    ['patternProperties', { patternProperties: { '^b': { maximum: 3 } } }],
    ['if', branch({ properties: { a: { const: 'x' } } }, { required: ['b'] })],
  ]
  it.each(cases)('%s is a finding: checked at run time only', (keyword, keywords, second) => {
    const proof = prove(keywords, second)
    expect(proof.bundle).toMatchObject({
      status: 'accepted_with_findings',
      infos: [
        {
          details: { code: 'plan/output-unproven', keyword },
          suggestion: expect.stringContaining('run time only'),
        },
      ],
    })
  })
})

it('is judged by the schema of the one node that the answer comes from', () => {
  const either = { anyOf: [{ required: ['a'] }, { required: ['b'] }] }
  const caller = { type: 'object', properties: { a: text, b: count }, ...either }
  const whole = proveWith(envelope(caller), [capability('only', { out: caller })])
  expect(whole.bundle.status).toBe('accepted')
  const loose = proveWith(envelope(caller), [
    capability('only', { out: { type: 'object', properties: { a: text, b: count } } }),
  ])
  expect(listCodes(loose)).toEqual(['plan/output-unproven'])
})

it('rejects over the whole app what would have failed in every run', async () => {
  const app = await open({
    capabilities: [
      local('first', () => ({ a: 'x' }), { outputContract: object({ a: text }) }),
      local('second', () => ({ b: 1 }), { outputContract: object({ b: count }) }),
    ],
  })
  const draft = {
    nodes: [
      { id: 'first', capabilityId: 'first' },
      { id: 'second', capabilityId: 'second' },
    ],
  }
  const run = (keywords: { [keyword: string]: Json }) =>
    app.run(started({ outputContract: { schema: { ...base, ...keywords } } }), { draft })
  const refused = await run({ maxProperties: 1 })
  expect(refused).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  expect(JSON.stringify(refused.error)).toContain('maxProperties')
  expect(await run({ maxProperties: 2 })).toMatchObject({ status: 'completed', output: { a: 'x', b: 1 } })
  const checked = await run(branch({ properties: { a: { const: 'x' } } }, { maxProperties: 1 }))
  expect(checked).toMatchObject({ status: 'failed', failure: 'contract/unmet' })
})

const rounds = process.env['PROVISO_LONG'] === '1' ? 8_000 : 400

it(`never accepts without a finding what a sampled answer breaks, and never rejects what one satisfies (${rounds} contracts)`, () => {
  const counts = { accepted: 0, accepted_with_findings: 0, rejected: 0 }
  for (let seed = 1; seed <= rounds; seed++) {
    const random = new Random(seed + 3e6)
    const parts = ['a', 'b', 'c'].slice(0, random.int(1, 3)).map((name) => ({
      name,
      made: randomSchema(random, 2),
      required: random.chance(0.6),
    }))
    const properties = Object.fromEntries(parts.map(({ name, made }) => [name, made.schema]))
    const caller: Schema = {
      type: 'object',
      properties,
      ...randomKeywords(random),
      $defs: { unit: { type: 'number', minimum: 0, maximum: 1 }, count: { type: 'integer', minimum: 1 } },
    }
    const makers = parts.map(({ name, made, required }) =>
      capability(name, {
        out: {
          type: 'object',
          properties: { [name]: made.schema },
          ...(required && { required: [name] }),
          $defs: caller['$defs'],
        },
      }),
    )
    const proof = proveWith(envelope(caller), makers)
    counts[proof.bundle.status] += 1
    // A property that lacks its producer, or that never fits, rejects for reasons of its own.
    const asWhole = proof.all.every(({ constraint }) => constraint?.startsWith('the answer as a whole'))
    if (proof.bundle.status === 'accepted_with_findings' || !asWhole) continue
    const compiled = compileSchema(caller)
    for (let i = 0; i < 30; i++) {
      const answer = Object.fromEntries(
        parts
          .filter(({ required }) => required || random.chance(0.5))
          .map(({ name, made }) => [name, made.sample()]),
      )
      if (compiled.accepts(answer) !== (proof.bundle.status === 'accepted'))
        expect.fail(JSON.stringify({ seed, caller, answer, bundle: proof.bundle }, null, 1))
    }
  }
  console.log(`root keywords: ${JSON.stringify(counts)}`)
  for (const each of Object.values(counts)) expect(each).toBeGreaterThan(rounds / 20)
}, 600_000)

const names = ['a', 'b', 'c', 'd']

/** One to three keywords that speak about the whole object. */
function randomKeywords(random: Random, depth = 0): Schema {
  const some = () => names.filter(() => random.chance(0.35))
  const inner = () => randomKeywords(random, depth + 1)
  const leaf = (): Json =>
    random.pick<Json>([text, { type: 'number' }, { const: 1 }, { enum: ['x', 1] }, false, true])
  const makers: (() => Schema)[] = [
    () => ({ maxProperties: random.int(0, 3) }),
    () => ({ minProperties: random.int(0, 3) }),
    () => ({ required: depth === 0 ? [] : some() }),
    () => ({ dependentRequired: { [random.pick(names)]: some() } }),
    () => ({
      propertyNames: random.pick<Json>([{ pattern: '^[a-c]$' }, { enum: ['a', 'b'] }, { maxLength: 1 }]),
    }),
    () => ({ patternProperties: { [random.pick(['^a', 'b|c', '.'])]: leaf() } }),
    () => (depth === 0 ? { additionalProperties: random.pick<Json>([false, leaf()]) } : {}),
    () => ({ properties: depth === 0 ? undefined : { [random.pick(names)]: leaf() } }) as Schema,
  ]
  if (depth < 2)
    makers.push(
      () => ({ not: inner() }),
      () => ({ anyOf: [inner(), inner()] }),
      () => ({ oneOf: [inner(), inner()] }),
      () => ({ allOf: [inner()] }),
      () => ({ dependentSchemas: { [random.pick(names)]: inner() } }),
      () => branch(inner(), random.chance(0.8) ? inner() : true, random.chance(0.4) ? inner() : true),
      () => ({ unevaluatedProperties: random.pick<Json>([false, leaf()]), allOf: [inner()] }),
    )
  const made: Schema = {}
  for (let i = 0; i < random.int(1, depth === 0 ? 3 : 2); i++) Object.assign(made, random.pick(makers)())
  for (const [keyword, held] of Object.entries(made)) if (held === undefined) delete made[keyword]
  return made
}
