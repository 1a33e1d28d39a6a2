/** What the simulation taught the engine and a seed would show less plainly than a few lines. */
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { Draft, Envelope } from '../../src/index.ts'
import type { Dispatch, RuntimePolicy } from '../../src/types.ts'
import { systemClock } from '../seams/base.ts'
import { createEngine, type Engine, type EngineOptions, fact } from '../seams/engine.ts'
import { catalog, inputSchema, valueSchema } from '../sim/catalog.ts'
import { answerSchema } from '../sim/drafts.ts'

const engines: Engine[] = []
afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.close({ graceMs: 0 }))))

/** An engine whose only work is done by `work`, which returns the number to answer with. */
function open(
  work: (call: Dispatch) => number | Promise<number>,
  store = createMemoryStore(),
  more: Partial<EngineOptions> = {},
) {
  let ids = 0
  const engine = createEngine({
    store,
    catalog,
    owner: 'test',
    newId: () => `run-${++ids}`,
    dispatchers: [
      {
        kind: 'local',
        remote: false,
        async dispatch(call) {
          return {
            outcome: 'ok',
            output: { value: { v: await work(call) } },
            issues: [],
            usage: { calls: 1 },
          }
        },
      },
    ],
    ...more,
  })
  engine.open()
  engines.push(engine)
  return { store, engine }
}

const draft = (capabilityId: string): Draft => ({
  nodes: [
    {
      id: 'n0',
      capabilityId,
      retry: { max: 1 },
      contracts: { input: inputSchema, output: valueSchema },
      inputs: { a: { envelope: '/inputs/x' } },
    },
  ],
  edges: [],
  output: { properties: { n0: { node: 'n0', pointer: '/v' } } },
})

const envelope = (...runtime: readonly RuntimePolicy[]): Envelope => ({
  objective: 'Answer with a number',
  inputs: { x: 1 },
  constraints: {},
  outputContract: {
    schema: answerSchema,
    constraints: [{ constraintId: 'high', expr: { '>': [{ var: 'n0' }, 500] }, level: 'soft' }],
  },
  policies: { planner: {}, runtime },
  specialInstructions: [],
  metadata: {},
})

const onLowSatisfaction = (action: RuntimePolicy['action']): RuntimePolicy => ({
  id: 'low',
  enabled: true,
  trigger: { kind: 'onMetricBelow', metric: 'satisfaction', threshold: 1 },
  action,
})

describe('a policy on low satisfaction', () => {
  it('asks once, and the run ends when a person approves', async () => {
    const { engine } = open(() => 1)
    const runId = await engine.start(envelope(onLowSatisfaction({ type: 'hitl' })), { draft: draft('work') })
    const { openAsks } = await engine.settled(runId)
    const { asks } = await engine.state(runId)
    const [requestId = ''] = openAsks
    const valueHash = asks.get(requestId)?.valueHash ?? ''
    await engine.reply(runId, { requestId, valueHash, decision: 'approve', by: 'reviewer' })
    expect(await engine.settled(runId)).toMatchObject({ status: 'completed', openAsks: [] })
    expect((await engine.state(runId)).asks.size).toBe(1)
  })

  it('pauses once', async () => {
    const { engine } = open(() => 1)
    const runId = await engine.start(envelope(onLowSatisfaction({ type: 'pause' })), { draft: draft('work') })
    expect((await engine.settled(runId)).status).toBe('awaiting_human')
    await engine.resume(runId, { by: 'reviewer' })
    expect((await engine.settled(runId)).status).toBe('completed')
  })

  it('emits its event where it only reports', async () => {
    const { engine, store } = open(() => 1)
    const policy = onLowSatisfaction({ type: 'emit', event: 'low' })
    const runId = await engine.start(envelope(policy), { draft: draft('work') })
    await engine.settled(runId)
    const logged = (await store.read(runId, 0)).filter(({ type }) => type === 'log')
    expect(logged).toMatchObject([{ payload: { event: 'low' } }])
  })
})

it('refuses to fire a policy more often than it may act', async () => {
  const { engine } = open(() => new Promise(() => {}))
  const policy: RuntimePolicy = {
    id: 'bell',
    enabled: true,
    trigger: { kind: 'manual' },
    action: { type: 'emit', event: 'ring' },
    maxAttempts: 1,
  }
  const runId = await engine.start(envelope(policy), { draft: draft('work') })
  await engine.trigger(runId, { policyId: 'bell', by: 'reviewer' })
  const again = engine.trigger(runId, { policyId: 'bell', by: 'reviewer' })
  await expect(again).rejects.toMatchObject({ code: 'run/state' })
})

it('passes the condition that the last answer broke to the next attempt', async () => {
  const received: unknown[] = []
  const { engine } = open(({ bundle }) => {
    received.push(bundle.feedback)
    return received.length === 1 ? -1 : 1
  })
  const runId = await engine.start(envelope(), { draft: draft('checked') })
  expect((await engine.settled(runId)).status).toBe('completed')
  expect(received).toMatchObject([
    [],
    [{ source: 'validation', issues: [{ message: expect.stringContaining('Post-condition') }] }],
  ])
})

it('gives the leases of unfinished runs back when it closes, so that no process has to wait for them', async () => {
  const { engine, store } = open(() => new Promise(() => {}))
  const runId = await engine.start(envelope(), { draft: draft('work') })
  await engine.close({ graceMs: 0 })
  const claims = await store.claim({ owner: 'successor', leaseMs: 1000, limit: 10 })
  expect(claims.map((claim) => claim.runId)).toEqual([runId])
})

