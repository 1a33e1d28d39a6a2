/** The twelve worked examples of the prover's semantics. */
import { describe, expect, it } from 'vitest'
import type { Capability, Json, JsonSchema } from '../../src/index.ts'
import { capability, constraint, envelope, list, number, object, proveWith, verdictOn } from './support.ts'

const two: Json = { '==': [{ var: 'copyVariants.length' }, 2] }
const good: Json = { '>=': [{ var: 'qaFindings.overallScore' }, 0.8] }

const writer = (copyVariants: JsonSchema) => capability('writer', { out: object({ copyVariants }) })
const qa = (overallScore: JsonSchema, more: Partial<Capability> = {}) =>
  capability(
    'qa',
    {
      in: object({ copyVariants: { type: 'array' } }),
      out: object({ qaFindings: object({ overallScore }) }),
    },
    { nodeKind: 'validation', ...more },
  )
const open = (...names: string[]): JsonSchema => object(Object.fromEntries(names.map((name) => [name, true])))
const scored = object({ copyVariants: { type: 'array' }, qaFindings: { type: 'object' } })

describe('1: exactly two variants', () => {
  const hard = [constraint('two', two)]
  it('is satisfied by the schema of the caller', () => {
    const proof = proveWith(envelope(object({ copyVariants: list(2, 2) }), hard), [writer(list(1, 5))])
    expect(verdictOn(proof, 'two')).toBe('satisfied')
    expect(proof.plan?.nodes[0]?.enforces).toEqual(['two'])
  })
  it('has no enforcer when both leave it open', () => {
    const proof = proveWith(envelope(open('copyVariants'), hard), [writer(list(1, 5))])
    expect(verdictOn(proof, 'two')).toBe('missing_enforcer')
    expect(proof.bundle.status).toBe('rejected')
  })
  it('is incompatible with a writer of at least three', () => {
    const proof = proveWith(envelope(open('copyVariants'), hard), [writer(list(3))])
    expect(verdictOn(proof, 'two')).toBe('schema_incompatible')
  })
})

describe('2 and 3: a score of at least 0.8', () => {
  const hard = [constraint('min_qa', good)]
  it('has no producer without a node that scores', () => {
    const proof = proveWith(envelope(object({ copyVariants: { type: 'array' } }), hard), [writer(list(2, 2))])
    expect(verdictOn(proof, 'min_qa')).toBe('missing_producer')
    expect(proof.bundle.failures[0]?.details?.['vars']).toEqual(['qaFindings.overallScore'])
  })
  it('is guarded by a validation node that scores from 0 to 1', () => {
    const proof = proveWith(envelope(scored, hard), [writer(list(2, 2)), qa(number(0, 1))])
    expect(proof.bundle).toMatchObject({ status: 'accepted_with_findings', satisfactionScore: 1 })
    expect(proof.bundle.failures).toMatchObject([
      { constraintId: 'min_qa', status: 'unknown', cause: 'advisory', details: { note: 'runtime guarded' } },
    ])
    expect(proof.plan?.nodes[1]?.guards).toEqual(hard)
  })
  it('is satisfied by a post-condition of the node', () => {
    const post = { postConditions: [{ '>=': [{ var: 'qaFindings.overallScore' }, 0.85] }] }
    const proof = proveWith(envelope(scored, hard), [writer(list(2, 2)), qa(number(0, 1), post)])
    expect(verdictOn(proof, 'min_qa')).toBe('satisfied')
    expect(proof.plan?.nodes[1]?.enforces).toEqual(['min_qa'])
    expect(proof.bundle.status).toBe('accepted')
  })
  it('is satisfied by a minimum and incompatible with a maximum in the schema', () => {
    const satisfied = proveWith(envelope(scored, hard), [writer(list(2, 2)), qa(number(0.8))])
    expect(verdictOn(satisfied, 'min_qa')).toBe('satisfied')
    const low = proveWith(envelope(scored, hard), [writer(list(2, 2)), qa(number(0, 0.7))])
    expect(verdictOn(low, 'min_qa')).toBe('schema_incompatible')
  })
})

it.each([
  [['professional'], 'satisfied'],
  [['friendly', 'inspiring'], 'missing_enforcer'],
  [['inspiring'], 'schema_incompatible'],
])('4: a tone of friendly or professional, given one of %j, is %s', (tones, expected) => {
  const hard = [constraint('tone', { in: [{ var: 'tone' }, ['friendly', 'professional']] })]
  const proof = proveWith(envelope(open('tone'), hard), [
    capability('stylist', { out: object({ tone: { enum: tones } }) }),
  ])
  expect(verdictOn(proof, 'tone')).toBe(expected)
})

const scorer = (score: JsonSchema, more: Record<string, unknown> = {}) =>
  capability('scorer', { out: object({ score }, more) })

it('5: a conjunction of two things that the schemas ensure is satisfied', () => {
  const proof = proveWith(envelope(scored, [constraint('both', { and: [two, good] })]), [
    writer(list(2, 2)),
    qa(number(0.8, 1)),
  ])
  expect(verdictOn(proof, 'both')).toBe('satisfied')
})

it('6: a disjunction neither side of which must hold is satisfied if they cover everything', () => {
  const either = { or: [{ '>=': [{ var: 'score' }, 0.9] }, { '<': [{ var: 'score' }, 0.95] }] }
  const proof = proveWith(envelope(open('score'), [constraint('either', either)]), [scorer(number(0, 1))])
  expect(verdictOn(proof, 'either')).toBe('satisfied')
  expect(proof.bundle.status).toBe('accepted')
})

