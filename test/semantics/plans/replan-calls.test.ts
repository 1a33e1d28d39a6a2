/** An idempotency key names one call: the same capability with the same inputs. A new plan's other call has its own. */
import { describe, expect, it } from 'vitest'
import type { App } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import type { Draft } from '../../../src/domain/plan.ts'
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
import { answer, envelope, journal, local, open } from '../../journeys/support.ts'

const I = { type: 'integer' } as const
const obj = (properties: { readonly [name: string]: unknown }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const manual = { id: 'again', trigger: { kind: 'manual' }, action: { type: 'replan' }, maxAttempts: 5 }

interface Call {
  readonly id: string
  readonly key: string
  readonly x: number
  readonly settle: (value: Json) => void
}

/** Capabilities whose first call together hangs; later ones answer with ten times their input. */
function services(more: object, ...ids: readonly string[]) {
  const calls: Call[] = []
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const capabilities = ids.map((id) =>
    local(id, () => ({}), {
      inputContract: obj({ x: I }),
      outputContract: obj({ y: I }),
      ...more,
      run: ({ x }: { x: number }, { idempotencyKey: key }: { idempotencyKey: string }) =>
        new Promise<Json>((settle) => {
          calls.push({ id, key, x, settle })
          if (calls.length > 1) settle({ y: x * 10 })
          begin()
        }),
    } as never),
  )
  return { calls, begun, capabilities }
}

const one = (x: number, capabilityId = 'serve'): Draft => ({
  nodes: [{ id: 'n', capabilityId, inputs: { x: { value: x } } }],
})
const each = (x: number): Draft => ({
  nodes: [
    {
      id: 'each',
      inputs: { items: { value: [x] } },
      map: {},
      body: {
        nodes: [{ id: 'n', capabilityId: 'serve', inputs: { x: { input: '/item' } } }],
        output: { node: 'n', pointer: '/y' },
      },
    },
  ],
  output: { properties: { y: [{ node: 'each', pointer: '/0' }] } },
})

async function replanned(
  more: object,
  drafts: readonly [Draft, ...Draft[]],
): Promise<{ app: App; runId: string; calls: Call[] }> {
  const { calls, begun, capabilities } = services(more, 'serve', 'other')
  const later = drafts.slice(1)
  const planner = {
    name: 'listed',
    draft: async () => (later.length > 1 ? later.shift() : later[0]) ?? drafts[0],
  }
  const app = await open({ capabilities, planner })
  const given = envelope({
    inputs: {},
    outputContract: { schema: obj({ y: I }) },
    policies: { planner: { directives: { sideEffects: 'allow' } }, runtime: [manual] },
  })
  const { id: runId } = await app.start(given, { draft: drafts[0] })
  await begun
  await app.trigger(runId, { policyId: 'again', by: 'ann' })
  return { app, runId, calls }
}

describe.each([
  ['a node', one],
  ['an item of a map', each],
] as const)('%s with other inputs under a new plan', (_, draft) => {
  it('is another call with another key; a late result of the first does not answer it', async () => {
    const { app, runId, calls } = await replanned({ idempotent: true }, [draft(1), draft(2)])
    calls[0]?.settle({ y: 10 })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { y: 20 } })
    expect(calls.map(({ x }) => x)).toEqual([1, 2])
    expect(calls[0]?.key).not.toBe(calls[1]?.key)
    expect((await app.replay(runId)).differences).toEqual([])
  })

  it('is allowed by a person first where the one in doubt must not be repeated, and that one stays in doubt', async () => {
    const { app, runId, calls } = await replanned({ idempotent: false, sideEffect: true }, [
      draft(1),
      draft(2),
    ])
    expect((await app.result(runId)).status).toBe('waiting')
    expect(await app.store.asks({ runId, status: 'pending' })).toMatchObject([
      { kind: 'side_effect', value: { x: 2 }, question: expect.stringContaining('other inputs') },
    ])
    calls[0]?.settle({ y: 10 })
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({
      status: 'completed',
      output: { y: 20 },
      inDoubt: [{ planVersion: 1, attempt: 1, idempotencyKey: calls[0]?.key }],
    })
    expect(calls[0]?.key).not.toBe(calls[1]?.key)
  })

  it('has the first key again once a plan makes the first call again', async () => {
    const { app, runId, calls } = await replanned({ idempotent: false }, [draft(1), draft(2), draft(1)])
    await app.result(runId)
    await app.trigger(runId, { policyId: 'again', by: 'ann' })
    expect((await app.result(runId)).status).toBe('waiting')
    expect(await app.store.asks({ runId, status: 'pending' })).toMatchObject([
      { kind: 'unknown_outcome', value: { x: 1 } },
    ])
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { y: 10 } })
    expect(calls.map(({ key }) => key)).toEqual([calls[0]?.key, calls[0]?.key])
  })
})

