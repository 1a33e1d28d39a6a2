/** Promises about erasure: runs go whole at any age, others stay, and the operations audit keeps a verifiable row of each. */
import type { NewEvent } from '../../domain/event.ts'
import { verifyOperations } from '../../domain/ports/operations.ts'
import type { RunStatus } from '../../domain/status.ts'
import { logEvent, newRun, planEvent, sampleAsk, sampleEvent, startEvent } from './sample.ts'
import type { Suite, SuiteStore } from './test-api.ts'

export function eraseSuite({ test, expect }: Suite): void {
  const audit = { prev: '', subjectHash: 'v', hash: 'chain head' }
  const life = (runId: string): NewEvent[] => [
    startEvent(),
    planEvent(),
    sampleEvent('hitl_request', { ...sampleAsk(`${runId}:ask`, 'write'), audit }),
    sampleEvent('complete', { status: 'completed', output: { runId } }),
  ]
  const make = ({ store }: SuiteStore, runId: string, status: RunStatus = 'completed') =>
    store.create(newRun(runId, { events: life(runId), head: { status, planVersion: 1 } }))
  const given = { by: 'ann', receiptId: 'receipt' }

  test('erases a finished run with all its rows and keeps a row of it in a valid chain', async (made) => {
    const { store } = made
    for (const runId of ['a', 'b']) await make(made, runId)
    await make(made, 'waits', 'awaiting_hitl')
    const { once, operations } = store.records
    await once.take('about a', { body: { answer: { body: { runId: 'a' } } }, keepMs: 60_000 })
    await once.take('about b', { body: { answer: { body: { runId: 'b' } } }, keepMs: 60_000 })
    const request = { ...given, runIds: ['a', 'a', 'waits', 'none'] }
    const would = await store.erase({ ...request, dryRun: true })
    const run = { runId: 'a', tenant: 't-1', status: 'completed', events: 4, auditHead: 'chain head' }
    expect([would.runs, would.events, would.answers]).toEqual([[run], 4, 1])
    expect((await store.head('a'))?.seq, 'looking deletes nothing').toBe(4)
    expect((await operations.list({})).length).toBe(0)
    const { residue: _, ...went } = await store.erase(request)
    const { residue: __, ...expected } = would
    expect(went).toEqual(expected)
    const left = [
      await store.head('a'),
      await store.output('a'),
      await store.ask('a:ask'),
      await store.read('a', 0),
      await store.nodes('a'),
      await store.snapshots('a'),
      await store.spans('a'),
      await store.audit('a'),
      await store.messages('a'),
      await once.look('about a'),
    ]
    expect(left).toEqual([undefined, undefined, undefined, [], [], [], [], [], [], undefined])
    expect((await store.read('b', 0)).length).toBe(4)
    expect((await store.head('waits'))?.status).toBe('awaiting_hitl')
    expect((await once.look('about b')) === undefined).toBe(false)
    const [row] = await operations.list({ subject: 'a' })
    expect([row?.action, row?.by, row?.tenant]).toEqual(['run.erased', 'ann', 't-1'])
    expect(row?.details).toEqual({
      receiptId: 'receipt',
      status: 'completed',
      events: 4,
      auditHead: 'chain head',
    })
    expect((await verifyOperations(operations)).broken).toEqual([])
    expect((await store.erase(request)).runs, 'nothing is left to erase').toEqual([])
  })

  test('erases large values of its own, and keeps values that another run uses', async (made) => {
    const { store, countValues } = made
    const head = { status: 'completed', planVersion: 1 } as const
    const [shared, alone] = ['x'.repeat(20_000), 'z'.repeat(20_000)]
    await store.create(newRun('a', { events: [logEvent({ shared, alone })], head }))
    await store.create(newRun('b', { events: [logEvent({ shared })], head }))
    const before = (await countValues?.()) ?? 0
    const would = await store.erase({ ...given, runIds: ['a'], dryRun: true })
    const went = await store.erase({ ...given, runIds: ['a'] })
    expect([went.values, went.sharedValues]).toEqual([would.values, would.sharedValues])
    const [event] = await store.read('b', 0)
    expect(JSON.stringify(event?.payload)).toBe(JSON.stringify(logEvent({ shared }).payload))
    if (countValues === undefined) return
    expect(went.sharedValues).toBeGreaterThan(0)
    expect(await countValues()).toBe(before - went.values)
    await store.erase({ ...given, runIds: ['b'] })
    expect(await countValues()).toBe(0)
  })

  test('finds the runs about a subject, in one tenant or in all', async ({ store }) => {
    const about = (subject: unknown, filler = ''): NewEvent => {
      const event = startEvent()
      if (event.type !== 'start') throw new TypeError('not a start')
      const metadata = { subject, filler } as never
      return { ...event, payload: { ...event.payload, envelope: { ...event.payload.envelope, metadata } } }
    }
    const create = (runId: string, event: NewEvent, tenant = 't-1') =>
      store.create(newRun(runId, { tenant, events: [event] }))
    const jane = `jane_100%!"\\ü@example.com`
    await create('alone', about(jane))
    await create('several', about(['joe', jane]))
    await create('large', about(jane, 'x'.repeat(20_000)), 't-2')
    await create('another', about(`${jane}x`))
    await create('not', about({ name: jane }))
    await create('number', about(4711))
    await create('none', startEvent())
    expect(await store.findRunsAbout({ subject: jane })).toEqual(['alone', 'large', 'several'])
    expect(await store.findRunsAbout({ subject: jane, tenant: 't-1' })).toEqual(['alone', 'several'])
    expect(await store.findRunsAbout({ subject: '4711' })).toEqual(['number'])
    expect(await store.findRunsAbout({ subject: 'unknown' })).toEqual([])
  })

  test('prunes by status and leaves tenants out', async (made) => {
    const { store } = made
    const before = Number.MAX_SAFE_INTEGER
    for (const status of ['completed', 'failed', 'cancelled'] as const) await make(made, status, status)
    await store.create(newRun('other', { tenant: 't-2', head: { status: 'failed', planVersion: 1 } }))
    const failed = { before, status: ['failed'], exceptTenants: ['t-2'] } as const
    expect((await store.prune({ ...failed, dryRun: true })).runs).toBe(1)
    expect((await store.prune(failed)).runs).toBe(1)
    expect((await store.runs({})).map(({ runId }) => runId).sort()).toEqual([
      'cancelled',
      'completed',
      'other',
    ])
  })
}
