/** A misspelled limit, policy or gate is an error with a suggestion, over HTTP as in the library. */

import { describe, expect, it } from 'vitest'
import { file } from '../../cli/run-support.ts'
import { envelope, journal, local, open } from '../../journeys/support.ts'
import { serve, start } from '../../server/support.ts'
import { runCommand } from '../../support.ts'
import { wrongly } from '../../wrongly.ts'

function metricPolicy(metric: string) {
  return { id: 'low', trigger: { kind: 'onMetricBelow', metric, threshold: 0.5 }, action: { type: 'fail' } }
}

const cases: readonly (readonly [string, object, string, string])[] = [
  ['a limit', { constraints: { maxToken: 500 } }, '/constraints/maxToken', 'maxTokens'],
  ['a limit without its unit', { constraints: { maxCost: 1 } }, '/constraints/maxCost', 'maxCostUsd'],
  ['a limit in snake case', { constraints: { max_calls: 1 } }, '/constraints/max_calls', 'maxCalls'],
  ['a limit that does not exist', { constraints: { maxMinutes: 1 } }, '/constraints/maxMinutes', 'maxTokens'],
  [
    'a policy',
    { policies: { requireHitlApproval: true } },
    '/policies/requireHitlApproval',
    'requiresHitlApproval',
  ],
  [
    'a planner policy',
    { policies: { planner: { selection: { forbidd: ['x'] } } } },
    '/policies/planner/selection/forbidd',
    'forbid',
  ],
  [
    'a gate in the directives',
    { policies: { planner: { directives: { askBeforeFinsh: true } } } },
    '/policies/planner/directives/askBeforeFinsh',
    'askBeforeFinish',
  ],
  [
    'the approval of side effects',
    { policies: { planner: { directives: { sideEffects: 'alow' } } } },
    '/policies/planner/directives/sideEffects',
    'allow',
  ],
  [
    'a metric of the engine',
    { policies: { runtime: [metricPolicy('confidense')] } },
    '/policies/runtime/0/trigger/metric',
    'confidence',
  ],
]

function policy(more: object) {
  const plain = { id: 'p', trigger: { kind: 'onStart' }, action: { type: 'pause' } }
  return { policies: { runtime: [{ ...plain, ...more }] } }
}
const at = (key: string) => `/policies/runtime/0/${key}`
const action = { type: 'pause' }
const rao = (settings: object) => ({ policies: { runtime: [{ id: 'p', rao: settings }] } })

/** Keys of policies, of RAO contracts and of the contract. */
const keys: readonly (readonly [string, object, string, string])[] = [
  ['triger', { policies: { runtime: [{ id: 'p', triger: {}, action }] } }, at('triger'), 'trigger'],
  ['acton', { policies: { runtime: [{ id: 'p', trigger: {}, acton: {} }] } }, at('acton'), 'action'],
  ['enabld', policy({ enabld: false }), at('enabld'), 'enabled'],
  ['maxAttempt', policy({ maxAttempt: 1 }), at('maxAttempt'), 'maxAttempts'],
  ['trigger.knd', policy({ trigger: { knd: 'onStart' } }), at('trigger/kind'), 'There is "knd"'],
  ['trigger.kind', policy({ trigger: { kind: 'onStrat' } }), at('trigger/kind'), 'onStart'],
  [
    'trigger.treshold',
    { policies: { runtime: [metricPolicy('confidence')].map(misspelt) } },
    at('trigger/treshold'),
    'threshold',
  ],
  [
    'selecter',
    policy({ trigger: { kind: 'onNodeComplete', selecter: {} } }),
    at('trigger/selecter'),
    'selector',
  ],
  ['action.typ', policy({ action: { typ: 'pause' } }), at('action/type'), 'There is "typ"'],
  ['action.type', policy({ action: { type: 'pausee' } }), at('action/type'), 'pause'],
  ['rao.autoAprove', rao({ autoAprove: 0.9 }), at('rao/autoAprove'), 'autoApproveAbove'],
  ['rao.supressBelow', rao({ supressBelow: 0.9 }), at('rao/supressBelow'), 'suppressBelow'],
  ['rao.maxInference', rao({ maxInference: 9 }), at('rao/maxInference'), 'maxInferenceMs'],
  ['runtime.roa', { policies: { runtime: { roa: [] } } }, '/policies/runtime/roa', 'rao'],
  ['planer', { policies: { planer: {} } }, '/policies/planer', 'planner'],
  ['onNodeFial', { policies: { onNodeFial: 'ask' } }, '/policies/onNodeFial', 'onNodeFail'],
  ['policy', { policy: {} }, '/policy', 'policies'],
  ['constraint', { constraint: {} }, '/constraint', 'constraints'],
]

