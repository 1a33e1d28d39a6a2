/** Policies: today's form as it is, older forms with a warning, gone forms with a hint, nothing dropped in silence. */
import { describe, expect, it } from 'vitest'
import { parsePolicies } from './parse-policies.ts'

const manual = { kind: 'manual' }

function accepted(given: unknown) {
  const parsed = parsePolicies(given)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return { ...parsed.value, warnings: parsed.warnings.map(({ code }) => code) }
}

function refused(given: unknown) {
  const parsed = parsePolicies(given)
  if (parsed.ok) throw new Error('was accepted')
  return parsed.issues.map(({ at, hint, message }) => ({ at: 'pointer' in at && at.pointer, hint, message }))
}

function action(type: string, more: object = {}) {
  return { runtime: [{ id: 'p', trigger: manual, action: { type, ...more } }] }
}

describe('policies', () => {
  it('are empty when absent', () => {
    expect(accepted(undefined)).toEqual({ policies: { planner: {}, runtime: [] }, inputs: {}, warnings: [] })
  })

  it('are taken as they are in the final form (FLEX 5.3)', () => {
    const planner = {
      topology: { variantCount: 3 },
      selection: {
        require: ['QualityAssuranceAgent.contentReview'],
        forbid: ['LegacyGeneratorAgent'],
        prefer: ['ContentGeneratorAgent.linkedinVariants'],
      },
      optimisation: { objective: 'quality' },
      directives: { mood: ['calm'] },
    }
    const runtime = [
      {
        id: 'low_quality_replan',
        trigger: {
          kind: 'onNodeComplete',
          selector: { kind: 'validation' },
          condition: { '<': [{ var: 'qaFindings.overallScore' }, 0.6] },
        },
        action: { type: 'replan', rationale: 'Low QA score' },
      },
      {
        id: 'nested',
        enabled: false,
        trigger: { kind: 'onMetricBelow', metric: 'confidence', threshold: 0.5 },
        action: { type: 'hitl', rejectAction: { type: 'hitl', approveAction: { type: 'fail' } } },
        maxAttempts: 2,
      },
      {
        id: 'slow',
        trigger: { kind: 'onTimeout', ms: 5000 },
        action: { type: 'emit', event: 'slow', payload: {} },
      },
      { id: 'start', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'look first' } },
    ]
    expect(accepted({ planner, runtime })).toEqual({
      policies: { planner, runtime: runtime.map((policy) => ({ enabled: true, ...policy })) },
      inputs: {},
      warnings: [],
    })
  })

  it('do not change when the caller changes what was passed', () => {
    const given = { planner: { directives: { a: [1] } } }
    const { policies } = accepted(given)
    given.planner.directives.a.push(2)
    expect(policies.planner.directives).toEqual({ a: [1] })
  })
})

describe('what is gone', () => {
  it.each([
    ['goto', 'Use replan or hitl'],
    ['goto.previous', 'Use replan or hitl'],
    ['hitl_pause', 'Use hitl (hitl_pause → hitl)'],
    ['fail_run', 'Use fail (fail_run → fail)'],
  ])('is refused with a hint: the action %s', (type, hint) => {
    expect(refused(action(type, { next: 'x', maxAttempts: 3, onEmpty: 'skip' }))).toEqual([
      expect.objectContaining({ at: '/runtime/0/action', hint }),
    ])
  })

  it('is found inside the actions after an ask', () => {
    expect(refused(action('hitl', { rejectAction: { type: 'goto', next: 'x' } }))).toEqual([
      expect.objectContaining({ at: '/runtime/0/action/rejectAction', hint: 'Use replan or hitl' }),
    ])
  })

  it.each(['nodeId', 'relation'])('is refused in selectors: %s', (key) => {
    const trigger = { kind: 'onNodeComplete', selector: { [key]: 'publish-1' } }
    expect(refused({ runtime: [{ id: 'p', trigger, action: { type: 'fail' } }] })).toEqual([
      expect.objectContaining({
        at: `/runtime/0/trigger/selector/${key}`,
        hint: 'Select by kind or capabilityId',
      }),
    ])
  })

  it('is distinguished from a misspelt key', () => {
    expect(refused(action('replann'))).toEqual([
      expect.objectContaining({ at: '/runtime/0/action/type', hint: 'Did you mean "replan"?' }),
    ])
    expect(refused({ runtimes: [] })).toEqual([
      expect.objectContaining({ at: '/runtimes', hint: 'Did you mean "runtime"?' }),
    ])
  })
})

describe('the guardrail of FLEX 5.9.5', () => {
  const given = {
    id: 'qa_runtime_guardrail',
    trigger: { kind: 'onNodeComplete', nodeId: 'publish-1' },
    condition: { between: [{ var: 'qaFindings.overallScore' }, 0.6, 0.8] },
    action: { type: 'hitl', rationale: 'Score between 0.6 and 0.8 requires human review' },
  }

  it('is read in its canonical form, with warnings', () => {
    expect(accepted({ runtime: [given] })).toEqual({
      policies: {
        planner: {},
        runtime: [
          {
            id: given.id,
            enabled: true,
            trigger: { kind: 'onNodeComplete', condition: given.condition },
            action: given.action,
          },
        ],
      },
      inputs: {},
      warnings: ['policy/moved', 'policy/node-id'],
    })
  })

  it('has its mistakes located where they were written', () => {
    expect(refused({ runtime: [{ ...given, condition: { a: 1, b: 2 } }] })).toEqual([
      expect.objectContaining({ at: '/runtime/0/condition' }),
    ])
    expect(refused({ runtime: [{ ...given, condition: 7 }] })).toEqual([
      expect.objectContaining({ at: '/runtime/0/condition' }),
    ])
  })
})