describe('7: not less than 0.6', () => {
  const hard = [constraint('floor', { '!': { '<': [{ var: 'score' }, 0.6] } })]
  it('is satisfied by a score from 0.6', () => {
    const proof = proveWith(envelope(open('score'), hard), [scorer(number(0.6, 1))])
    expect(proof.bundle).toMatchObject({ status: 'accepted', satisfactionScore: 1 })
  })
  it('is satisfied vacuously when the score is optional, and says so', () => {
    const proof = proveWith(envelope({ type: 'object', properties: { score: true } }, hard), [
      scorer(number(0.6, 1), { required: [] }),
    ])
    expect(proof.bundle).toMatchObject({ status: 'accepted_with_findings', satisfactionScore: 1 })
    expect(proof.all).toMatchObject([
      {
        constraintId: 'floor',
        status: 'satisfied',
        cause: 'advisory',
        details: { note: 'vacuous_on_missing' },
      },
    ])
    expect(proof.all[0]?.suggestion).toContain('required')
  })
})

it('8: what is merely allowed has no producer', () => {
  const hard = [constraint('cta', { '==': [{ var: 'cta.present' }, true] })]
  const proof = proveWith(envelope({ type: 'object', additionalProperties: true }, hard), [
    capability('writer', { out: object({ text: { type: 'string' } }, { additionalProperties: true }) }),
  ])
  expect(verdictOn(proof, 'cta')).toBe('missing_producer')
})

it('9: constraints that contradict each other are one finding with the smallest set', () => {
  const low = { '<': [{ var: 'qaFindings.overallScore' }, 0.7] }
  const hard = [constraint('hi', good), constraint('lo', low), constraint('two', two)]
  const proof = proveWith(envelope(scored, hard), [writer(list(2, 2)), qa(number(0, 1))])
  expect(proof.bundle.status).toBe('rejected')
  expect(proof.bundle.satisfactionScore).toBeCloseTo(1 / 3)
  const conflicts = proof.all.filter(({ cause }) => cause === 'schema_incompatible')
  expect(conflicts).toMatchObject([{ constraintId: 'hi,lo', details: { conflict: ['hi', 'lo'] } }])
  for (const id of ['hi', 'lo']) expect(verdictOn(proof, id)).toBe('advisory')
})

describe('10: a policy of three variants', () => {
  const policies = { planner: { topology: { variantCount: 3 } }, runtime: [] }
  it('is incompatible with at most two', () => {
    const proof = proveWith(envelope(object({ copyVariants: list(undefined, 2) }), [], { policies }), [
      writer(list(1, 2)),
    ])
    expect(proof.bundle).toMatchObject({
      status: 'rejected',
      satisfactionScore: 1,
      failures: [{ severity: 'hard', cause: 'schema_incompatible', constraint: 'copyVariants.length == 3' }],
    })
  })
  it('is accepted with at least two', () => {
    const proof = proveWith(envelope(object({ copyVariants: list(2) }), [], { policies }), [writer(list(2))])
    expect(proof.bundle.status).toBe('accepted')
  })
})

it('11: a soft failure lowers the score, an informational one does not', () => {
  const proof = proveWith(
    envelope(object({ copyVariants: { type: 'array' }, qaFindings: { type: 'object' } }), [
      constraint('exact_two', two, 'soft'),
      constraint('min_qa', good),
      constraint('tone_hint', { '==': [{ var: 'toneOfVoice' }, 'professional'] }, 'informational'),
    ]),
    [writer(list(1, 5)), qa(number(0.8, 1))],
  )
  expect(proof.bundle.status).toBe('accepted_with_findings')
  expect(proof.bundle.satisfactionScore).toBeCloseTo(0.667, 3)
  expect(proof.bundle.failures).toEqual([])
  expect(proof.bundle.warnings).toMatchObject([{ constraintId: 'exact_two', cause: 'unsatisfied_soft' }])
  expect(proof.bundle.infos).toMatchObject([
    { constraintId: 'tone_hint', status: 'unknown', cause: 'advisory' },
  ])
})

describe('12: quantifiers and whole numbers', () => {
  const everyScore = constraint('every', {
    all: [{ var: 'copyVariants' }, { '>=': [{ var: 'item.score' }, 0] }],
  })
  const item = object({ score: number(0) })
  it('holds of every element of a list that is not empty', () => {
    const proof = proveWith(envelope(open('copyVariants'), [everyScore]), [writer(list(1, undefined, item))])
    expect(verdictOn(proof, 'every')).toBe('satisfied')
  })
  it('has no enforcer when the list may be empty', () => {
    const proof = proveWith(envelope(open('copyVariants'), [everyScore]), [
      writer(list(undefined, undefined, item)),
    ])
    expect(verdictOn(proof, 'every')).toBe('missing_enforcer')
  })
  it.each<[Json, JsonSchema, string]>([
    [{ '==': [{ var: 'k' }, 2.5] }, { type: 'integer' }, 'schema_incompatible'],
    [
      { and: [{ '>': [{ var: 'k' }, 2] }, { '<': [{ var: 'k' }, 3] }] },
      { type: 'integer' },
      'schema_incompatible',
    ],
    [{ between: [{ var: 'k' }, 0.6, 0.8] }, number(0.6, 0.8), 'satisfied'],
  ])('%j on %j is %s', (expr, k, expected) => {
    const proof = proveWith(envelope(open('k'), [constraint('k', expr)]), [
      capability('counter', { out: object({ k }) }),
    ])
    expect(verdictOn(proof, 'k')).toBe(expected)
  })
})