function misspelt({ trigger: { threshold, ...trigger }, ...rest }: ReturnType<typeof metricPolicy>) {
  return { ...rest, trigger: { ...trigger, treshold: threshold } }
}

describe('a misspelled key', () => {
  it.each(keys)(
    'is refused with a suggestion over HTTP and in the library: %s',
    async (_, more, pointer, meant) => {
      const { app, call } = await serve()
      const refused = await call('/api/v1/flex/runs', { body: start({ ...more }) })
      expect(refused.status).toBe(422)
      const { issues } = await refused.json()
      const issue = issues.find((each) => each.pointer === pointer) as { hint?: string } | undefined
      expect(issue?.hint).toContain(meant)
      await expect(app.run(envelope({ ...more }))).rejects.toMatchObject({
        code: 'envelope/invalid',
        issues: expect.arrayContaining([
          expect.objectContaining({ at: { pointer }, hint: expect.stringContaining(meant) }),
        ]),
      })
    },
  )

  it.each(keys)('is refused with a suggestion by the command line: %s', async (_, more, __, meant) => {
    const body = { envelope: { ...envelope(), ...more } }
    const { code, stderr } = await runCommand(['run', file('misspelled.json', body)])
    expect(code).toBe(2)
    expect(stderr).toContain(meant)
  })

  it('at the top of a request is not taken for a part of an envelope', async () => {
    const { call } = await serve()
    for (const route of ['runs', 'run.stream', 'prove']) {
      const refused = await call(`/api/v1/flex/${route}`, { body: { envelop: envelope() } })
      expect(refused.status).toBe(422)
      const { issues } = await refused.json()
      expect(issues).toEqual([
        expect.objectContaining({ pointer: '/envelop', hint: 'Did you mean "envelope"?' }),
      ])
    }
    const { code, stderr } = await runCommand(['run', file('top.json', { envelop: envelope() })])
    expect(code).toBe(2)
    expect(stderr).toContain('Did you mean "envelope"?')
  })

  it.each([
    [{ rao: { autoAprove: 0.9 } }, '/rao/autoAprove', 'autoApproveAbove'],
    [{ idempotnt: true }, '/idempotnt', 'idempotent'],
    [{ sideEffects: true }, '/sideEffects', 'sideEffect'],
    [{ postCondition: [] }, '/postCondition', 'postConditions'],
  ])('of a registration is refused with a suggestion: %j', (more, pointer, meant) => {
    const define = () => local('write', () => ({ text: 'Tea' }), wrongly(more))
    expect(define).toThrow(
      expect.objectContaining({
        issues: [expect.objectContaining({ at: { pointer }, hint: expect.stringContaining(meant) })],
      }),
    )
  })

  it.each([
    [{ nodes: [], limits: { maxcalls: 1 } }, '/limits/maxcalls', 'maxCalls'],
    [
      { nodes: [{ id: 'a', constraints: { no_network: true } }] },
      '/nodes/0/constraints/no_network',
      'no_network_access',
    ],
    [{ nodes: [{ id: 'a', retri: {} }] }, '/nodes/0/retri', 'retry'],
  ])('of a draft is refused with a suggestion: %j', async (draft, pointer, meant) => {
    const { call } = await serve()
    const refused = await call('/api/v1/flex/runs', { body: { envelope: envelope(), draft } })
    const { issues } = await refused.json()
    const issue = issues.find((each) => each.pointer === pointer) as { hint?: string } | undefined
    expect(issue?.hint).toContain(meant)
  })
})

describe('a misspelled setting', () => {
  it.each(cases)('is refused with a suggestion: %s', async (_, more, pointer, meant) => {
    const { call } = await serve()
    const refused = await call('/api/v1/flex/runs', { body: start({ ...more }) })
    expect(refused.status).toBe(422)
    const { issues } = await refused.json()
    const issue = issues.find((each) => each.pointer === pointer) as { hint?: string } | undefined
    expect(issue?.hint).toContain(meant)
  })

  it('is told apart from names that are free', async () => {
    const { call } = await serve()
    const free = {
      constraints: { campaign: 'spring' },
      policies: { planner: { directives: { mood: 'calm' } } },
    }
    expect((await call('/api/v1/flex/runs', { body: start(free) })).status).toBeLessThan(300)
  })
})

