/** What a new plan keeps: a completed node whose work is the same, from inputs that are the same, under contracts that hold. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { DraftNode } from '../../../src/domain/plan.ts'
import { envelope, journal, local, open, rao, says } from '../../journeys/support.ts'

const I = { type: 'integer' } as const
const obj = (properties: { readonly [name: string]: unknown }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** `a` and `b` and their variants; every call is noted. */
function catalog() {
  const calls: string[] = []
  const make = (id: string, input: string, output: string, compute: (value: number) => number) =>
    local(
      id,
      (inputs) => {
        calls.push(`${id}(${inputs[input]})`)
        return { [output]: compute(inputs[input] as number) }
      },
      { inputContract: obj({ [input]: I }), outputContract: obj({ [output]: I }) },
    )
  const capabilities = [
    make('a', 'x', 'y', (x) => x * 10),
    make('a2', 'x', 'y', (x) => x * 1000),
    make('b', 'y', 'z', (y) => y),
    make('b2', 'y', 'z', (y) => y + 5),
  ]
  return { calls, capabilities }
}

const bound = (value: Json) => ({ inputs: { x: { value } } })
const n = (capabilityId: string, value: Json, more: object = {}): DraftNode =>
  ({ id: 'n', capabilityId, ...bound(value), ...more }) as DraftNode
const first = { nodes: [n('a', 1), { id: 'm', capabilityId: 'b' }] }

/** Runs the first draft until `b` has completed; then the second draft is the plan. */
async function replan(second: { readonly nodes: readonly DraftNode[] }, more: object = {}) {
  const { calls, capabilities } = catalog()
  const app = await open({ capabilities, planner: { name: 'second', draft: async () => second } })
  const runtime = [
    {
      id: 'again',
      maxAttempts: 1,
      trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'b' } },
      action: { type: 'replan' },
    },
  ]
  const given = envelope({
    inputs: { x: 1 },
    outputContract: { schema: obj({ y: I, z: I }) },
    policies: { runtime, ...more },
  })
  const result = await app.run(given, { draft: first })
  const planned = (await journal(app, result.runId)).findLast(({ type }) => type === 'plan_updated')
  const { nodes } = (planned?.payload ?? { nodes: [] }) as {
    readonly nodes: readonly { id: string; status: string }[]
  }
  const kept = nodes.filter(({ status }) => status === 'completed').map(({ id }) => id)
  expect((await app.replay(result.runId)).differences).toEqual([])
  return { result, calls, kept }
}

describe('a node with the id of a completed one', () => {
  const m2: DraftNode = { id: 'm2', capabilityId: 'b' }

  it('keeps its output where nothing of it has changed', async () => {
    const { result, calls, kept } = await replan({ nodes: [n('a', 1), m2] })
    expect(result).toMatchObject({ status: 'completed', output: { y: 10, z: 10 } })
    expect(calls).toEqual(['a(1)', 'b(10)', 'b(10)'])
    expect(kept).toEqual(['n'])
  })

  it('keeps it where another binding has the same value, and settings differ that no output depends on', async () => {
    const same = { inputs: { x: { envelope: '/inputs/x' } }, timeoutMs: 5000, retry: { max: 2 }, label: 'N' }
    const { calls, kept } = await replan({ nodes: [n('a', 1, same), m2] })
    expect(calls).toEqual(['a(1)', 'b(10)', 'b(10)'])
    expect(kept).toEqual(['n'])
  })

  it.each([
    ['another literal', n('a', 2), 20],
    ['another capability', n('a2', 1), 1000],
    ['other instructions', n('a', 1, { instructions: 'Do it better' }), 10],
    ['other data', n('a', 1, { data: { knowledge: 'Ten is wrong' } }), 10],
  ] as const)('runs again: %s', async (_, changed, y) => {
    const { result, calls, kept } = await replan({ nodes: [changed, m2] })
    expect(result).toMatchObject({ status: 'completed', output: { y, z: y } })
    expect(calls).toHaveLength(4)
    expect(kept).toEqual([])
  })

  it.each([
    ['a post-condition', { postConditions: [{ '>': [{ var: 'y' }, 50] }] }],
    ['the contract of the node', { contracts: { output: obj({ y: { ...I, minimum: 50 } }) } }],
  ])('is held to the new version: %s', async (_, more) => {
    const { result, calls } = await replan({ nodes: [n('a', 1, more), m2] })
    expect(result.status).toBe('failed')
    expect(calls).toEqual(['a(1)', 'b(10)', 'a(1)'])
  })

  it('is not approved by a person because the version before did not ask', async () => {
    const directives = { hitlRequiredFor: ['checked'] }
    const { result } = await replan(
      { nodes: [n('a', 1, { label: 'checked' }), m2] },
      { planner: { directives } },
    )
    expect(result.status).toBe('waiting')
  })

  it('runs again with all that was made from it', async () => {
    const { result, calls } = await replan({ nodes: [n('a', 2), { id: 'm', capabilityId: 'b' }] })
    expect(result).toMatchObject({ output: { y: 20, z: 20 } })
    expect(calls).toEqual(['a(1)', 'b(10)', 'a(2)', 'b(20)'])
  })

  it('runs again if the new plan was ordered for it', async () => {
    const same = await replan(first)
    expect(same.calls).toEqual(['a(1)', 'b(10)', 'b(10)'])
    const other = await replan({ nodes: [n('a', 1), { id: 'm', capabilityId: 'b2' }] })
    expect(other.result).toMatchObject({ output: { z: 15 } })
    expect(other.calls).toEqual(['a(1)', 'b(10)', 'b2(10)'])
  })
})

