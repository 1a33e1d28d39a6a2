/**
 * Where a RAO contract is accepted: on a node, in `policies.runtime` by selector, on a capability. In each case, the
 * answers are guarded; of several the strictest thresholds count; what guards nothing or is misspelled is refused.
 */

import { modelPlanner, prove, raoRows, withBuiltins } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import { defineCapability } from '../../../src/domain/capability/define-capability.ts'
import type { JournalEvent } from '../../../src/domain/event.ts'
import type { Provider } from '../../../src/domain/ports/provider.ts'
import { envelope, journal, local, open, rao, says } from '../../journeys/support.ts'
import { wrongly } from '../../wrongly.ts'

const tea = { text: 'Tea' }
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const guarded = (settings: object) => ({ runtime: [{ id: 'guard', ...settings }] })
const decisionsIn = (events: readonly JournalEvent[]) =>
  events.flatMap((event) => (event.type === 'rao_decision' ? [event] : []))

type Options = Parameters<typeof open>[0]

async function ran(options: Options, policies: object = {}, given: object | 'planned' = draft) {
  const app = await open(options)
  const run = await app.run(envelope({ policies }), given === 'planned' ? {} : { draft: given as never })
  const events = await journal(app, run.runId)
  expect((await app.replay(run.runId)).differences).toEqual([])
  return { app, run, events, decisions: decisionsIn(events) }
}

/** A capability under a contract of its own, surer than the contract's default asks for. */
const strict = (confidence: number, id = 'write') =>
  says(id, [rao(tea, confidence)], { rao: { autoApproveAbove: 0.95, reviewHigh: 0.9 } })

describe('a contract on a capability', () => {
  it.each([
    [0.97, 'auto_approve', 'completed'],
    [0.9, 'human_review', 'waiting'],
    [0.2, 'suppress', 'failed'],
  ])('guards a plain node: confidence %d is %s', async (confidence, decision, status) => {
    const { run, decisions } = await ran({ capabilities: [strict(confidence)] })
    expect(run.status).toBe(status)
    expect(decisions).toMatchObject([
      { nodeId: 'write', payload: { decision, thresholds: { autoApproveAbove: 0.95, suppressBelow: 0.5 } } },
    ])
  })

  it('guards plans of the search planner', async () => {
    const { run, decisions } = await ran({ capabilities: [strict(0.9)] }, {}, 'planned')
    expect(run.status).toBe('waiting')
    expect(decisions).toMatchObject([{ payload: { decision: 'human_review' } }])
  })

  it('guards plans of a model, which cannot switch it off and is never shown the thresholds', async () => {
    const prompts: string[] = []
    const drafted = {
      nodes: [{ id: 'write', capabilityId: 'write', data: { contract: false, autoApproveAbove: 0.1 } }],
    }
    const provider: Provider = {
      name: 'scripted',
      async generate({ system, prompt }) {
        prompts.push(`${system}\n${prompt}`)
        const usage = { inputTokens: 1, outputTokens: 1 }
        return { kind: 'text', text: JSON.stringify(drafted), finish: 'stop', usage }
      },
    }
    const planner = modelPlanner({ provider, model: 'm' })
    const { run, decisions } = await ran({ capabilities: [strict(0.9)], planner }, {}, 'planned')
    expect(run.status).toBe('waiting')
    expect(decisions).toHaveLength(1)
    expect(prompts.join()).toContain('"capabilityId":"write"')
    expect(prompts.join()).not.toContain('0.95')
  })

  it('guards an alternate, and only the alternate', async () => {
    const broken = local('first', () => {
      throw new Error('down')
    })
    const nodes = [{ id: 'write', capabilityId: 'first', alternates: ['write'] }]
    const { run, decisions } = await ran({ capabilities: [broken, strict(0.9)] }, {}, { nodes })
    expect(run.status).toBe('waiting')
    expect(decisions).toHaveLength(1)
    const fine = local('first', () => tea)
    const plain = await ran({ capabilities: [fine, strict(0.9)] }, {}, { nodes })
    expect(plain.run).toMatchObject({ status: 'completed', output: tea })
    expect(plain.decisions).toEqual([])
  })

  it('guards a fallback', async () => {
    const broken = local('first', () => {
      throw new Error('down')
    })
    const nodes = [
      { id: 'first', capabilityId: 'first' },
      { id: 'write', capabilityId: 'write', kind: 'fallback' },
    ]
    const { run, decisions } = await ran({ capabilities: [broken, strict(0.9)] }, {}, { nodes })
    expect(run.status).toBe('waiting')
    expect(decisions).toMatchObject([{ nodeId: 'write', payload: { decision: 'human_review' } }])
  })

  it.each([
    ['map', { map: {}, inputs: { items: { value: ['a', 'b'] } } }, ['each[0].write', 'each[1].write']],
    ['loop', { loop: { maxRounds: 2 }, inputs: { state: { value: tea } } }, ['each#1.write', 'each#2.write']],
  ])('guards the body of a %s', async (_, iterated, locations) => {
    const write = says('write', [rao(tea, 0.97), rao(tea, 0.97)], { rao: { autoApproveAbove: 0.95 } })
    const body = { nodes: [{ id: 'write', capabilityId: 'write' }], output: { node: 'write' } }
    const { decisions } = await ran(
      { capabilities: [write] },
      {},
      {
        nodes: [{ id: 'each', ...iterated, body }],
        output: { properties: { text: { value: 'Tea' } } },
      },
    )
    expect(decisions.map(({ nodeId }) => nodeId).sort()).toEqual(locations)
  })

  it('can be kept and switched off', async () => {
    const write = local('write', () => tea, { rao: { contract: false, autoApproveAbove: 0.95 } })
    expect((await ran({ capabilities: [write] })).run.status).toBe('completed')
  })

  it.each([
    [{ autoAproveAbove: 0.9 }, '/rao/autoAproveAbove', 'autoApproveAbove'],
    [{ autoApproveAbove: 1.5 }, '/rao/autoApproveAbove', ''],
    [{ suppressBelow: 0.9 }, '/rao', ''],
  ])('is refused where it is wrong: %j', (settings, pointer, hint) => {
    let issues: unknown
    try {
      defineCapability({ ...says('write', ['']).capability, rao: wrongly(settings) })
    } catch (error) {
      issues = (error as { issues: unknown }).issues
    }
    expect(issues).toMatchObject([{ at: { pointer } }])
    expect(JSON.stringify(issues)).toContain(hint)
  })
})

