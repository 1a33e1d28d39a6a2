/** Calls that an agent has accepted (202): a fact of the journal, which outlives the process that made the call. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryStore } from '../../../src/adapters/stores/memory/memory.ts'
import type { App } from '../../../src/app.ts'
import type { EventPayloads, EventType } from '../../../src/domain/event.ts'
import { verifyHistory } from '../../../src/engine/verify/verify.ts'
import { post } from '../../agents/post.ts'
import {
  agent,
  copyVariants,
  type ReceivedCall,
  serveAgents,
  status,
  wanted,
  writer,
  writing,
} from '../../agents/support.ts'
import { answer, journal, leave } from '../../journeys/support.ts'

type Members = { readonly [name: string]: unknown }
type Options = Parameters<typeof serveAgents>[0]

/** A run whose one call the agent has accepted, once that is in the journal. */
async function accepted(
  options: Options = {},
  {
    capability = {},
    node = {},
    envelope = {},
  }: { capability?: Members; node?: Members; envelope?: Members } = {},
) {
  const later = await agent(status(202))
  const served = await serveAgents(options)
  const { signingKey: key = '' } = await served.register(
    writer(later.url, capability),
    await served.agentToken(),
  )
  const { id: runId } = await served.app.start(wanted(envelope), { draft: writing(node) })
  await until(served.app, runId, 'attempt_accepted')
  return { ...served, runId, key, later, received: later.received[0] as ReceivedCall }
}

/** Follows a run until it has an event of this type. */
async function until(app: App, runId: string, type: EventType): Promise<void> {
  for await (const event of app.watch(runId)) if (event.type === type) return
}

async function payloads<T extends EventType>(app: App, runId: string, type: T): Promise<EventPayloads[T][]> {
  const events = await journal(app, runId)
  return events.filter((event) => event.type === type).map(({ payload }) => payload as EventPayloads[T])
}

async function inOrder(app: App, runId: string): Promise<void> {
  expect(verifyHistory(await journal(app, runId))).toEqual([])
  expect((await app.replay(runId)).differences).toEqual([])
}

const once = { idempotent: false }
/** Due after the restart. */
const awake = {
  policies: {
    runtime: [
      { id: 'awake', trigger: { kind: 'onTimeout', ms: 2_000 }, action: { type: 'emit', event: 'awake' } },
    ],
  },
}
const completed = { status: 'completed', output: { copyVariants } }

describe('an accepted call', () => {
  it('is journalled with who took it and until when the answer is waited for, and is streamed', async () => {
    const before = Date.now()
    const { app, runId, received, key, call } = await accepted({ http: { callbackMs: 60_000 } })
    const [fact] = await payloads(app, runId, 'attempt_accepted')
    expect(fact).toMatchObject({ attempt: 1, agent: 'writer.en' })
    expect(fact?.deadlineAt).toBeGreaterThanOrEqual(before + 60_000)
    expect(fact?.deadlineAt).toBeLessThanOrEqual(Date.now() + 60_000)
    expect((await post(received, { key })).status).toBe(200)
    expect(await app.result(runId)).toMatchObject(completed)
    const page = await (await call(`/api/v1/flex/runs/${runId}/events`)).json()
    expect(page.events.map(({ type }: { type: string }) => type)).toContain('attempt_accepted')
    await inOrder(app, runId)
  })

  it('is waited for no longer than the node has time', async () => {
    const { app, runId } = await accepted({}, { node: { timeoutMs: 1_500 } })
    const [fact] = await payloads(app, runId, 'attempt_accepted')
    const [start] = await payloads(app, runId, 'attempt_start')
    expect(fact?.deadlineAt).toBe(start?.deadlineAt)
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'attempt/timed_out' })
  })
})

