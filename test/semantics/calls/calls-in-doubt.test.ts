/** A call that may have taken effect is not made twice silently, whatever a new plan calls the node that makes it. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { EventPayloads, EventType, JournalEvent } from '../../../src/domain/event.ts'
import type { DraftNode } from '../../../src/domain/plan.ts'
import { post } from '../../agents/post.ts'
import {
  agent,
  copyVariants,
  type ReceivedCall,
  serveAgents,
  status,
  wanted,
  writer,
} from '../../agents/support.ts'
import { answer, envelope, journal, listTypes, local, open } from '../../journeys/support.ts'

const S = { type: 'string' } as const
const obj = (properties: { readonly [name: string]: unknown }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Fired once the call is under way. */
const again = { id: 'again', trigger: { kind: 'manual' }, action: { type: 'replan' } }

function payloads<T extends EventType>(events: readonly JournalEvent[], type: T): EventPayloads[T][] {
  return events.filter((event) => event.type === type).map(({ payload }) => payload as EventPayloads[T])
}

interface Call {
  readonly key: string
  readonly nodeId: string
  readonly inputs: Json
  readonly settle: (value: Json) => void
}

/** A payment whose first call hangs; later ones answer. */
function payment(more: object) {
  const calls: Call[] = []
  let started = () => {}
  const first = new Promise<void>((resolve) => {
    started = resolve
  })
  const capability = local('bank.pay', () => ({}), {
    inputContract: obj({ topic: S }),
    outputContract: obj({ receipt: S }),
    ...more,
    run: (inputs: Json, context: { idempotencyKey: string; nodeId: string }) =>
      new Promise<Json>((settle) => {
        calls.push({ key: context.idempotencyKey, nodeId: context.nodeId, inputs, settle })
        started()
        if (calls.length > 1) settle({ receipt: `number ${calls.length}` })
      }),
  })
  return { capability, calls, first }
}

const paying = (more: object = {}) =>
  envelope({
    outputContract: { schema: obj({ receipt: S }) },
    policies: { planner: { directives: { sideEffects: 'allow' } }, runtime: [again] },
    ...more,
  })
const draftOf = (id: string) => ({ nodes: [{ id, capabilityId: 'bank.pay' }] })

/** A run whose payment hangs, after a new plan was ordered: it has come to its end, or waits. */
async function replanned(
  more: object,
  draft?: { readonly nodes: readonly DraftNode[] },
  options: object = {},
) {
  const { capability, calls, first } = payment(more)
  const app = await open({ capabilities: [capability], ...options })
  const { id: runId } = await app.start(paying(), draft ? { draft } : {})
  await first
  await app.trigger(runId, { policyId: 'again', by: 'ann' })
  return { app, runId, calls, result: await app.result(runId) }
}

const plans = [
  ['a draft of its own, whose node the new plan renames', draftOf('h')],
  ['a draft whose node has the id of the capability', draftOf('bank.pay')],
  ['a draft that names the node as the search does', draftOf('pay')],
  ['a plan of the search', undefined],
] as const

describe.each(plans)('a new plan while a call hangs: %s', (_, draft) => {
  it.each([
    ['changes the world and is not idempotent', { idempotent: false, sideEffect: true }],
    ['is not idempotent', { idempotent: false }],
  ])('what %s waits for a person, who has it done again under the same key', async (__, more) => {
    const { app, runId, calls, result } = await replanned(more, draft)
    expect(result.status).toBe('waiting')
    expect(calls).toHaveLength(1)
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    expect(ask).toMatchObject({ kind: 'unknown_outcome', nodeId: 'pay', value: { topic: 'tea' } })
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { receipt: 'number 2' } })
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1)
    expect((await app.replay(runId)).differences).toEqual([])
  })

  it('a late result of the first call closes that ask, and nothing is called again', async () => {
    const { app, runId, calls } = await replanned({ idempotent: false, sideEffect: true }, draft)
    calls[0]?.settle({ receipt: 'late' })
    for await (const event of app.watch(runId)) if (event.type === 'complete') break
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { receipt: 'late' } })
    expect(await app.store.asks({ runId })).toMatchObject([{ decision: 'settled', by: 'system' }])
    expect(calls).toHaveLength(1)
    expect((await app.replay(runId)).differences).toEqual([])
  })

  it.each([
    ['idempotent', { idempotent: true }],
    ['idempotent and changes the world', { idempotent: true, sideEffect: true }],
  ])('what is %s is called again under the same key, and no person is asked', async (__, more) => {
    const { app, runId, calls, result } = await replanned(more, draft)
    expect(result).toMatchObject({ status: 'completed', output: { receipt: 'number 2' } })
    expect(calls.map(({ key }) => key)).toEqual([calls[0]?.key, calls[0]?.key])
    const events = await journal(app, runId)
    expect(listTypes(events)).not.toContain('hitl_request')
    expect((await app.replay(runId)).differences).toEqual([])
  })
})