describe('a contract in policies.runtime', () => {
  const facet = says('write', [rao({ copyVariants: [] }, 0.6)], { outputContract: ['copyVariants'] })
  const plain = () => ({ capabilities: [says('write', [rao(tea, 0.6)])] })

  it.each([
    ['node', { nodeId: 'write' }],
    ['capability', { capabilityId: 'write' }],
    ['kind', { kind: 'execution' }],
    ['several', { kind: 'execution', capabilityId: 'write', nodeId: 'write' }],
    ['nothing, which is every node', {}],
  ])('guards what its selector names: %s', async (_, selector) => {
    const { run, decisions } = await ran(plain(), guarded({ selector, rao: {} }))
    expect(run.status).toBe('waiting')
    expect(decisions).toMatchObject([{ nodeId: 'write', payload: { decision: 'human_review' } }])
  })

  it('guards nodes whose output has a facet', async () => {
    const app = await open({ capabilities: [facet] })
    const { status } = await app.run(
      envelope({
        outputContract: { schema: { type: 'object', properties: { copyVariants: { type: 'array' } } } },
        policies: guarded({ selector: { facet: 'copyVariants' }, rao: {} }),
      }),
      { draft },
    )
    expect(status).toBe('waiting')
  })

  it('may be written as runtime.rao beside runtime.policies', async () => {
    const emit = { id: 'say', trigger: { kind: 'onStart' }, action: { type: 'emit', event: 'begun' } }
    const runtime = {
      rao: [{ selector: { capabilityId: 'write' }, autoApproveAbove: 0.55, reviewHigh: 0.55 }],
      policies: [emit],
    }
    const { run, events, decisions } = await ran(plain(), { runtime })
    expect(run.status).toBe('completed')
    expect(decisions).toMatchObject([{ payload: { thresholds: { autoApproveAbove: 0.55 } } }])
    expect(events.map(({ type }) => type)).toContain('policy_triggered')
  })

  it('leaves other nodes and people alone, and does nothing when switched off', async () => {
    const { run } = await ran(
      { capabilities: [local('write', () => tea)] },
      guarded({ enabled: false, rao: {} }),
    )
    expect(run.status).toBe('completed')
    const person = defineCapability({ ...says('write', ['']).capability, kind: 'human', settings: {} })
    const asked = await ran({ capabilities: [person] }, guarded({ rao: {} }))
    expect(await asked.app.store.asks({ runId: asked.run.runId })).toMatchObject([{ kind: 'task' }])
  })

  it('guards plans of the search planner, by capability', async () => {
    const policies = guarded({ selector: { capabilityId: 'write' }, rao: {} })
    expect((await ran(plain(), policies, 'planned')).run.status).toBe('waiting')
  })

  it.each([
    [{ nodeId: 'wriet' }, 'nodeId', 'Did you mean "write"?'],
    [{ capabilityId: 'wrte' }, 'capabilityId', 'Did you mean "write"?'],
    [{ facet: 'copyVariant' }, 'facet', 'Did you mean "copyVariants"?'],
    [{ nodeId: 'write', kind: 'validation' }, 'nodeId', 'does not match the rest of the selector'],
  ])('rejects the plan where it names what is not there: %j', async (selector, key, hint) => {
    const { run, events } = await ran(plain(), guarded({ selector, rao: {} }))
    expect(run).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    const rejected = events.find(({ type }) => type === 'plan_rejected')
    expect(rejected?.payload).toMatchObject({
      diagnostics: {
        failures: [
          {
            constraintId: 'policy:guard',
            suggestion: expect.stringContaining(hint),
            details: { code: 'plan/rao-selector', pointer: `/policies/runtime/0/selector/${key}` },
          },
        ],
      },
    })
  })

  it('only reports a selector that this plan has no node for', async () => {
    const policies = guarded({ selector: { kind: 'validation' }, rao: {} })
    const { run, events } = await ran({ capabilities: [local('write', () => tea)] }, policies)
    expect(run.status).toBe('completed')
    const generated = events.find(({ type }) => type === 'plan_generated')
    expect(generated?.payload).toMatchObject({
      diagnostics: { infos: [{ details: { code: 'plan/rao-unused' } }] },
    })
  })

  it('only reports a node that is left out because its capability is inactive', async () => {
    const silent = says('silent', [''], { kind: 'model', preferredModels: ['anthropic/x'], settings: {} })
    const nodes = [
      { id: 'write', capabilityId: 'write' },
      { id: 'backup', capabilityId: 'silent', kind: 'fallback' },
    ]
    const policies = guarded({ selector: { nodeId: 'backup' }, rao: {} })
    const options = { capabilities: [local('write', () => tea), silent], env: {} }
    const { run, events } = await ran(options, policies, { nodes })
    expect(run.status).toBe('completed')
    const codes = JSON.stringify(events.find(({ type }) => type === 'plan_generated')?.payload)
    expect(codes).toContain('plan/stand-in-inactive')
    expect(codes).toContain('plan/rao-unused')
  })

  it.each([
    [guarded({ rao: { supressBelow: 0.3 } }), '/policies/runtime/0/rao/supressBelow', 'suppressBelow'],
    [
      guarded({ selector: { capability: 'write' }, rao: {} }),
      '/policies/runtime/0/selector/capability',
      'Id',
    ],
    [guarded({ selectr: {}, rao: {} }), '/policies/runtime/0/selectr', 'selector'],
    [guarded({ rao: { reviewLow: 0.1 } }), '/policies/runtime/0/rao', ''],
    [{ runtime: { roa: [] } }, '/policies/runtime/roa', 'rao'],
    [{ runtime: { rao: [{ supressBelow: 0.3 }] } }, '/policies/runtime/rao/0/supressBelow', 'suppressBelow'],
    [{ runtime: { rao: { nodeId: 'x' } } }, '/policies/runtime/rao/nodeId', ''],
  ])('is refused where it is misspelled: %j', async (policies, pointer, hint) => {
    const app = await open(plain())
    const refused = await app.run(envelope({ policies }), { draft }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'envelope/invalid', issues: [{ at: { pointer } }] })
    expect(JSON.stringify((refused as { issues: unknown }).issues)).toContain(hint)
  })
})

