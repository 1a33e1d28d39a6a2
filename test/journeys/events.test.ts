/** What the events of a run say, by the names of the specification; and what an attempt can and cannot change. */
import { expect, it } from 'vitest'
import type { JournalEvent, Planner } from '../../src/index.ts'
import type { EventPayloads, EventType } from '../../src/types.ts'
import { answer, envelope, journal, listTypes, local, open, says } from './support.ts'

function payloads<T extends EventType>(events: readonly JournalEvent[], type: T): EventPayloads[T][] {
  return events.flatMap((event) => (event.type === type ? [event.payload as EventPayloads[T]] : []))
}

it('a run records what happens to it, each event with the fields of the specification', async () => {
  let drafts = 0
  const planner: Planner = {
    name: 'scripted',
    async draft() {
      const id = `write${++drafts}`
      return {
        nodes: [
          { id: 'hard', capabilityId: 'hard' },
          { id: 'easy', capabilityId: 'easy', label: 'The easy way' },
          { id, capabilityId: 'write', retry: { max: 1 } },
        ],
        edges: [{ from: 'hard', to: 'easy', when: 'fail' }],
        output: { node: id },
      }
    },
  }
  const hard = local('hard', () => {
    throw new Error('Too hard')
  })
  const app = await open({
    planner,
    capabilities: [
      hard,
      local('easy', () => ({ text: 'Easy' })),
      says('write', ['No JSON here', '{"text": "Tea"}']),
    ],
  })
  const runtime = [
    {
      id: 'look',
      trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'write' } },
      action: {
        type: 'hitl',
        rationale: 'Review it',
        approveAction: { type: 'replan', rationale: 'Again' },
      },
      maxAttempts: 1,
    },
    {
      id: 'note',
      trigger: { kind: 'onNodeComplete' },
      action: { type: 'emit', event: 'noted', payload: { by: 'policy' } },
    },
  ]
  const { runId, status } = await app.run(envelope({ policies: { runtime } }), { threadId: 'thread' })
  expect(status).toBe('waiting')
  await answer(app, runId, 'approve')
  const { output } = await app.result(runId)
  const events = await journal(app, runId)

  expect(payloads(events, 'start')).toMatchObject([{ threadId: 'thread' }])
  const at = (type: EventType, nodeId: string) =>
    events.find((each) => each.type === type && each.nodeId === nodeId)
  expect(at('node_start', 'easy')?.payload).toMatchObject({ capabilityId: 'easy', label: 'The easy way' })
  expect(at('node_complete', 'easy')?.payload).toMatchObject({
    output: { value: { text: 'Easy' } },
    capabilityId: 'easy',
    attempt: 1,
  })
  expect(at('node_error', 'hard')?.payload).toMatchObject({
    attempt: 1,
    outcome: 'provider_error',
    error: { code: 'attempt/provider_error', message: 'Too hard' },
  })
  expect(payloads(events, 'validation_error')[0]).toMatchObject({
    scope: 'node:write1',
    errors: [{ code: 'output/not-found' }],
  })
  expect(payloads(events, 'policy_triggered').filter(({ policyId }) => policyId === 'look')).toMatchObject([
    { trigger: 'onNodeComplete', actionDetails: { type: 'hitl' }, action: 'hitl_pause' },
    { trigger: 'follow_up', actionDetails: { type: 'replan', rationale: 'Again' }, action: 'replan' },
  ])
  const [ask] = payloads(events, 'hitl_request')
  expect(ask).toMatchObject({
    kind: 'policy',
    policyId: 'look',
    question: 'Review it',
    value: { text: 'Tea' },
  })
  expect(payloads(events, 'hitl_resolved')).toMatchObject([
    { requestId: ask?.requestId, decision: 'approve', by: 'ann', valueHash: ask?.valueHash },
  ])
  expect(payloads(events, 'plan_updated')).toMatchObject([
    {
      previousVersion: 1,
      version: 2,
      // What has failed is done again, and so is what stands in for it: it may succeed this time.
      nodes: [
        { id: 'hard', status: 'pending' },
        { id: 'easy', status: 'pending' },
        { id: 'write2', status: 'pending' },
      ],
      trigger: { policyId: 'look', rationale: 'Again' },
    },
  ])
  expect(payloads(events, 'log')).toContainEqual({ event: 'noted', payload: { by: 'policy' } })
  expect(payloads(events, 'complete')).toMatchObject([{ status: 'completed', output: { text: 'Tea' } }])
  expect(output).toEqual({ text: 'Tea' })
  expect(listTypes(events).at(-1)).toBe('complete')
})

it('an attempt changes nothing but by what it returns', async () => {
  let attempts = 0
  const kept: { text: string }[] = []
  const spoil = local('spoil', (inputs) => {
    const list = inputs['list'] as string[]
    const seen = list.join()
    list.push('spoilt')
    if (++attempts === 1) throw new Error('Spoilt it, and failed')
    const value = { text: seen }
    kept.push(value)
    return value
  })
  const list = { envelope: '/inputs/list' }
  const app = await open({ capabilities: [spoil] })
  const { runId, output } = await app.run(envelope({ inputs: { list: ['fresh'] } }), {
    draft: {
      nodes: [
        { id: 'first', capabilityId: 'spoil', inputs: { list }, retry: { max: 1 } },
        { id: 'second', capabilityId: 'spoil', inputs: { list, after: { node: 'first', pointer: '/text' } } },
      ],
      output: { node: 'second' },
    },
  })
  for (const value of kept) value.text = 'changed later'
  expect(output).toEqual({ text: 'fresh' })
  const state = await app.state(runId)
  expect(state.envelope.inputs).toEqual({ list: ['fresh'] })
  expect(state.nodes.get('first')?.output?.value).toEqual({ text: 'fresh' })
})