describe('flat policies', () => {
  it.each<[given: object, planner: object, inputs: object]>([
    [{ brandVoice: 'inspiring' }, {}, { toneOfVoice: 'inspiring' }],
    [{ brandVoice: ['bold', 'warm'] }, {}, { toneOfVoice: ['bold', 'warm'] }],
    [{ persona: 'marketer' }, {}, { audienceProfile: { persona: 'marketer' } }],
    [{ variantCount: 2 }, { topology: { variantCount: 2 } }, {}],
    [{ requiresHitlApproval: true }, { directives: { askBeforeFinish: true } }, {}],
    [{ requiresHitlApproval: false }, {}, {}],
    [{ hitlRequiredFor: ['final_publish'] }, { directives: { hitlRequiredFor: ['final_publish'] } }, {}],
    [{ branchVariants: 3 }, { directives: { branchVariants: 3 } }, {}],
    [{ branchVariants: ['a', { tone: 'b' }] }, { directives: { branchVariants: ['a', { tone: 'b' }] } }, {}],
  ])('are mapped with a warning: %j', (given, planner, inputs) => {
    expect(accepted(given)).toEqual({ policies: { planner, runtime: [] }, inputs, warnings: ['policy/flat'] })
  })

  it('are kept beside the others', () => {
    const given = {
      planner: { topology: { maxDepth: 3 }, directives: { a: 1 } },
      variantCount: 2,
      requiresHitlApproval: true,
    }
    expect(accepted(given).policies.planner).toEqual({
      topology: { maxDepth: 3, variantCount: 2 },
      directives: { a: 1, askBeforeFinish: true },
    })
  })

  it('may repeat but not contradict them', () => {
    const planner = { topology: { variantCount: 2 } }
    expect(accepted({ planner, variantCount: 2 }).policies.planner).toEqual(planner)
    expect(refused({ planner, variantCount: 3 })).toEqual([
      {
        at: '/variantCount',
        message: '"variantCount" contradicts policies.planner.topology.variantCount',
        hint: 'Keep only policies.planner.topology.variantCount',
      },
    ])
  })

  it.each(['replanAfter', 'brandSafety', '__proto__', 'toString'])(
    'are refused by name when unknown: %s',
    (name) => {
      expect(refused(JSON.parse(`{"${name}": 1}`))).toEqual([
        expect.objectContaining({ at: `/${name}`, message: `policy "${name}" not found` }),
      ])
    },
  )

  it('must have the right type', () => {
    expect(refused({ requiresHitlApproval: 'true' })).toEqual([
      expect.objectContaining({ at: '/requiresHitlApproval', hint: 'Write true or false without quotes' }),
    ])
  })
})

describe('mistakes', () => {
  it('are all reported at once, each at its location', () => {
    const locations = refused({
      planner: { topology: { variantCount: 0 }, optimisation: { objective: 'cheap' } },
      runtime: [
        { id: '', trigger: { kind: 'onTimeout' }, action: { type: 'emit' } },
        { trigger: { kind: 'onStart', ms: 1 }, action: { type: 'fail', mesage: 'x' } },
      ],
    }).map(({ at }) => at)
    expect(locations.sort()).toEqual([
      '/planner/optimisation/objective',
      '/planner/topology/variantCount',
      '/runtime/0/action/event',
      '/runtime/0/id',
      '/runtime/0/trigger/ms',
      '/runtime/1/action/mesage',
      '/runtime/1/id',
      '/runtime/1/trigger/ms',
    ])
  })

  it('include gates that cannot be read: they must not stay open', () => {
    const directives = { askBeforeFinish: 'true', hitlRequiredFor: 'final_publish', own: 'x' }
    expect(refused({ planner: { directives } }).map(({ at }) => at)).toEqual([
      '/planner/directives/askBeforeFinish',
      '/planner/directives/hitlRequiredFor',
    ])
  })

  it('include ids that are used twice', () => {
    const policy = { id: 'p', trigger: manual, action: { type: 'fail' } }
    expect(refused({ runtime: [policy, policy] })).toEqual([expect.objectContaining({ at: '/runtime/1/id' })])
  })

  it('never throw for any value', () => {
    const loop: unknown[] = []
    loop.push(loop)
    for (const given of [null, 7, [], 'x', { runtime: 7 }, { runtime: [null, 7, [], {}] }, loop, () => 1]) {
      expect(parsePolicies(given).ok).toBe(false)
    }
  })
})

it('asks the judge of conditions that it is given', () => {
  const condition = { fly: [1] }
  const policies = {
    runtime: [{ id: 'p', trigger: { kind: 'onNodeComplete', condition }, action: { type: 'fail' } }],
  }
  const parsed = parsePolicies(policies, {
    checkCondition: () => [{ code: 'condition/operator', at: { pointer: '/fly' }, message: 'unknown' }],
  })
  expect(parsed).toMatchObject({ issues: [{ at: { pointer: '/runtime/0/trigger/condition/fly' } }] })
})