describe('several contracts', () => {
  const capability = {
    autoApproveAbove: 0.9,
    suppressBelow: 0.2,
    reviewLow: 0.2,
    confidenceType: 'calibrated',
  }
  const policy = {
    autoApproveAbove: 0.6,
    reviewHigh: 0.6,
    suppressBelow: 0.4,
    reviewLow: 0.4,
    maxInferenceMs: 900,
  }
  const node = {
    contract: true,
    suppressBelow: 0.3,
    reviewLow: 0.3,
    confidenceType: 'verbalized',
    maxInferenceMs: 5000,
  }
  const write = says('write', [rao(tea, 0.87)], { rao: wrongly(capability) })

  it('are merged: the highest of each threshold, the shortest time, the rest by node, policy, capability', async () => {
    const nodes = [{ id: 'write', capabilityId: 'write', data: node }]
    const { run, decisions } = await ran({ capabilities: [write] }, guarded({ rao: policy }), { nodes })
    const thresholds = { autoApproveAbove: 0.9, reviewLow: 0.4, reviewHigh: 0.85, suppressBelow: 0.4 }
    expect(decisions).toMatchObject([{ payload: { thresholds, type: 'verbalized' } }])
    expect(run.status).toBe('waiting')
  })

  it('are shown by the proof, with where they come from', async () => {
    const nodes = [
      { id: 'write', capabilityId: 'write', alternates: ['other'], data: node },
      { id: 'plain', capabilityId: 'other' },
    ]
    const app = await open({ capabilities: [write, says('other', [rao(tea, 0.9)])] })
    const { runId } = await app.run(
      envelope({ policies: guarded({ selector: { nodeId: 'write' }, rao: policy }) }),
      {
        draft: { nodes },
      },
    )
    const generated = (await journal(app, runId)).find((event) => event.type === 'plan_generated')
    const rows = [
      {
        nodeId: 'write',
        capabilityId: 'write',
        contractVersion: '1.0.0',
        thresholds: { autoApproveAbove: 0.9, reviewLow: 0.4, reviewHigh: 0.85, suppressBelow: 0.4 },
        confidenceType: 'verbalized',
        maxInferenceMs: 900,
        from: ['node', 'policy:guard', 'capability:write'],
      },
      { nodeId: 'write', capabilityId: 'other', from: ['node', 'policy:guard'] },
    ]
    expect(generated?.payload.nodes).toMatchObject([{ id: 'write', rao: rows }, { id: 'plain' }])
    expect(generated?.payload.nodes?.[1]).not.toHaveProperty('rao')
    expect(raoRows(generated?.payload.plan?.nodes ?? [])).toMatchObject(rows)
  })

  it('are never loosened by a node that says no', async () => {
    const nodes = [{ id: 'write', capabilityId: 'write', data: { contract: false } }]
    expect(
      (await ran({ capabilities: [says('write', [rao(tea, 0.6)], { rao: {} })] }, {}, { nodes })).run.status,
    ).toBe('waiting')
  })

  it('of policies can be replayed with other thresholds', async () => {
    const { app, run } = await ran({ capabilities: [says('write', [rao(tea, 0.87)])] }, guarded({ rao: {} }))
    expect(run.status).toBe('completed')
    const policies = [{ id: 'guard', enabled: true, rao: { autoApproveAbove: 0.9 } }]
    const { differences } = await app.replay(run.runId, { policies })
    expect(differences).toHaveLength(1)
    const other = [{ ...policies[0]!, selector: { kind: 'validation' } }]
    await expect(app.replay(run.runId, { policies: other })).rejects.toMatchObject({ code: 'option/invalid' })
  })
})

it.each([
  ['routing', { routing: { routes: [], elseTo: 'write' } }, 'nodes that it routes to'],
  [
    'map',
    {
      map: {},
      inputs: { items: { value: [] } },
      body: { nodes: [{ id: 'a', capabilityId: 'write' }], output: { node: 'a' } },
    },
    'nodes of its body',
  ],
])('a contract on a node that calls nothing (%s) is refused', (_, node, hint) => {
  const read = { objective: 'x', inputs: {}, constraints: {}, specialInstructions: [], metadata: {} }
  const proof = prove({
    envelope: {
      ...read,
      outputContract: { mode: 'json_schema', schema: {}, constraints: [] },
      policies: { planner: {}, runtime: [] },
    },
    draft: {
      nodes: [
        { id: 'gate', ...node, data: { contract: true } },
        { id: 'write', capabilityId: 'write' },
      ],
    },
    facets: [],
    capabilities: withBuiltins([says('write', ['']).capability]),
    version: 1,
  })
  expect(proof.ok ? [] : proof.diagnostics.failures).toMatchObject([
    { nodeId: 'gate', suggestion: expect.stringContaining(hint), details: { code: 'plan/rao' } },
  ])
})
