/** Tests of leases: one process at a time executes a run, and a process that lost its lease cannot write (fencing). */
import type { Lease, Store } from '../../domain/ports/store.ts'
import { logEvent, newRun, runningHead, sampleEvent, startEvent } from './sample.ts'
import type { Suite } from './test-api.ts'

/** Long enough for a database on a busy machine to answer several times. */
const leaseMs = 400
const waiting = { status: 'awaiting_hitl', planVersion: 1 } as const

export function leaseSuite({ test, expect }: Suite): void {
  const claim = async (store: Store, owner: string, runId?: string) =>
    store.claim({ owner, leaseMs, limit: 10, ...(runId !== undefined && { runId }) })
  const append = async (store: Store, expectedSeq: number, lease: Lease, release = false) =>
    store.append({ runId: 'r', expectedSeq, events: [logEvent(1)], head: runningHead, lease, release })

  test('counts what is due and who has leases', async ({ store, elapse }) => {
    if (store.inspectQueue === undefined) return
    const none = await store.inspectQueue()
    expect(none).toEqual({ now: none.now, runs: {}, due: 0, oldestDue: [], leases: [] })
    const begin = (runId: string, head: object) =>
      store.create(newRun(runId, { tenant: 't-1', head: { ...runningHead, ...head } }))
    await begin('early', { wakeAt: 1 })
    await begin('late', { wakeAt: 2 })
    await begin('later', { wakeAt: 9_999_999_999_999 })
    await store.create(newRun('asks', { head: { status: 'awaiting_hitl', planVersion: 1 } }))
    await store.create(newRun('over', { head: { status: 'completed', planVersion: 1 } }))
    const due = await store.inspectQueue()
    expect(due.runs).toEqual({ running: 3, awaiting_hitl: 1 })
    expect([due.due, due.leases]).toEqual([2, []])
    expect(due.oldestDue).toEqual([
      { runId: 'early', tenant: 't-1', dueAt: 1 },
      { runId: 'late', tenant: 't-1', dueAt: 2 },
    ])
    await store.claim({ owner: 'b', leaseMs, limit: 1, runId: 'late' })
    await elapse(leaseMs + 1)
    await store.claim({ owner: 'a', leaseMs: 60_000, limit: 1, runId: 'early' })
    const held = await store.inspectQueue()
    expect([held.due, held.oldestDue]).toEqual([0, []])
    expect(held.leases).toEqual([
      { owner: 'a', runs: 1, expired: 0 },
      { owner: 'b', runs: 1, expired: 1 },
    ])
  })

  test('assigns due runs to one owner', async ({ store, elapse }) => {
    const created = await store.create(newRun('r'))
    expect(created).toBe(true)
    const createdAt = (await store.head('r'))?.createdAt ?? 0
    await store.create(newRun('later', { head: { ...runningHead, wakeAt: createdAt + 60_000 } }))
    await store.create(newRun('never', { head: waiting }))
    await store.create(newRun('over', { head: { status: 'completed', planVersion: 1, wakeAt: 0 } }))
    // However slow the machine is, neither this lease nor the wait of 'later' ends during the test.
    const long = { leaseMs: 60_000, limit: 10 }
    expect(await store.claim({ owner: 'a', ...long })).toEqual([
      { runId: 'r', tenant: 't-1', lease: { owner: 'a', epoch: 1 } },
    ])
    expect(await store.claim({ owner: 'b', ...long })).toEqual([])
    await store.create(newRun('soon', { head: { ...runningHead, wakeAt: createdAt + 300 } }))
    await elapse(301)
    expect((await claim(store, 'b', 'soon')).map(({ runId }) => runId)).toEqual(['soon'])
  })

  test('claims the given run, the earliest run first, and at most the limit', async ({ store }) => {
    for (const [index, runId] of ['x', 'y', 'z'].entries()) {
      await store.create(newRun(runId, { head: { ...runningHead, wakeAt: 30 - index } }))
    }
    expect((await claim(store, 'a', 'y')).map(({ runId }) => runId)).toEqual(['y'])
    expect(await claim(store, 'a', 'none')).toEqual([])
    const [first, ...others] = await store.claim({ owner: 'a', leaseMs, limit: 1 })
    expect(first?.runId).toBe('z')
    expect(others).toEqual([])
  })

  test('skips excluded runs', async ({ store }) => {
    for (const [index, runId] of ['x', 'y', 'z'].entries()) {
      await store.create(newRun(runId, { head: { ...runningHead, wakeAt: 10 + index } }))
    }
    const taken = async (except: readonly string[]) =>
      (await store.claim({ owner: 'a', leaseMs, limit: 10, except })).map(({ runId }) => runId)
    expect(await store.nextWake({ except: ['x'] })).toBe(11)
    expect(await store.nextWake({ except: ['x', 'y', 'z', 'none'] })).toBe(undefined)
    expect(await taken(['x', 'y', 'z'])).toEqual([])
    expect((await taken(['x'])).sort()).toEqual(['y', 'z'])
    expect(await store.nextWake({ except: [] })).toBe(10)
    expect(await taken([])).toEqual(['x'])
  })

  test('skips runs of excluded tenants, and of excluded runs besides', async ({ store }) => {
    for (const [index, runId] of ['x', 'y', 'z'].entries())
      await store.create(
        newRun(runId, { tenant: `t-${index}`, head: { ...runningHead, wakeAt: 10 + index } }),
      )
    const taken = async (left: { except?: readonly string[]; exceptTenants: readonly string[] }) =>
      (await store.claim({ owner: 'a', leaseMs, limit: 10, ...left })).map(({ runId }) => runId)
    expect(await taken({ exceptTenants: ['t-0', 't-1', 't-2'] })).toEqual([])
    expect(await taken({ except: ['y'], exceptTenants: ['t-0', 'none'] })).toEqual(['z'])
    expect((await taken({ exceptTenants: [] })).sort()).toEqual(['x', 'y'])
  })

  test('claims runs of high priority first, and those of low priority last', async ({ store }) => {
    const order = ['low', 'normal', 'high', 'low', 'normal', 'high']
    for (const [index, priority] of order.entries()) {
      const events = [startEvent('Hurry', { constraints: { priority } })]
      await store.create(
        newRun(`${priority}-${index}`, { events, head: { ...runningHead, wakeAt: 10 + index } }),
      )
    }
    const next = async (limit: number) =>
      (await store.claim({ owner: 'a', leaseMs: 60_000, limit })).map(({ runId }) => runId)
    expect((await next(3)).sort()).toEqual(['high-2', 'high-5', 'normal-1'])
    expect(await next(1)).toEqual(['normal-4'])
    expect(await next(1)).toEqual(['low-0'])
    expect(await next(10)).toEqual(['low-3'])
    expect((await store.head('high-2'))?.priority).toBe('high')
  })

  test('claims runs with a placement only for processes that serve it', async ({ store }) => {
    for (const [index, region] of ['eu', 'us', undefined].entries()) {
      const events = [
        startEvent('Stay', { constraints: region === undefined ? {} : { placement: { region } } }),
      ]
      await store.create(newRun(region ?? 'any', { events, head: { ...runningHead, wakeAt: 10 + index } }))
    }
    const wake = (placements: readonly string[]) => store.nextWake({ placements })
    const next = async (placements: readonly string[]) =>
      (await store.claim({ owner: 'a', leaseMs: 60_000, limit: 10, placements })).map(({ runId }) => runId)
    expect([await wake([]), await wake(['region=us']), await store.nextWake()]).toEqual([12, 11, 10])
    expect(await next([])).toEqual(['any'])
    expect(await next(['region=asia', 'zone=1'])).toEqual([])
    expect(await store.claim({ owner: 'a', leaseMs: 60_000, limit: 1, runId: 'eu', placements: [] })).toEqual(
      [],
    )
    expect(await next(['region=us', 'region=eu'])).toEqual(['eu', 'us'])
    expect((await store.head('eu'))?.placement).toBe('region=eu')
  })

  test('lets any process end a cancelled run', async ({ store }) => {
    const envelope = { constraints: { placement: { region: 'nowhere' } } }
    for (const runId of ['kept', 'cancelled'])
      await store.create(newRun(runId, { events: [startEvent('Stay', envelope)] }))
    await store.append({
      runId: 'cancelled',
      expectedSeq: 1,
      events: [sampleEvent('cancel_requested', { by: 'ann' })],
      head: runningHead,
    })
    const claims = await store.claim({ owner: 'a', leaseMs: 60_000, limit: 10, placements: ['region=eu'] })
    expect(claims.map(({ runId }) => runId)).toEqual(['cancelled'])
    expect((await store.head('kept'))?.placement).toBe('region=nowhere')
  })

  test('never assigns one run to two of eight concurrent claims', async ({ store }) => {
    const ids = Array.from({ length: 12 }, (_, index) => `r-${index}`)
    await Promise.all(ids.map((id) => store.create(newRun(id))))
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        store.claim({ owner: `o-${index}`, leaseMs: 60_000, limit: 5 }),
      ),
    )
    const given = claims.flat().map(({ runId }) => runId)
    expect(new Set(given).size).toBe(given.length)
    const rest = await store.claim({ owner: 'last', leaseMs: 60_000, limit: 100 })
    expect([...given, ...rest.map(({ runId }) => runId)].sort()).toEqual([...ids].sort())
  })

  test('creates a run with a lease', async ({ store }) => {
    const lease = await store.create(newRun('r', { claim: { owner: 'a', leaseMs } }))
    expect(lease).toEqual({ owner: 'a', epoch: 1 })
    expect(await claim(store, 'b')).toEqual([])
    expect((await append(store, 1, lease as Lease)).kind).toBe('appended')
  })

  test('lets another owner claim a run when its lease expires, and rejects the old owner', async ({
    store,
    elapse,
  }) => {
    const old = (await store.create(newRun('r', { claim: { owner: 'a', leaseMs } }))) as Lease
    await elapse(leaseMs + 1)
    expect((await append(store, 1, old)).kind, 'not claimed yet').toBe('appended')
    const [taken] = await claim(store, 'b')
    expect(taken).toEqual({ runId: 'r', tenant: 't-1', lease: { owner: 'b', epoch: 2 } })
    expect(await append(store, 2, old)).toEqual({ kind: 'fenced' })
    expect(await append(store, 99, old), 'fenced before conflict').toEqual({ kind: 'fenced' })
    expect((await append(store, 2, taken?.lease as Lease)).kind).toBe('appended')
    await store.release('r', old)
    expect((await append(store, 3, taken?.lease as Lease)).kind, 'an old lease releases nothing').toBe(
      'appended',
    )
  })

  test('claims a run with an expired lease even if the run is not due', async ({ store, elapse }) => {
    const head = { ...runningHead, wakeAt: Number.MAX_SAFE_INTEGER }
    await store.create(newRun('r', { head, claim: { owner: 'a', leaseMs } }))
    expect(await claim(store, 'b')).toEqual([])
    await elapse(leaseMs + 1)
    expect((await claim(store, 'b')).length).toBe(1)
  })

  test('rejects an older epoch of the same owner', async ({ store, elapse }) => {
    const first = (await store.create(newRun('r', { claim: { owner: 'a', leaseMs } }))) as Lease
    await elapse(leaseMs + 1)
    const [again] = await claim(store, 'a')
    expect(again?.lease).toEqual({ owner: 'a', epoch: 2 })
    expect(await append(store, 1, first)).toEqual({ kind: 'fenced' })
  })

  test('releases a lease alone or with an append', async ({ store }) => {
    const lease = (await store.create(newRun('r', { claim: { owner: 'a', leaseMs } }))) as Lease
    expect((await append(store, 1, lease, true)).kind).toBe('appended')
    expect(await append(store, 2, lease)).toEqual({ kind: 'fenced' })
    const [next] = await claim(store, 'b')
    expect(next?.lease.epoch).toBe(2)
    await store.release('r', next?.lease as Lease)
    expect((await claim(store, 'c')).length).toBe(1)
  })

  test('accepts an append without a lease', async ({ store }) => {
    const lease = (await store.create(newRun('r', { claim: { owner: 'a', leaseMs } }))) as Lease
    const reply = { runId: 'r', expectedSeq: 1, events: [logEvent('reply')], head: runningHead }
    expect((await store.append(reply)).kind).toBe('appended')
    expect((await append(store, 2, lease)).kind, 'the owner keeps its lease').toBe('appended')
  })

  test('renews the given leases of an owner, and returns the renewed ones', async ({ store, elapse }) => {
    for (const runId of ['forgotten', 'x', 'y'])
      await store.create(newRun(runId, { claim: { owner: 'a', leaseMs } }))
    await store.create(newRun('z', { claim: { owner: 'b', leaseMs } }))
    const runIds = ['x', 'y', 'z', 'unknown']
    await store.append({ runId: 'y', expectedSeq: 1, events: [logEvent('reply')], head: runningHead })
    const renewed = await store.renew({ owner: 'a', leaseMs: 60_000, runIds })
    const sorted = [...renewed].sort((one, other) => (one.runId < other.runId ? -1 : 1))
    expect(sorted, 'with the last sequence number').toEqual([
      { runId: 'x', seq: 1 },
      { runId: 'y', seq: 2 },
    ])
    await elapse(leaseMs + 1)
    expect((await claim(store, 'c')).map(({ runId }) => runId).sort()).toEqual(['forgotten', 'z'])
    expect(await store.renew({ owner: 'b', leaseMs, runIds: ['z'] })).toEqual([])
  })

  test('renews any number of leases', async ({ store, elapse }) => {
    await store.create(newRun('last', { claim: { owner: 'a', leaseMs } }))
    const runIds = [...Array.from({ length: 70_000 }, (_, index) => `unknown-${index}`), 'last']
    expect(await store.renew({ owner: 'a', leaseMs: 60_000, runIds })).toEqual([{ runId: 'last', seq: 1 }])
    await elapse(leaseMs + 1)
    expect(await claim(store, 'b')).toEqual([])
  })

  test('keeps a renewed lease after further appends', async ({ store, elapse }) => {
    const lease = (await store.create(newRun('r', { claim: { owner: 'a', leaseMs } }))) as Lease
    expect(await store.renew({ owner: 'a', leaseMs: 60_000, runIds: ['r'] })).toEqual([
      { runId: 'r', seq: 1 },
    ])
    expect((await append(store, 1, lease)).kind).toBe('appended')
    await elapse(leaseMs + 1)
    expect(await claim(store, 'b'), 'renewed, so not available').toEqual([])
    expect((await append(store, 2, lease)).kind).toBe('appended')
  })

  test('returns the time when the next claim can succeed', async ({ store }) => {
    expect(await store.nextWake()).toBe(undefined)
    await store.create(newRun('never', { head: waiting }))
    expect(await store.nextWake()).toBe(undefined)
    await store.create(newRun('later', { head: { ...runningHead, wakeAt: 9_999_999_999_999 } }))
    expect(await store.nextWake()).toBe(9_999_999_999_999)
    await store.create(newRun('held', { claim: { owner: 'a', leaseMs: 60_000 } }))
    const until = (await store.nextWake()) ?? 0
    const created = (await store.head('held'))?.createdAt ?? 0
    expect(until).toBe(created + 60_000)
    await store.create(newRun('now', { head: { ...runningHead, wakeAt: 5 } }))
    expect(await store.nextWake()).toBe(5)
  })
}