it('names the call that is continued, in the ask and in the attempt', async () => {
  const { app, runId } = await replanned({ idempotent: false }, draftOf('h'))
  const first = { nodeId: 'h', attempt: 1, planVersion: 1 }
  const [request] = payloads(await journal(app, runId), 'hitl_request')
  expect(request).toMatchObject({ continues: first, question: expect.stringContaining('"h"') })
  const { app: other, runId: id } = await replanned({ idempotent: true }, draftOf('h'))
  expect(payloads(await journal(other, id), 'attempt_start')[1]).toMatchObject({ continues: first })
})

describe('a plan with other calls of the same capability', () => {
  /** Proposes the drafts one after the other, independent of earlier plans. */
  const planner = (...drafts: readonly { readonly nodes: readonly DraftNode[] }[]) => ({
    name: 'listed',
    draft: async () => (drafts.length > 1 ? (drafts as unknown as object[]).splice(0, 1)[0]! : drafts[0]!),
  })
  const pay = (id: string, topic: string): DraftNode => ({
    id,
    capabilityId: 'bank.pay',
    inputs: { topic: [{ value: topic }] },
  })

  it('with other inputs: a person has to allow it, and it has a key of its own', async () => {
    const { app, runId, calls, result } = await replanned(
      { idempotent: false, sideEffect: true },
      undefined,
      {
        planner: planner({ nodes: [pay('a', 'ann')] }, { nodes: [pay('b', 'ben')] }),
      },
    )
    expect(result.status).toBe('waiting')
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    expect(ask).toMatchObject({
      kind: 'side_effect',
      nodeId: 'b',
      question: expect.stringMatching(/"a" .*other inputs/),
    })
    await answer(app, runId, 'approve')
    const done = await app.result(runId)
    expect(done).toMatchObject({
      status: 'completed',
      inDoubt: [
        { nodeId: 'a', attempt: 1, planVersion: 1, capabilityId: 'bank.pay', outcome: 'outcome_unknown' },
      ],
    })
    expect(new Set(calls.map(({ key }) => key)).size).toBe(2)
  })

  it('each call in doubt is continued by the node with its inputs, in whichever order they start', async () => {
    const { app, runId, calls } = await replanned({ idempotent: false }, undefined, {
      planner: planner({ nodes: [pay('a', 'ann')] }, {
        nodes: [{ ...pay('b', 'ben') }, { ...pay('c', 'ann') }],
        output: { node: 'c' },
      } as never),
    })
    const asks = await app.store.asks({ runId, status: 'pending' })
    const about = Object.fromEntries(asks.map(({ nodeId, kind }) => [nodeId, kind]))
    expect(about).toMatchObject({ c: 'unknown_outcome' })
    expect(calls).toHaveLength(1)
    for (const { requestId, valueHash } of asks)
      await app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
    expect((await app.result(runId)).status).toBe('completed')
    const keys = Object.fromEntries(calls.map(({ nodeId, key }) => [nodeId, key]))
    expect(keys['c']).toBe(keys['a'])
    expect(keys['b']).not.toBe(keys['a'])
  })

  it('without it: the result says which call is in doubt, and so does the end of the journal', async () => {
    const coffee = local('coffee', () => ({ receipt: 'none' }), { outputContract: obj({ receipt: S }) })
    const { capability, calls, first } = payment({ idempotent: false, sideEffect: true })
    const app = await open({
      capabilities: [capability, coffee],
      planner: planner(
        { nodes: [pay('a', 'ann')] },
        { nodes: [{ id: 'c', capabilityId: 'coffee' }] },
      ) as never,
    })
    const { id: runId } = await app.start(paying())
    await first
    await app.trigger(runId, { policyId: 'again', by: 'ann' })
    const done = await app.result(runId)
    expect(done).toMatchObject({ status: 'completed', inDoubt: [{ nodeId: 'a', capabilityId: 'bank.pay' }] })
    expect(done.inDoubt?.[0]?.idempotencyKey).toBe(calls[0]?.key)
    const events = await journal(app, runId)
    expect(payloads(events, 'complete')).toMatchObject([{ inDoubt: done.inDoubt }])
    expect(listTypes(events)).not.toContain('hitl_request')
    expect(calls).toHaveLength(1)
  })

  it('after a third plan the call is still the one that was made under the first', async () => {
    const { app, runId, calls } = await replanned({ idempotent: false, sideEffect: true }, undefined, {
      planner: planner(
        { nodes: [pay('a', 'ann')] },
        { nodes: [pay('b', 'ann')] },
        { nodes: [pay('c', 'ann')] },
      ),
    })
    await app.trigger(runId, { policyId: 'again', by: 'ann' })
    await app.result(runId)
    expect(await app.store.asks({ runId, status: 'pending' })).toMatchObject([{ nodeId: 'c' }])
    calls[0]?.settle({ receipt: 'late' })
    for await (const event of app.watch(runId)) if (event.type === 'complete') break
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { receipt: 'late' } })
    expect(calls).toHaveLength(1)
  })
})

