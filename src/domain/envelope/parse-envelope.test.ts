/** Envelopes: the samples of the specification as they are, defaults filled, every mistake located. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEnvelope } from './parse-envelope.ts'

const schema = { type: 'object', properties: { a: { type: 'string' } } }
const least = { objective: 'Say a', outputContract: { schema } }

function sample(name: string): Record<string, unknown> {
  return JSON.parse(
    readFileSync(new URL(`../../../examples/envelopes/${name}.json`, import.meta.url), 'utf8'),
  )
}

function accepted(given: unknown) {
  const parsed = parseEnvelope(given)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return { envelope: parsed.value, warnings: parsed.warnings.map(({ at }) => 'pointer' in at && at.pointer) }
}

function refused(given: unknown) {
  const parsed = parseEnvelope(given)
  if (parsed.ok) throw new Error('was accepted')
  return parsed.issues.map(({ at, code, hint }) => ({ at: 'pointer' in at && at.pointer, code, hint }))
}

describe('an envelope', () => {
  it('reports once that the schema belongs into the contract, where it replaces the contract', () => {
    expect(refused({ objective: 'Say a', outputContract: schema })).toEqual([
      { at: '/outputContract/schema', code: 'schema/required', hint: 'Write { "schema": … } around it' },
    ])
  })

  it('needs an objective and a contract; the rest is filled', () => {
    expect(accepted(least)).toEqual({
      envelope: {
        objective: 'Say a',
        inputs: {},
        constraints: {},
        outputContract: { schema, constraints: [] },
        policies: { planner: {}, runtime: [] },
        specialInstructions: [],
        metadata: {},
      },
      warnings: [],
    })
  })

  it('is read from the first sample of the specification as it is', () => {
    const given = sample('linkedin-variants')
    expect(accepted(given)).toEqual({
      envelope: {
        objective: given['objective'],
        inputs: { ...(given['inputs'] as object), toneOfVoice: 'inspiring' },
        constraints: {},
        outputContract: { ...(given['outputContract'] as object), constraints: [] },
        policies: { planner: {}, runtime: [] },
        specialInstructions: given['specialInstructions'],
        metadata: {},
      },
      warnings: ['/policies/brandVoice', '/policies/requiresHitlApproval'],
    })
  })

  it('is read from the second sample of the specification as it is', () => {
    const given = sample('compliance-launch')
    const { envelope, warnings } = accepted(given)
    expect(envelope.inputs).toEqual({
      ...(given['inputs'] as object),
      audienceProfile: { persona: 'marketer' },
    })
    expect(envelope.policies).toEqual({
      planner: { topology: { variantCount: 2 }, directives: { hitlRequiredFor: ['final_publish'] } },
      runtime: [],
    })
    expect(warnings).toEqual(['/policies/persona', '/policies/variantCount', '/policies/hitlRequiredFor'])
  })

  it('lets inputs count before flat policies, and says so', () => {
    const { envelope, warnings } = accepted({
      ...least,
      inputs: { toneOfVoice: 'calm', audienceProfile: { segments: ['smb'] } },
      policies: { brandVoice: 'loud', persona: 'founder' },
    })
    expect(envelope.inputs).toEqual({
      toneOfVoice: 'calm',
      audienceProfile: { persona: 'founder', segments: ['smb'] },
    })
    expect(warnings).toEqual(['/policies/brandVoice', '/policies/persona', '/inputs/toneOfVoice'])
  })

  it('keeps inputs whose names are odd', () => {
    const given = JSON.parse(
      '{"objective":"x","outputContract":{"schema":true},"inputs":{"__proto__":{"a":1}}}',
    )
    expect(JSON.stringify(accepted(given).envelope.inputs)).toBe('{"__proto__":{"a":1}}')
  })
})

describe('a contract', () => {
  const constrained = (...constraints: unknown[]) => ({ ...least, outputContract: { schema, constraints } })
  const expr = { '>=': [{ var: 'qaFindings.overallScore' }, 0.8] }

  it('keeps constraints with their ids and levels', () => {
    const constraint = { constraintId: 'min_qa', expr, level: 'soft', rationale: 'quality' }
    expect(accepted(constrained(constraint)).envelope.outputContract.constraints).toEqual([constraint])
  })

  it('gives a constraint without an id one that depends on what it says only', () => {
    const id = (given: unknown) =>
      accepted(constrained(given)).envelope.outputContract.constraints[0]?.constraintId
    expect(id({ expr, level: 'hard' })).toMatch(/^constraint_[0-9a-f]{16}$/)
    expect(id({ level: 'hard', expr })).toBe(id({ expr, level: 'hard', rationale: 'x' }))
    expect(id({ expr, level: 'soft' })).not.toBe(id({ expr, level: 'hard' }))
  })

  it('takes a constraint without a level as hard, and says so', () => {
    const { envelope, warnings } = accepted(constrained({ constraintId: 'c', expr }))
    expect(envelope.outputContract.constraints).toEqual([{ constraintId: 'c', expr, level: 'hard' }])
    expect(warnings).toEqual(['/outputContract/constraints/0'])
  })

  it('must have a schema that compiles under the limits of untrusted schemas', () => {
    const bad = { type: 'object', properties: { a: { type: 'strin' } } }
    expect(refused({ ...least, outputContract: { schema: bad } })).toEqual([
      expect.objectContaining({
        at: expect.stringMatching(/^\/outputContract\/schema/),
        code: 'schema/invalid',
      }),
    ])
    const remote = { $ref: 'https://example.com/x.json' }
    expect(refused({ ...least, outputContract: { schema: remote } })).toEqual([
      expect.objectContaining({ at: '/outputContract/schema/$ref', code: 'schema/limit' }),
    ])
  })

  it('refuses the same constraint twice, and invalid conditions', () => {
    const named = { constraintId: 'c', expr, level: 'hard' }
    expect(refused(constrained(named, named))).toEqual([
      expect.objectContaining({ at: '/outputContract/constraints/1', code: 'contract/duplicate' }),
    ])
    expect(refused(constrained({ expr: { a: 1, b: 2 }, level: 'hard' }))).toEqual([
      expect.objectContaining({ at: '/outputContract/constraints/0/expr', code: 'condition/form' }),
    ])
  })
})

describe('goal_condition', () => {
  const goal = {
    facet: 'copyVariants',
    path: '/best',
    condition: { and: [{ '>=': [{ var: 'score' }, 1] }, { some: [{ var: '' }, { var: 'item.ok' }] }] },
  }

  it('becomes a hard constraint on the answer', () => {
    const { constraints } = accepted({ ...least, goal_condition: [goal] }).envelope.outputContract
    expect(constraints).toEqual([
      {
        constraintId: expect.stringMatching(/^constraint_/),
        level: 'hard',
        rationale: 'Goal of copyVariants',
        expr: {
          and: [
            { '>=': [{ var: 'copyVariants.best.score' }, 1] },
            { some: [{ var: 'copyVariants.best' }, { var: 'item.ok' }] },
          ],
        },
      },
    ])
  })

  it('is counted once with the constraint that says the same', () => {
    const { constraints } = accepted({ ...least, goal_condition: [goal, goal] }).envelope.outputContract
    expect(constraints).toHaveLength(1)
  })

  it('is refused as text', () => {
    expect(refused({ ...least, goal_condition: { facet: 'a', condition: { dsl: 'x > 1' } } })).toEqual([
      { at: '/goal_condition/condition', code: 'contract/goal', hint: 'Write the condition as JSON-Logic' },
    ])
  })
})

describe('mistakes', () => {
  it('are all reported at once, each at its location', () => {
    const issues = refused({
      objectve: 'x',
      inputs: [],
      specialInstructions: 'short',
      policies: { runtime: [{ id: 'p', trigger: { kind: 'manual' }, action: { type: 'goto' } }], mood: 1 },
      outputContract: { scheme: {} },
    })
    expect(issues.map(({ at }) => at).sort()).toEqual([
      '/inputs',
      '/objective',
      '/objectve',
      '/outputContract/schema',
      '/outputContract/scheme',
      '/policies/mood',
      '/policies/runtime/0/action',
      '/specialInstructions',
    ])
    expect(issues.find(({ at }) => at === '/objectve')?.hint).toBe('Did you mean "objective"?')
  })

  it('include limits that cannot be read: they must not be no limits', () => {
    const constraints = { maxTokens: '5', threadId: 7, deadlineMs: 0, own: 'x' }
    const locations = refused({ ...least, constraints }).map(({ at }) => at)
    expect(locations.sort()).toEqual([
      '/constraints/deadlineMs',
      '/constraints/maxTokens',
      '/constraints/threadId',
    ])
  })

  it('include an empty objective and a missing contract', () => {
    expect(
      refused({ objective: ' \n' })
        .map(({ at }) => at)
        .sort(),
    ).toEqual(['/objective', '/outputContract'])
  })

  it.each([null, [], 'text', 7, undefined, () => 1])('never throw: %s', (given) => {
    expect(refused(given).length).toBeGreaterThan(0)
  })

  it('never throw on what no JSON can hold', () => {
    const loop: Record<string, unknown> = { ...least }
    loop['inputs'] = { loop }
    expect(refused(loop)).toEqual([expect.objectContaining({ code: 'json/unrepresentable' })])
    expect(refused({ ...least, inputs: { at: new Date(0) } })).toEqual([
      expect.objectContaining({ at: '/inputs/at', hint: 'Pass plain JSON data' }),
    ])
    expect(refused({ ...least, inputs: { big: Number.NaN } })).toEqual([
      expect.objectContaining({ at: '/inputs/big' }),
    ])
  })

  it('never throw on random shapes around valid ones', () => {
    const part = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(schema, least.outputContract, 'x'))
    const envelope = fc.record({
      objective: part,
      outputContract: fc.oneof(part, fc.record({ schema: part, constraints: part })),
      policies: fc.oneof(part, fc.record({ planner: part, runtime: fc.array(part), brandVoice: part })),
      goal_condition: part,
    })
    fc.assert(
      fc.property(envelope, (given) => {
        const parsed = parseEnvelope(given)
        if (!parsed.ok) expect(parsed.issues.length).toBeGreaterThan(0)
      }),
    )
  })
})

it('gives the same envelope when it reads its own result', () => {
  for (const name of ['linkedin-variants', 'compliance-launch']) {
    const { envelope } = accepted(sample(name))
    expect(accepted(envelope)).toEqual({ envelope, warnings: [] })
  }
})