/** Each key of `data` with the place of the issue and the name in its hint. */
const wrongData: readonly (readonly [object, string, string])[] = [
  [{ contarct: true }, '/contarct', 'contract'],
  [{ contact: true }, '/contact', 'contract'],
  [{ Contract: true }, '/Contract', 'contract'],
  [{ rao: { contract: true } }, '/rao', 'contract'],
  [{ suppressBelow: 0.4 }, '/suppressBelow', 'contract: true'],
  [{ contract: false, autoApproveAbov: 0.9 }, '/autoApproveAbov', 'autoApproveAbove'],
  [{ contract: true, autoApproveAbov: 0.9 }, '/autoApproveAbov', 'autoApproveAbove'],
  [{ procesing: { aop: 'off' } }, '/procesing', 'processing'],
  [{ processing: { aopp: 'off' } }, '/processing/aopp', 'aop'],
]

describe('the data of a node', () => {
  const node = (data: object) => ({ id: 'write', capabilityId: 'write', data })
  const inBody = (data: object) => ({
    id: 'all',
    map: {},
    inputs: { items: { value: [1] } },
    body: { nodes: [node(data)] },
  })

  it.each(wrongData)('is refused with its place and what was meant: %j', async (data, field, meant) => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    for (const [nodes, at] of [
      [[node(data)], '/nodes/0/data'],
      [[inBody(data)], '/nodes/0/body/nodes/0/data'],
    ] as const)
      await expect(app.run(envelope(), { draft: wrongly({ nodes }) })).rejects.toMatchObject({
        code: 'draft/invalid',
        issues: [{ at: { pointer: at + field }, hint: expect.stringContaining(meant) }],
      })
  })

  it('is otherwise free', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const free = { note: 'x', context: {}, contract: false, suppressBelow: 0.4, contact: 'x@y.example' }
    const done = await app.run(envelope(), { draft: { nodes: [node(free)] } as never })
    expect(done.status).toBe('completed')
  })

  it('is held to the same rules where a planner drafts', async () => {
    const app = await open({
      capabilities: [local('write', () => ({ text: 'Tea' }))],
      planner: { name: 'own', draft: async () => ({ nodes: [{ ...node({}), data: { contarct: true } }] }) },
    })
    const done = await app.run(envelope())
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(JSON.stringify(done.error)).toContain('contarct')
  })
})

describe('a name in a policy that nothing here has', () => {
  const plan = async (policies: object) => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const done = await app.run(envelope({ policies }), {
      draft: { nodes: [{ id: 'write', capabilityId: 'write' }] },
    })
    const events = await journal(app, done.runId)
    const generated = events.find(({ type }) => type === 'plan_generated')?.payload as {
      readonly diagnostics: { readonly infos: readonly object[] }
    }
    return generated.diagnostics.infos.filter((info) => JSON.stringify(info).includes('plan/policy-'))
  }
  const watching = (capabilityId: string) => ({
    runtime: [
      { id: 'w', trigger: { kind: 'onNodeComplete', selector: { capabilityId } }, action: { type: 'pause' } },
    ],
  })

  it.each([
    ['forbid', { planner: { selection: { forbid: ['writte'] } } }, 'write'],
    ['avoid', { planner: { selection: { avoid: ['writte'] } } }, 'write'],
    ['selector.capabilityId', watching('writte'), 'write'],
    ['metric', { runtime: [metricPolicy('scoore')] }, 'confidence, satisfaction'],
  ])('is a finding with a suggestion: %s', async (where, policies, meant) => {
    const found = await plan(policies)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      constraint: expect.stringContaining(where),
      suggestion: expect.stringContaining(meant),
    })
  })

  it('is not reported where the capability is known or the engine measures it', async () => {
    expect(
      await plan({
        planner: { selection: { avoid: ['proviso.answer'], prefer: ['write'] } },
        runtime: [metricPolicy('confidence'), { ...metricPolicy('satisfaction'), id: 'b' }],
      }),
    ).toEqual([])
  })

  it('is not reported where a node declares the number', async () => {
    const score = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] } as const
    const app = await open({
      capabilities: [local('rate', () => ({ score: 1 }), { outputContract: score })],
    })
    const given = (metric: string) => ({
      objective: 'Rate',
      outputContract: { schema: score },
      policies: { runtime: [metricPolicy(metric)] },
    })
    const draft = { nodes: [{ id: 'rate', capabilityId: 'rate' }] }
    const infos = async (metric: string) => {
      const events = await journal(app, (await app.run(wrongly(given(metric)), { draft })).runId)
      return JSON.stringify(events.find(({ type }) => type === 'plan_generated')?.payload)
    }
    expect(await infos('score')).not.toContain('plan/policy-metric')
    expect(await infos('scoer')).toContain('Did you mean \\"score\\"?')
  })
})