describe('an agent that has accepted a call (202) when a new plan is made', () => {
  async function accepted(more: object) {
    const later = await agent(status(202))
    const served = await serveAgents()
    const { signingKey: key = '' } = await served.register(
      writer(later.url, more as never),
      await served.agentToken(),
    )
    const draft = { nodes: [{ id: 'w', capabilityId: 'writer.en' }] }
    const policies = { planner: { selection: { require: ['writer.en'] } }, runtime: [again] }
    const { id: runId } = await served.app.start(wanted({ policies }), { draft })
    for await (const event of served.app.watch(runId)) if (event.type === 'attempt_accepted') break
    await served.app.trigger(runId, { policyId: 'again', by: 'ann' })
    return { ...served, runId, key, later, received: later.received[0] as ReceivedCall }
  }

  it('is not called again where that must not be, and its callback closes the ask', async () => {
    const { app, runId, key, later, received } = await accepted({ idempotent: false })
    expect((await app.result(runId)).status).toBe('waiting')
    expect(await app.store.asks({ runId, status: 'pending' })).toMatchObject([{ kind: 'unknown_outcome' }])
    expect((await post(received, { key })).status).toBe(200)
    expect((await post(received, { key })).status).toBe(409)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { copyVariants } })
    expect(later.received).toHaveLength(1)
    const events = await journal(app, runId)
    expect(
      events.filter(({ payload }) => (payload as { event?: string }).event === 'attempt.late_result'),
    ).toEqual([])
    expect((await app.replay(runId)).differences).toEqual([])
  })

  it('is called again under the same key where that is safe, and the first callback answers both', async () => {
    const { app, runId, key, later, received } = await accepted({ idempotent: true })
    let accepts = 0
    for await (const event of app.watch(runId))
      if (event.type === 'attempt_accepted' && ++accepts === 2) break
    expect((await post(received, { key })).status).toBe(200)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { copyVariants } })
    expect(new Set(later.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect((await post(received, { key })).status).toBe(409)
    expect((await app.replay(runId)).differences).toEqual([])
  })
})