it('an output without confidence is not kept under a new contract of reasoning-augmented orchestration', async () => {
  const write = says('write', ['{"text":"Tea"}', rao({ text: 'Tea' }, 0.99)])
  const judge = local('judge', () => ({ text: 'ok' }))
  const node = { id: 'write', capabilityId: 'write' }
  const draft = (id: string, more: object) => ({
    nodes: [
      { ...node, ...more },
      { id, capabilityId: 'judge' },
    ],
    edges: [{ from: 'write', to: id }],
    output: { node: 'write' },
  })
  const planner = {
    name: 'second',
    draft: async () => draft('judge2', { data: { contract: true } }),
  }
  const app = await open({ capabilities: [write, judge], planner })
  const selector = { capabilityId: 'judge' }
  const again = {
    id: 'again',
    maxAttempts: 1,
    trigger: { kind: 'onNodeComplete', selector },
    action: { type: 'replan' },
  }
  const { runId } = await app.run(envelope({ policies: { runtime: [again] } }), { draft: draft('judge', {}) })
  const events = await journal(app, runId)
  const attempts = events.filter(({ type, nodeId }) => type === 'attempt_start' && nodeId === 'write')
  expect(attempts).toHaveLength(2)
})

describe('a policy that orders new plans as long as a score is low', () => {
  const low = (more: object = {}) => ({
    id: 'low-score',
    trigger: {
      kind: 'onNodeComplete',
      selector: { capabilityId: 'score' },
      condition: { '<': [{ var: 'score' }, 0.6] },
    },
    action: { type: 'replan', rationale: 'Low score' },
    ...more,
  })
  const score = local('score', () => ({ score: 0.1 }), { outputContract: obj({ score: { type: 'number' } }) })
  const draft = { nodes: [{ id: 'score', capabilityId: 'score' }] }

  async function run(policy: object, constraints: object = {}) {
    const app = await open({ capabilities: [score], planner: { name: 'same', draft: async () => draft } })
    const given = { outputContract: { schema: obj({ score: { type: 'number' } }) }, constraints }
    const result = await app.run(envelope({ ...given, policies: { runtime: [policy] } }), { draft })
    return { result, events: await journal(app, result.runId) }
  }

  it.each([
    [2, {}],
    [3, { maxReplans: 3 }],
  ])(
    'fails after as many as the run may have, and names the policy and the limit: %s',
    async (most, constraints) => {
      const { result, events } = await run(low(), constraints)
      expect(result).toMatchObject({
        status: 'failed',
        failure: 'plan/replan-limit',
        error: {
          message: expect.stringMatching(new RegExp(`"low-score".*${most} .*constraints.maxReplans`)),
        },
      })
      expect(events.filter(({ type }) => type === 'plan_updated')).toHaveLength(most)
      expect(events.at(-1)?.payload).toMatchObject({
        error: {
          details: { policyId: 'low-score', limit: 'maxReplans', most, setting: 'constraints.maxReplans' },
        },
      })
    },
  )

  it('acts as often as its maxAttempts allows; what it lets pass after that is logged', async () => {
    const { result, events } = await run(low({ maxAttempts: 1 }))
    expect(result).toMatchObject({ status: 'completed', output: { score: 0.1 } })
    expect(events.filter(({ type }) => type === 'log').map(({ payload }) => payload)).toEqual([
      { event: 'policy.exhausted', payload: { policyId: 'low-score', maxAttempts: 1 } },
    ])
  })
})
