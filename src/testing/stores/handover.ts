/** Tests of taking over runs, for stores that several processes share: only a lease that stays as it was seen changes hands. */
import type { Handover } from '../../domain/ports/queue/handover.ts'
import { logEvent, newRun, runningHead } from './sample.ts'
import type { Suite } from './test-api.ts'

const leaseMs = 60_000

export function handoverSuite({ test, expect }: Suite): void {
  const takeOver = (handover: Handover, from: Parameters<Handover['takeOver']>[0]['from']) =>
    handover.takeOver({ runId: 'r', owner: 'q/b', leaseMs, from })

  test('takes a run over at once, and fences the former owner', async ({ store }) => {
    const { handover } = store
    if (handover === undefined) return
    await store.create(newRun('r'))
    expect(await handover.findLease('r')).toBe(undefined)
    const [claim] = await store.claim({ owner: 'q/a', leaseMs, limit: 1, runId: 'r' })
    const lease = claim?.lease ?? { owner: '', epoch: 0 }
    const held = await handover.findLease('r')
    expect([held?.owner, held?.epoch]).toEqual([lease.owner, lease.epoch])
    if (held === undefined) return
    const taken = await takeOver(handover, held)
    expect(taken).toEqual({ runId: 'r', tenant: 't-1', lease: { owner: 'q/b', epoch: lease.epoch + 1 } })
    const append = { runId: 'r', expectedSeq: 1, events: [logEvent(1)], head: runningHead }
    expect(await store.append({ ...append, lease })).toEqual({ kind: 'fenced' })
    expect(await store.renew({ owner: 'q/a', leaseMs, runIds: ['r'] })).toEqual([])
    expect(await takeOver(handover, held), 'the lease is another one by now').toBe(undefined)
    if (taken) expect((await store.append({ ...append, lease: taken.lease })).kind).toBe('appended')
  })

  test('leaves a run to an owner that has renewed or released its lease', async ({ store }) => {
    const { handover } = store
    if (handover === undefined) return
    await store.create(newRun('r'))
    const [claim] = await store.claim({ owner: 'q/a', leaseMs, limit: 1, runId: 'r' })
    const held = await handover.findLease('r')
    expect([held?.owner, claim?.lease.owner]).toEqual(['q/a', 'q/a'])
    if (held === undefined || claim === undefined) return
    await store.renew({ owner: 'q/a', leaseMs: leaseMs + 1, runIds: ['r'] })
    expect(await takeOver(handover, held)).toBe(undefined)
    const renewed = await handover.findLease('r')
    await store.release('r', claim.lease)
    if (renewed) expect(await takeOver(handover, renewed)).toBe(undefined)
    expect(await handover.findLease('r')).toBe(undefined)
  })

  test('lists the runs that are late, without the ones that are executed or wait', async ({
    store,
    elapse,
  }) => {
    const { handover } = store
    if (handover === undefined) return
    await store.create(newRun('late', { head: { ...runningHead, wakeAt: 1 } }))
    await store.create(newRun('mine', { head: { ...runningHead, wakeAt: 2 } }))
    await store.create(newRun('asks', { head: { status: 'awaiting_hitl', planVersion: 1 } }))
    await store.claim({ owner: 'q/a', leaseMs, limit: 1, runId: 'mine' })
    await store.claim({ owner: 'q/a', leaseMs: 200, limit: 1, runId: 'late' })
    expect(await handover.listLate({ lateMs: 0, limit: 10 })).toEqual([])
    await elapse(301)
    const late = await handover.listLate({ lateMs: 0, limit: 10 })
    expect(late.map(({ runId }) => runId)).toEqual(['late'])
    expect(await handover.listLate({ lateMs: 60_000, limit: 10 })).toEqual([])
  })
}
