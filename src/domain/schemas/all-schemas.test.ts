/** The published schemas: they compile, accept the samples, and are closed. */
import { readFileSync } from 'node:fs'
import { parseEnvelope, search, withBuiltins } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import { marketingFacets, marketingRegistrations } from '../../presets/marketing/index.ts'
import { compileSchema, type JsonSchema } from '../../schema/compile/compile.ts'
import * as schemas from './all-schemas.ts'

function sample(name: string): unknown {
  return JSON.parse(
    readFileSync(new URL(`../../../examples/envelopes/${name}.json`, import.meta.url), 'utf8'),
  )
}

/** What search and proof really make of the samples, accepted and rejected: the published schemas keep up with it. */
const proofs = ['linkedin-variants', 'compliance-launch'].flatMap((name) =>
  [[], ['proviso.answer']].map((forbid) => {
    const parsed = parseEnvelope(sample(name))
    if (!parsed.ok) throw new Error(name)
    const { policies, outputContract } = parsed.value
    const expr = { '<=': [{ var: 'copyVariants.length' }, 3] }
    const constraints = [{ constraintId: 'few', expr, level: 'hard' as const }]
    const planner = { ...policies.planner, selection: { forbid } }
    const envelope = {
      ...parsed.value,
      outputContract: { ...outputContract, constraints },
      policies: { ...policies, planner },
    }
    return search({ envelope, facets: marketingFacets, capabilities: withBuiltins([]) }).proof
  }),
)
const plans = proofs.flatMap((proof) => (proof.ok ? [proof.plan] : []))
const bundles = proofs.map((proof) => (proof.ok ? proof.plan.diagnostics : proof.diagnostics))

const samples: readonly [name: string, schema: JsonSchema, samples: readonly unknown[]][] = [
  ['envelope', schemas.envelopeSchema, [sample('linkedin-variants'), sample('compliance-launch')]],
  [
    'contract',
    schemas.contractSchema,
    [{ schema: true, constraints: [{ expr: { var: 'a' }, level: 'soft' }] }],
  ],
  ['draft', schemas.draftSchema, [{ nodes: [{ id: 'a', capabilityId: 'b' }], output: [{ node: 'a' }] }]],
  ['capability', schemas.capabilitySchema, marketingRegistrations],
  ['facet', schemas.facetSchema, marketingFacets],
  [
    'policy',
    schemas.policySchema,
    [
      {},
      {
        persona: 'x',
        runtime: [
          { id: 'p', trigger: { kind: 'manual' }, action: { type: 'hitl', rejectAction: { type: 'fail' } } },
        ],
      },
    ],
  ],
  ['plan', schemas.planSchema, plans],
  ['diagnostic bundle', schemas.diagnosticBundleSchema, bundles],
  [
    'diagnostic',
    schemas.diagnosticSchema,
    bundles.flatMap(({ failures, warnings, infos }) => [...failures, ...warnings, ...infos]),
  ],
  [
    'reply',
    schemas.replySchema,
    [{ requestId: 'r', decision: 'edit', value: null, valueHash: 'h', note: '' }],
  ],
]

describe.each(samples)('the schema of a %s', (_, schema, values) => {
  it('accepts its samples', () => {
    for (const value of values) expect(compileSchema(schema).validate(value)).toEqual([])
  })

  it('is closed', () => {
    for (const value of values) {
      expect(compileSchema(schema).accepts({ ...(value as object), 'not a key': 1 })).toBe(false)
    }
  })

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
  })
})

it('has plans and rejections to check', () => {
  expect(plans).toHaveLength(2)
  expect(bundles.map(({ status }) => status)).toContain('rejected')
})

it('does not accept who replied: that comes from the authorisation', () => {
  const reply = { requestId: 'r', decision: 'approve', valueHash: 'h', by: 'a person' }
  expect(compileSchema(schemas.replySchema).accepts(reply)).toBe(false)
})