describe.each([
  ['that is idempotent', {}],
  ['that is not', once],
])('after a restart, an accepted call %s', (_, capability: Members) => {
  it('is waited for: no ask, no second call, and the callback counts once', async () => {
    const store = createMemoryStore()
    const dying = await accepted({ store, leaseMs: 2_000 }, { capability, envelope: awake })
    const { runId, received, key, later } = dying
    await leave(dying.app)
    const heir = await serveAgents({ store, leaseMs: 2_000 })
    // What only the process that has the run can append.
    await until(heir.app, runId, 'timer_fired')
    expect((await heir.app.store.asks({ runId })).length).toBe(0)
    expect((await post(received, { key, address: heir.address })).status).toBe(200)
    expect((await post(received, { key, address: heir.address })).status).toBe(409)
    expect(await heir.app.result(runId)).toMatchObject(completed)
    expect(later.received).toHaveLength(1)
    expect(await payloads(heir.app, runId, 'attempt_start')).toHaveLength(1)
    await inOrder(heir.app, runId)
  })

  it('on SQLite: an answer that came while no process was there is found', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-accepted-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const options: Options = {
      store: `sqlite:${join(folder, 'runs.db')}`,
      leaseMs: 2_000,
      http: { secretKeys: ['ab'.repeat(32)] },
    }
    const dying = await accepted(options, { capability })
    const { runId, received, key, later } = dying
    await leave(dying.app)
    const heir = await serveAgents(options)
    expect((await post(received, { key, address: heir.address })).status).toBe(200)
    expect(await heir.app.result(runId)).toMatchObject(completed)
    expect(later.received).toHaveLength(1)
    await inOrder(heir.app, runId)
  })

  it('times out at the deadline it had, wherever it is waited for', async () => {
    const store = createMemoryStore()
    const dying = await accepted({ store, leaseMs: 2_000 }, { capability, node: { timeoutMs: 2_500 } })
    await leave(dying.app)
    const { app } = await serveAgents({ store, leaseMs: 2_000 })
    expect(await app.result(dying.runId)).toMatchObject({ status: 'failed', failure: 'attempt/timed_out' })
    expect(dying.later.received).toHaveLength(1)
    await inOrder(app, dying.runId)
  })
})

describe('a callback that comes after the run has moved on', () => {
  const pause = { id: 'stop', trigger: { kind: 'manual' }, action: { type: 'pause' } }
  const envelope = { policies: { runtime: [pause] } }

  async function paused(capability: Members) {
    const run = await accepted({}, { capability, envelope })
    await run.app.trigger(run.runId, { policyId: 'stop', by: 'ann' })
    await run.app.result(run.runId)
    return run
  }

  it('closes the ask about a call that must not be repeated, with a note, and its answer counts', async () => {
    const { app, runId, received, key, later } = await paused(once)
    expect(await app.store.asks({ runId, status: 'pending' })).toMatchObject([{ kind: 'unknown_outcome' }])
    expect((await post(received, { key })).status).toBe(200)
    expect(await app.store.asks({ runId })).toMatchObject([
      { status: 'resolved', decision: 'settled', by: 'system', note: expect.stringContaining('called back') },
    ])
    expect((await post(received, { key })).status).toBe(409)
    await app.resume(runId, { by: 'ann' }).catch(() => {})
    expect(await app.result(runId)).toMatchObject(completed)
    expect(later.received).toHaveLength(1)
    await inOrder(app, runId)
  })

  it('that says it failed closes the ask as well, and the usual rules follow', async () => {
    const { app, runId, received, key } = await paused(once)
    const body = { error: { message: 'Out of paper', notApplied: true } }
    expect((await post(received, { key, body })).status).toBe(200)
    expect(await payloads(app, runId, 'attempt_settled')).toMatchObject([
      { outcome: 'provider_error', notApplied: true },
    ])
    expect(await app.store.asks({ runId, status: 'pending' })).toEqual([])
    await inOrder(app, runId)
  })

  it('does not close an ask that its own answer led to', async () => {
    const directives = { planner: { directives: { sideEffects: 'allow' } } }
    const { app, runId, received, key, later } = await accepted(
      {},
      {
        capability: { ...once, sideEffect: true },
        node: { retry: { max: 2 } },
        envelope: { policies: directives },
      },
    )
    expect((await post(received, { key, body: { error: { message: 'Out of paper' } } })).status).toBe(200)
    await until(app, runId, 'hitl_request')
    expect((await app.result(runId)).status).toBe('waiting')
    await answer(app, runId, 'approve')
    let accepts = 0
    for await (const event of app.watch(runId))
      if (event.type === 'attempt_accepted' && ++accepts === 2) break
    expect(later.received).toHaveLength(2)
    expect(await payloads(app, runId, 'attempt_settled')).toEqual([])
    await inOrder(app, runId)
  })

  it('spares an idempotent call: it is found when the run continues', async () => {
    const { app, runId, received, key, later } = await paused({})
    expect(await app.store.asks({ runId })).toEqual([])
    expect((await post(received, { key })).status).toBe(200)
    await app.resume(runId, { by: 'ann' })
    expect(await app.result(runId)).toMatchObject(completed)
    expect(later.received).toHaveLength(1)
    await inOrder(app, runId)
  })
})