it.each([
  ['idempotent', { idempotent: true }],
  ['not idempotent', { idempotent: false, sideEffect: true }],
])('another capability under the same id is another call (%s)', async (_, more) => {
  const { app, runId, calls } = await replanned(more, [one(1), one(1, 'other')])
  expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { y: 10 } })
  expect(calls.map(({ id }) => id)).toEqual(['serve', 'other'])
  expect(calls[0]?.key).not.toBe(calls[1]?.key)
})

it('what changes the world and is done again for a policy, with the same inputs, is the same call', async () => {
  const keys: string[] = []
  const pay = local('pay', () => ({}), {
    sideEffect: true,
    run: (_: Json, { idempotencyKey }: { idempotencyKey: string }) => {
      keys.push(idempotencyKey)
      return { text: 'paid' }
    },
  })
  const draft = { nodes: [{ id: 'pay', capabilityId: 'pay' }] }
  const app = await open({ capabilities: [pay], planner: { name: 'same', draft: async () => draft } })
  const policy = { ...manual, trigger: { kind: 'onNodeComplete' }, maxAttempts: 1 }
  const done = await app.run(envelope({ policies: { runtime: [policy] } }), { draft })
  expect(done).toMatchObject({ status: 'completed', output: { text: 'paid' } })
  expect(keys).toEqual([keys[0], keys[0]])
})

it('the callback of an accepted call answers that call alone', async () => {
  const later = await agent(status(202))
  const brief = (angle: string) => ({ value: { angle, keyPoints: ['It is warm'] } })
  const draft = (angle: string) => ({
    nodes: [{ id: 'w', capabilityId: 'writer.en', inputs: { writerBrief: brief(angle) } }],
  })
  const planner = { name: 'second', draft: async () => draft('second') }
  const served = await serveAgents({ planner })
  const registration = writer(later.url, { idempotent: true })
  const { signingKey: key = '' } = await served.register(registration, await served.agentToken())
  const { id: runId } = await served.app.start(wanted({ policies: { runtime: [manual] } }), {
    draft: draft('first'),
  })
  const accepted = async (times: number) => {
    let seen = 0
    for await (const event of served.app.watch(runId))
      if (event.type === 'attempt_accepted' && ++seen === times) return
  }
  await accepted(1)
  await served.app.trigger(runId, { policyId: 'again', by: 'ann' })
  await accepted(2)
  const [one, two] = later.received as [ReceivedCall, ReceivedCall]
  expect(one.headers['idempotency-key']).not.toBe(two.headers['idempotency-key'])
  const stale = [{ headline: 'Old', body: 'Stale.', callToAction: 'No' }]
  expect((await post(one, { key, body: { output: { copyVariants: stale } } })).status).toBe(200)
  expect(await lateResults(served.app, runId)).toEqual([
    { nodeId: 'w', payload: { attempt: 1, planVersion: 1, outcome: 'ok', applied: false } },
  ])
  expect((await post(one, { key })).status).toBe(409)
  expect((await post(two, { key })).status).toBe(200)
  expect(await served.app.result(runId)).toMatchObject({ status: 'completed', output: { copyVariants } })
  expect(await lateResults(served.app, runId)).toHaveLength(1)
  expect((await served.app.replay(runId)).differences).toEqual([])
})

it.each([
  ['an error', { error: { message: 'Gone', outcome: 'refused' } }, 'refused'],
  ['a question', { question: 'Which tea?' }, 'unclear'],
])('%s that arrives for a call which a new plan has left out is in the journal', async (_, body, outcome) => {
  const later = await agent(status(202))
  const planner = {
    name: 'other',
    draft: async () => ({ nodes: [{ id: 'own', capabilityId: 'own' }] }),
  }
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const own = local('own', () => held.then(() => ({ copyVariants })), {
    outputContract: { type: 'object', properties: { copyVariants: {} }, required: ['copyVariants'] },
  })
  const served = await serveAgents({ planner, capabilities: [own] })
  const { signingKey: key = '' } = await served.register(
    writer(later.url, { idempotent: true }),
    await served.agentToken(),
  )
  const { id: runId } = await served.app.start(wanted({ policies: { runtime: [manual] } }), {
    draft: { nodes: [{ id: 'w', capabilityId: 'writer.en' }] },
  })
  for await (const event of served.app.watch(runId)) if (event.type === 'attempt_accepted') break
  await served.app.trigger(runId, { policyId: 'again', by: 'ann' })
  for await (const event of served.app.watch(runId))
    if (event.type === 'attempt_start' && event.nodeId === 'own') break
  expect((await post(later.received[0] as ReceivedCall, { key, body })).status).toBe(200)
  expect(await lateResults(served.app, runId)).toEqual([
    { nodeId: 'w', payload: { attempt: 1, planVersion: 1, outcome, applied: false } },
  ])
  finish()
  expect(await served.app.result(runId)).toMatchObject({ status: 'completed' })
})

/** What the journal says of results that nothing waited for. */
async function lateResults(app: App, runId: string) {
  return (await journal(app, runId)).flatMap(({ type, nodeId, payload }) => {
    const { event, payload: details } = payload as { event?: string; payload?: Json }
    return type === 'log' && event === 'attempt.late_result' ? [{ nodeId, payload: details }] : []
  })
}