it('lets an attempt in flight end, and keeps what it brought, before it closes', async () => {
  let finish = (_value: number) => {}
  let leave = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  const { engine, store } = open(() => {
    leave()
    return new Promise((resolve) => {
      finish = resolve
    })
  })
  const runId = await engine.start(envelope(), { draft: draft('work') })
  await left
  const closed = engine.close()
  finish(7)
  await closed
  expect((await store.head(runId))?.status).toBe('completed')
})

it('says that a run exists only when it is stored: one that could not be stored can be started again', async () => {
  const memory = createMemoryStore()
  let fail = () => {}
  let held = true
  const create: typeof memory.create = (run) => {
    if (!held) return memory.create(run)
    held = false
    return new Promise((_, reject) => {
      fail = () => reject(new Error('The store is gone'))
    })
  }
  const { engine } = open(() => 1, { ...memory, create })
  const first = engine.start(envelope(), { runId: 'one', draft: draft('work') })
  const second = engine.start(envelope(), { runId: 'one', draft: draft('work') })
  fail()
  await expect(first).rejects.toThrow('The store is gone')
  expect(await second).toBe('one')
  expect((await engine.settled('one')).status).toBe('completed')
  const third = engine.start(envelope(), { runId: 'one', draft: draft('work') })
  await expect(third).rejects.toMatchObject({ code: 'run/exists' })
})

it('does not resume a run that ended while it was paused', async () => {
  const { engine } = open(() => 1)
  const pause: RuntimePolicy = {
    id: 'p',
    enabled: true,
    trigger: { kind: 'onStart' },
    action: { type: 'pause' },
  }
  const runId = await engine.start(envelope(pause), { draft: draft('work') })
  expect((await engine.settled(runId)).status).toBe('awaiting_human')
  await engine.cancel(runId, { by: 'reviewer' })
  expect((await engine.settled(runId)).status).toBe('cancelled')
  await expect(engine.resume(runId, { by: 'reviewer' })).rejects.toMatchObject({ code: 'run/state' })
})

describe('a run whose turn breaks down', () => {
  const two: Draft = {
    ...draft('work'),
    nodes: [...draft('work').nodes, { ...draft('work').nodes[0]!, id: 'n1' }],
    edges: [{ from: 'n0', to: 'n1' }],
  }

  /** A catalog that throws as soon as the first call was made: an unexpected mistake. */
  function broken() {
    let called = false
    const crashes: string[] = []
    const opened = open(
      () => {
        called = true
        return 1
      },
      createMemoryStore(),
      {
        leaseMs: 150,
        pollMs: 20,
        onCrash: (runId, cause) => crashes.push(`${runId}: ${String(cause)}`),
        catalog: {
          ...catalog,
          capability(capabilityId) {
            if (called) throw new Error('A mistake of ours')
            return catalog.capability(capabilityId)
          },
        },
      },
    )
    return { ...opened, crashes }
  }

  it('is reported to callers that wait for it, before or after, and continues in another process', async () => {
    const { engine, store, crashes } = broken()
    const runId = await engine.start(envelope(), { draft: two })
    const logged = { code: 'run/crashed', message: expect.stringContaining(`"${runId}"`) }
    await expect(engine.settled(runId)).rejects.toMatchObject(logged)
    await expect(engine.settled(runId)).rejects.toMatchObject(logged)
    expect(crashes[0]).toBe(`${runId}: Error: A mistake of ours`)
    await engine.close({ graceMs: 0 })
    const other = open(() => 2, store, { owner: 'other', pollMs: 20 })
    expect(await other.engine.settled(runId)).toMatchObject({
      status: 'completed',
      finished: { output: { n0: 2 } },
    })
  })
})

describe('an attempt that another process has settled', () => {
  it('is stopped as soon as this process is notified', async () => {
    let ahead = 0
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    let left = () => {}
    const inFlight = new Promise<void>((resolve) => {
      left = resolve
    })
    let stopped = () => {}
    const abandoned = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const { engine, store } = open(
      ({ signal }) => {
        left()
        return new Promise(() => signal.addEventListener('abort', () => stopped()))
      },
      createMemoryStore({ clock }),
      // It does not look after its leases by itself while the test lasts.
      { leaseMs: 3_600_000 },
    )
    const runId = await engine.start(envelope(), { draft: draft('work') })
    await inFlight
    ahead = 2 * 3_600_000
    const [claim] = await store.claim({ owner: 'another', leaseMs: 60_000, limit: 1, runId })
    const { planVersion, seq } = await engine.state(runId)
    const at = { now: clock.now(), planVersion }
    const output = { value: { v: 7 } }
    const end = { attempt: 1, outcome: 'ok', output, issues: [], usage: { calls: 1 } } as const
    await store.append({
      runId,
      expectedSeq: seq,
      events: [
        fact('attempt_end', end, { ...at, nodeId: 'n0' }),
        fact('node_complete', { attempt: 1, output, facetProvenance: none }, { ...at, nodeId: 'n0' }),
        fact('complete', { status: 'completed', output: { n0: 7 }, usage: { calls: 1 } }, at),
      ],
      head: { status: 'completed', planVersion },
      ...(claim && { lease: claim.lease }),
      release: true,
    })
    await abandoned
    expect(await engine.settled(runId)).toMatchObject({
      status: 'completed',
      finished: { output: { n0: 7 } },
    })
  })
})

const none = { input: [], output: [] }
