/** Tests of pruning: old finished runs are deleted with all their rows, and everything else is unchanged. */
import type { NewEvent } from '../../domain/event.ts'
import type { RunStatus } from '../../domain/status.ts'
import { logEvent, newRun, planEvent, runningHead, sampleAsk, sampleEvent, startEvent } from './sample.ts'
import type { Suite, SuiteStore } from './test-api.ts'

/** After every timestamp. */
const later = Number.MAX_SAFE_INTEGER

export function pruneSuite({ test, expect }: Suite): void {
  const audit = { prev: '', subjectHash: 'v', hash: 'h' }
  const life = (runId: string): NewEvent[] => [
    startEvent(),
    planEvent(),
    sampleEvent('attempt_start', attemptOf(runId), { nodeId: 'write' }),
    sampleEvent('hitl_request', { ...sampleAsk(`${runId}:ask`, 'write'), audit }),
    sampleEvent('complete', { status: 'completed', output: { runId } }),
  ]
  const attemptOf = (key: string) =>
    ({ attempt: 1, capabilityId: 'c', idempotencyKey: key, idempotent: true, inputs: {} }) as const
  const make = ({ store }: SuiteStore, runId: string, status: RunStatus, tenant = 't-1') =>
    store.create(newRun(runId, { tenant, events: life(runId), head: { status, planVersion: 1 } }))
  const ids = async ({ store }: SuiteStore) =>
    (await store.runs({ limit: 10_000 })).map(({ runId }) => runId).sort()

  test('deletes finished runs with all their rows, and no others', async (made) => {
    const { store } = made
    const statuses = ['pending', 'running', 'awaiting_hitl', 'awaiting_human'] as const
    for (const status of statuses) await make(made, status, status)
    for (const status of ['completed', 'failed', 'cancelled'] as const) await make(made, status, status)
    expect(await store.prune({ before: later, dryRun: true })).toEqual({ runs: 3, events: 15, values: 0 })
    expect((await ids(made)).length, 'a dry run deletes nothing').toBe(7)
    expect(await store.prune({ before: later })).toEqual({ runs: 3, events: 15, values: 0 })
    expect(await ids(made)).toEqual([...statuses].sort())
    for (const runId of ['completed', 'failed', 'cancelled']) {
      expect(await store.head(runId)).toBe(undefined)
      expect(await store.output(runId)).toBe(undefined)
      expect(await store.ask(`${runId}:ask`)).toBe(undefined)
      const left = [
        await store.read(runId, 0),
        await store.nodes(runId),
        await store.snapshots(runId),
        await store.spans(runId),
        await store.audit(runId),
        await store.messages(runId),
        await store.asks({ runId }),
      ]
      expect(left).toEqual([[], [], [], [], [], [], []])
    }
    expect((await store.read('running', 0)).length).toBe(5)
    expect((await store.messages('running')).length).toBe(1)
    expect((await store.ask('running:ask'))?.runId).toBe('running')
    expect((await store.snapshots('running')).length).toBe(2)
    expect(await store.prune({ before: later })).toEqual({ runs: 0, events: 0, values: 0 })
    expect(await make(made, 'failed', 'running'), 'the id is free again').toBe(true)
    expect((await store.head('failed'))?.seq).toBe(5)
  })

  test('selects runs by the time of their last change and by tenant', async (made) => {
    const { store, elapse } = made
    await make(made, 'old', 'completed')
    await make(made, 'other', 'completed', 't-2')
    await make(made, 'late', 'running')
    await elapse(20)
    const end = sampleEvent('complete', { status: 'failed' })
    const head = { status: 'failed', planVersion: 1 } as const
    await store.append({ runId: 'late', expectedSeq: 5, events: [end], head })
    const before = (await store.head('late'))?.updatedAt ?? 0
    expect((await store.prune({ before: (await store.head('old'))?.updatedAt ?? 0 })).runs).toBe(0)
    expect((await store.prune({ before, tenant: 't-2', dryRun: true })).runs).toBe(1)
    expect((await store.prune({ before, tenant: 't-1' })).runs).toBe(1)
    expect(await ids(made)).toEqual(['late', 'other'])
    expect((await store.prune({ before })).runs).toBe(1)
    expect(await ids(made)).toEqual(['late'])
  })

  test('keeps a large value while a run refers to it', async (made) => {
    const { store, countValues } = made
    const shared = { inner: 'x'.repeat(20_000), text: 'y'.repeat(20_000) }
    const alone = 'z'.repeat(20_000)
    const head = { status: 'completed', planVersion: 1 } as const
    const output = (value: object) => [
      planEvent(),
      sampleEvent('complete', { status: 'completed', output: value as never }),
    ]
    await store.create(newRun('a', { events: output({ shared, alone }), head }))
    await store.create(newRun('b', { events: [logEvent(shared)], head: runningHead }))
    const before = countValues === undefined ? 0 : await countValues()
    const would = await store.prune({ before: later, dryRun: true })
    const went = await store.prune({ before: later })
    expect(went).toEqual(would)
    expect(went.runs).toBe(1)
    const [event] = await store.read('b', 0)
    expect(JSON.stringify(event?.payload)).toBe(JSON.stringify(logEvent(shared).payload))
    if (countValues !== undefined) {
      expect(went.values).toBeGreaterThan(0)
      expect(await countValues()).toBe(before - went.values)
    }
    await store.append({ runId: 'b', expectedSeq: 1, events: [logEvent({ alone })], head })
    expect(JSON.stringify((await store.read('b', 1))[0]?.payload), 'written again').toBe(
      JSON.stringify(logEvent({ alone }).payload),
    )
    await store.prune({ before: later })
    if (countValues !== undefined) expect(await countValues()).toBe(0)
  })

  test('loses no value of a concurrent append', async ({ store }) => {
    const large = (index: number) => ({ text: `${index}`.repeat(10_000) })
    const head = { status: 'completed', planVersion: 1 } as const
    await store.create(newRun('b'))
    let seq = 1
    for (let round = 0; round < 15; round++) {
      await store.create(newRun(`a-${round}`, { events: [logEvent(large(round))], head }))
      const events = [logEvent(large(round))]
      const append = store.append({ runId: 'b', expectedSeq: seq, events, head: runningHead })
      const [pruned] = await Promise.all([store.prune({ before: later }), append])
      expect(pruned.runs).toBe(1)
      seq += 1
    }
    const events = await store.read('b', 1)
    const texts = events.map(({ payload }) => JSON.stringify(payload))
    expect(texts).toEqual(
      Array.from({ length: 15 }, (_, round) => JSON.stringify(logEvent(large(round)).payload)),
    )
  })

  test('deletes many runs in batches, and returns their number', async (made) => {
    const { store } = made
    const many = Array.from({ length: 620 }, (_, index) => `r-${index}`)
    const head = (index: number) =>
      ({ status: index % 31 === 0 ? 'running' : 'completed', planVersion: 0 }) as const
    await Promise.all(many.map((runId, index) => store.create(newRun(runId, { head: head(index) }))))
    expect(await store.prune({ before: later })).toEqual({ runs: 600, events: 600, values: 0 })
    expect((await ids(made)).length).toBe(20)
  })

  test('supports concurrent pruning', async (made) => {
    const many = Array.from({ length: 40 }, (_, index) => `r-${index}`)
    for (const runId of many) await make(made, runId, 'completed')
    const [one, other] = await Promise.all([
      made.store.prune({ before: later }),
      made.store.prune({ before: later }),
    ])
    expect(one.runs + other.runs).toBe(40)
    expect(await ids(made)).toEqual([])
  })
}
