/** Promises about deleting runs: by erasure, at any age and with a verifiable row in the operations audit, and by pruning. */
import type { NewEvent } from '../../domain/event.ts'
import { verifyOperations } from '../../domain/ports/operations.ts'
import type { NewRun } from '../../domain/ports/store.ts'
import type { RunStatus } from '../../domain/status.ts'
import { logEvent, newRun, planEvent, runningHead, sampleAsk, sampleEvent, startEvent } from './sample.ts'
import type { Suite, SuiteStore } from './test-api.ts'

/** Tests of erasure: runs go whole at any age, others stay, and the operations audit keeps a verifiable row of each. */
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

  test('replaces references in all rows of runs that no process executes, if it can', async ({ store }) => {
    const beginnings = ['[sealed:v1.0a1b2c3d.']
    const create = (runId: string, value: string, more: Partial<NewRun> = {}) => {
      const output = { text: value, nested: { also: [value] } }
      const complete = sampleEvent('complete', { status: 'completed', output })
      const events = [startEvent(), planEvent(), logEvent(value), logEvent(value), complete]
      return store.create(newRun(runId, { events, head: { status: 'completed', planVersion: 1 }, ...more }))
    }
    await create('small', `with ${beginnings}x]`)
    await create('large', `${beginnings}x]`.repeat(500), { tenant: 't-2' })
    await create('newest', '[sealed:v1.ffffffff.x]')
    await create('other', '[sealed:v1_0a1b2c3d.x] 100%')
    const claim = { owner: 'p-1', leaseMs: 60_000 }
    await create('held', `${beginnings}x]`, { head: runningHead, claim })
    if (store.replaceReferences === undefined) return
    const replace = (runId: string, reference: string) =>
      reference === '[sealed:v1.0a1b2c3d.x]' ? `[sealed:v1.ffffffff.${runId[0]}]` : 'wrong'
    const read = async (runId: string) =>
      JSON.stringify([await store.read(runId, 0), await store.output(runId), await store.head(runId)])
    const before = { large: await read('large'), newest: await read('newest'), other: await read('other') }
    const request = { beginnings, replace }
    const would = { runs: 2, underWay: 1, tenants: { 't-1': 1, 't-2': 1 } }
    expect(await store.replaceReferences({ ...request, dryRun: true })).toEqual(would)
    expect(await read('large'), 'looking changes nothing').toBe(before.large)
    const fail = () => {
      throw new TypeError('interrupted')
    }
    const failing = store.replaceReferences({ ...request, tenant: 't-2', replace: fail })
    expect(await failing.catch(({ message }: Error) => message)).toBe('interrupted')
    expect(await read('large'), 'a run is changed as a whole').toBe(before.large)
    const one = { runs: 1, underWay: 0, tenants: { 't-2': 1 } }
    expect(await store.replaceReferences({ ...request, tenant: 't-2' })).toEqual(one)
    expect(await store.replaceReferences(request)).toEqual({ ...would, runs: 1, tenants: { 't-1': 1 } })
    expect(await read('large')).toBe(before.large.replaceAll(`${beginnings}x]`, '[sealed:v1.ffffffff.l]'))
    const small = await read('small')
    expect([small.includes('with [sealed:v1.ffffffff.s]'), small.includes('0a1b2c3d')]).toEqual([true, false])
    expect([await read('newest'), await read('other')]).toEqual([before.newest, before.other])
    expect((await read('held')).includes(`${beginnings}x]`), 'left for later').toBe(true)
    expect(await store.replaceReferences(request)).toEqual({ runs: 0, underWay: 1, tenants: {} })
    const whole = (keyId: string) => `[sealed:v1.${keyId}.${'x'.repeat(40)}]`
    await create('several', `${whole('0a1b2c3d')} and ${whole('ffffffff')} ${whole('ffffffff')}`)
    await create('more', whole('ffffffff').repeat(300))
    await store.records.once.take('answer', { body: whole('eeeeeeee'), keepMs: 60_000 })
    const counted = await store.replaceReferences({ ...request, dryRun: true, knownKeys: ['0a1b2c3d', '1'] })
    expect(counted.unknownKeys).toEqual([
      { keyId: 'eeeeeeee', runs: 0, rows: 1 },
      { keyId: 'ffffffff', runs: 2, rows: 0 },
    ])
    // The values of the earlier references are gone: nothing is left to prune.
    const pruned = await store.prune({ before: 0 })
    expect(pruned.values).toBe(0)
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

/** After every timestamp. */
const later = Number.MAX_SAFE_INTEGER

/** Tests of pruning: old finished runs are deleted with all their rows, and everything else is unchanged. */
export function pruneSuite({ test, expect }: Suite): void {
  const audit = { prev: '', subjectHash: 'v', hash: 'h' }
  const life = (runId: string): NewEvent[] => [
    startEvent(),
    planEvent(),
    sampleEvent('attempt_start', makeAttempt(runId), { nodeId: 'write' }),
    sampleEvent('hitl_request', { ...sampleAsk(`${runId}:ask`, 'write'), audit }),
    sampleEvent('complete', { status: 'completed', output: { runId } }),
  ]
  const makeAttempt = (key: string) =>
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
