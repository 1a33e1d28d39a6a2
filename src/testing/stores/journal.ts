/** Tests of the journal and of the messages between people and runs: acknowledged writes are stored once and in order. */
import type { NewEvent } from '../../domain/event.ts'
import type { AppendResult, Store } from '../../domain/ports/store.ts'
import { logEvent, newRun, runningHead, sampleAsk, sampleEvent, startEvent } from './sample.ts'
import type { Suite } from './test-api.ts'

export function journalSuite({ test, expect }: Suite): void {
  test('creates a run once, with its first events', async ({ store }) => {
    const events = [startEvent('Do it', { threadId: 'thread-1' }), logEvent(1)]
    expect(await store.create(newRun('r', { events }))).toBe(true)
    expect(await store.create(newRun('r'))).toBe(false)
    expect(await store.read('r', 0)).toEqual(
      events.map((event, index) => ({ ...event, runId: 'r', seq: index + 1 })),
    )
    const head = await store.head('r')
    expect(head?.seq).toBe(2)
    expect(head?.objective).toBe('Do it')
    expect(head?.schemaHash).toBe('h-1')
    expect(head?.correlationId).toBe('c-1')
    expect(head?.threadId).toBe('thread-1')
    expect(head?.tenant).toBe('t-1')
  })

  test('keeps in memory only a beginning of what is read', async ({ store }) => {
    await store.create(newRun('r', { events: [startEvent(), logEvent(1)] }))
    await store.append({
      runId: 'r',
      expectedSeq: 2,
      events: [logEvent(2), logEvent(3)],
      head: runningHead,
    })
    for (const after of [0, 1, 3]) {
      const all = await store.read('r', after)
      expect(store.readRecent?.('r', after) ?? all).toEqual(all)
      expect(store.readRecent?.('r', after, 1) ?? all.slice(0, 1)).toEqual(all.slice(0, 1))
    }
    // Nothing new is not told apart from not knowing.
    expect(store.readRecent?.('r', 4)).toBe(undefined)
    expect(store.readRecent?.('none', 0)).toBe(undefined)
  })

  test('reads any part of a journal, however its events were appended', async ({ store }) => {
    await store.create(newRun('r', { events: [startEvent(), logEvent(1), logEvent(2)] }))
    for (let seq = 3; seq < 20; ) {
      const events = Array.from({ length: 1 + (seq % 5) }, (_, index) => logEvent(seq + index))
      await store.append({ runId: 'r', expectedSeq: seq, events, head: runningHead })
      seq += events.length
    }
    const all = await store.read('r', 0)
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
    for (let after = 0; after <= all.length; after++)
      for (const limit of [1, 2, 3, 7, 100])
        expect(await store.read('r', after, limit)).toEqual(all.slice(after, after + limit))
  })

  test('returns nothing for a run that does not exist', async ({ store }) => {
    expect(await store.head('none')).toBe(undefined)
    expect(await store.read('none', 0)).toEqual([])
    expect(await store.append({ runId: 'none', expectedSeq: 0, events: [], head: runningHead })).toEqual({
      kind: 'missing',
    })
  })

  test('appends at the expected sequence number, returns the new one and updates the head', async ({
    store,
  }) => {
    await store.create(newRun('r'))
    const head = { status: 'awaiting_hitl', planVersion: 3, wakeAt: 77, satisfactionScore: 0.5 } as const
    expect(
      await store.append({ runId: 'r', expectedSeq: 1, events: [logEvent(1), logEvent(2)], head }),
    ).toEqual({ kind: 'appended', seq: 3 })
    const { seq, status, planVersion, wakeAt, satisfactionScore } = (await store.head('r')) ?? {}
    expect({ seq, status, planVersion, wakeAt, satisfactionScore }).toEqual({ seq: 3, ...head })
  })

  test('keeps a score that an append omits, and clears the wake time', async ({ store }) => {
    await store.create(newRun('r', { head: { ...runningHead, satisfactionScore: 0.5 } }))
    await store.append({
      runId: 'r',
      expectedSeq: 1,
      events: [logEvent(1)],
      head: { status: 'completed', planVersion: 1, observedSatisfaction: 0.75 },
    })
    const head = await store.head('r')
    expect(head?.satisfactionScore).toBe(0.5)
    expect(head?.observedSatisfaction).toBe(0.75)
    expect(head?.wakeAt).toBe(undefined)
  })

  test('rejects an append with an outdated sequence number, and writes none of it', async ({ store }) => {
    await store.create(newRun('r'))
    await store.append({ runId: 'r', expectedSeq: 1, events: [logEvent('first')], head: runningHead })
    const late = { runId: 'r', expectedSeq: 1, events: [logEvent('second')], head: runningHead }
    expect(await store.append({ ...late, head: { status: 'failed', planVersion: 9 } })).toEqual({
      kind: 'conflict',
      seq: 2,
    })
    expect(await store.append({ ...late, expectedSeq: 5 })).toEqual({ kind: 'conflict', seq: 2 })
    expect((await store.read('r', 1)).length).toBe(1)
    expect((await store.head('r'))?.status).toBe('running')
  })

  test('reads page by page', async ({ store }) => {
    await store.create(newRun('r', { events: Array.from({ length: 25 }, (_, index) => logEvent(index)) }))
    const seqs = async (after: number, limit?: number) =>
      (await store.read('r', after, limit)).map((event) => event.seq)
    expect(await seqs(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await seqs(20, 10)).toEqual([21, 22, 23, 24, 25])
    expect(await seqs(25, 10)).toEqual([])
    expect((await seqs(0)).length).toBe(25)
  })

  test('reads a thousand events by default', async ({ store }) => {
    await store.create(newRun('r', { events: Array.from({ length: 1_100 }, (_, index) => logEvent(index)) }))
    expect((await store.read('r', 0)).length).toBe(1_000)
    expect((await store.read('r', 1_000)).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 100 }, (_, index) => 1_001 + index),
    )
  })

  test('lets one of eight concurrent calls create a run, and keeps its events', async ({ store }) => {
    const created = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        store.create(newRun('r', { tenant: `t-${index}`, events: [logEvent(index)] })),
      ),
    )
    expect(created.filter((made) => made !== false)).toEqual([true])
    const winner = created.indexOf(true)
    expect((await store.head('r'))?.tenant).toBe(`t-${winner}`)
    expect((await store.read('r', 0)).map(({ payload }) => payload)).toEqual([logEvent(winner).payload])
  })

  test('assigns every sequence number to one of eight concurrent writers', async ({ store }) => {
    await store.create(newRun('r'))
    const wins = new Map<number, string>()
    const appender = async (name: string) => {
      for (let won = 0, seq = 1; won < 20; ) {
        const result: AppendResult = await store.append({
          runId: 'r',
          expectedSeq: seq,
          events: [logEvent(name), logEvent(name)],
          head: runningHead,
        })
        if (result.kind === 'appended') {
          expect(wins.has(result.seq)).toBe(false)
          wins.set(result.seq, name)
          won += 1
        }
        if (result.kind === 'appended' || result.kind === 'conflict') seq = result.seq
      }
    }
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(appender))
    const events = await store.read('r', 1)
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 320 }, (_, index) => index + 2))
    for (const [seq, name] of wins) {
      const { event, payload } = { ...(events[seq - 2]?.payload as Record<string, unknown>) }
      expect(event).toBe('sample')
      expect(payload).toEqual({ value: name })
    }
  })

  test('isolates a conflict from concurrent appends', async ({ store }) => {
    const ids = Array.from({ length: 20 }, (_, index) => `r-${index}`)
    await Promise.all(ids.map((id) => store.create(newRun(id))))
    const results = await Promise.all(
      ids.map((runId, index) =>
        store.append({
          runId,
          expectedSeq: index % 3 === 0 ? 7 : 1,
          events: [logEvent(index)],
          head: runningHead,
        }),
      ),
    )
    expect(results.map((result) => result.kind)).toEqual(
      ids.map((_, index) => (index % 3 === 0 ? 'conflict' : 'appended')),
    )
  })

  test('lists runs newest first, by tenant, status and thread, page by page', async ({ store, elapse }) => {
    for (let index = 0; index < 6; index++) {
      const tenant = index % 2 === 0 ? 'even' : 'odd'
      const status = index < 3 ? 'completed' : 'running'
      const events = [startEvent(`Tea 50%_${index}`, index === 4 ? { threadId: 'thread' } : {})]
      await store.create(newRun(`r-${index}`, { tenant, events, head: { status, planVersion: 0 } }))
      if (index % 2 === 1) await elapse(2)
    }
    const ids = async (query: Parameters<typeof store.runs>[0]) =>
      (await store.runs(query)).map((head) => head.runId)
    expect((await ids({})).length).toBe(6)
    expect(new Set((await ids({})).slice(0, 2))).toEqual(new Set(['r-5', 'r-4']))
    expect(await ids({ tenant: 'even' })).toEqual(['r-4', 'r-2', 'r-0'])
    expect(await ids({ tenant: 'even', status: ['completed'] })).toEqual(['r-2', 'r-0'])
    expect(await ids({ threadId: 'thread' })).toEqual(['r-4'])
    expect(await ids({ search: 'tEA 50%_3' })).toEqual(['r-3'])
    expect(await ids({ search: 'R-2' })).toEqual(['r-2'])
    expect(await ids({ search: '5__' })).toEqual([])
    const paged: string[] = []
    for (let page = await ids({ limit: 2 }); page.length > 0; ) {
      paged.push(...page)
      page = await ids({ limit: 2, before: page.at(-1) ?? '' })
    }
    expect(paged).toEqual(await ids({}))
    expect(await ids({ before: 'none' })).toEqual([])
  })

  test('lists the threads of a tenant, last changed first, page by page', async ({ store, elapse }) => {
    const start = async (runId: string, tenant: string, threadId?: string) => {
      const events = [startEvent('Tea', threadId === undefined ? {} : { threadId })]
      await store.create(newRun(runId, { tenant, events, head: { status: 'running', planVersion: 0 } }))
      await elapse(2)
    }
    await start('r-1', 'mine', 'a')
    await start('r-2', 'mine', 'b')
    await start('r-3', 'mine', 'c')
    await start('r-4', 'mine', 'a')
    await start('r-5', 'theirs', 'b')
    await start('r-6', 'mine')
    const all = await store.threads({ tenant: 'mine' })
    expect(all.map(({ threadId, runs }) => [threadId, runs])).toEqual([
      ['a', 2],
      ['c', 1],
      ['b', 1],
    ])
    expect(all.every(({ createdAt, updatedAt }) => createdAt <= updatedAt)).toBe(true)
    const [first] = await store.threads({ tenant: 'mine', limit: 1 })
    expect(first).toEqual(all[0])
    expect(await store.threads({ tenant: 'mine', ...(first && { before: first }) })).toEqual(all.slice(1))
    expect(await store.threads({ tenant: 'none' })).toEqual([])
  })

  test('keeps cost and tokens of a run, and lists the most expensive first, page by page', async ({
    store,
  }) => {
    const costs = [0.5, undefined, 2, 0.5, undefined, 0.125]
    for (const [index, costUsd] of costs.entries()) {
      const runId = `r-${index}`
      await store.create(newRun(runId))
      const amounts = costUsd === undefined ? {} : { costUsd, tokens: 100 + index }
      const head = { ...runningHead, ...amounts }
      await store.append({ runId, expectedSeq: 1, events: [logEvent(1)], head })
    }
    await store.append({ runId: 'r-2', expectedSeq: 2, events: [logEvent(2)], head: runningHead })
    const { costUsd, tokens } = (await store.head('r-2')) ?? {}
    expect({ costUsd, tokens }).toEqual({ costUsd: 2, tokens: 102 })
    expect((await store.head('r-1'))?.costUsd).toBe(undefined)
    const listed = await store.runs({ sort: 'cost' })
    expect(listed.map((head) => head.costUsd ?? 0)).toEqual([2, 0.5, 0.5, 0.125, 0, 0])
    const paged: string[] = []
    for (let page = await store.runs({ sort: 'cost', limit: 2 }); page.length > 0; ) {
      paged.push(...page.map(({ runId }) => runId))
      page = await store.runs({ sort: 'cost', limit: 2, before: paged.at(-1) ?? '' })
    }
    expect(paged).toEqual(listed.map(({ runId }) => runId))
    const within = async (query: { minCostUsd?: number; maxCostUsd?: number }) =>
      (await store.runs({ ...query, sort: 'cost' })).map((head) => head.costUsd ?? 0)
    expect(await within({ minCostUsd: 0.5 })).toEqual([2, 0.5, 0.5])
    expect(await within({ maxCostUsd: 0.125 })).toEqual([0.125, 0, 0])
    expect(await within({ minCostUsd: 0.1, maxCostUsd: 0.5 })).toEqual([0.5, 0.5, 0.125])
  })

  test('notifies listeners after a change, until they unsubscribe', async ({ store }) => {
    const woken = new Set<string>()
    let wake = () => {}
    const stop = store.onChange((runId) => {
      woken.add(runId)
      wake()
    })
    const change = new Promise<void>((resolve) => {
      wake = () => woken.has('r') && woken.has('s') && resolve()
    })
    await store.create(newRun('r'))
    await store.create(newRun('s'))
    await change
    stop()
    woken.clear()
    await store.create(newRun('t'))
    expect(woken.has('t')).toBe(false)
  })

  test('notifies listeners that a run has settled, and not before', async ({ store }) => {
    const settled: unknown[] = []
    let wake = () => {}
    const over = new Promise<void>((resolve) => {
      wake = resolve
    })
    const stop = store.onChange((runId, seq, _isFree, isSettled) => {
      if (runId !== 'r') return
      settled[seq] = isSettled
      if (seq === 3) wake()
    })
    await store.create(newRun('r'))
    await store.append({ runId: 'r', expectedSeq: 1, events: [logEvent('more')], head: runningHead })
    const end = sampleEvent('complete', { status: 'failed' })
    const head = { ...runningHead, status: 'failed' } as const
    await store.append({ runId: 'r', expectedSeq: 2, events: [end], head })
    await over
    stop()
    // Several changes may be one notification; what a store does not know is undefined.
    expect(settled[2] === true).toBe(false)
    expect(settled[3] === false).toBe(false)
  })

  test('rejects calls after close, and can be closed twice', async ({ store }) => {
    await store.create(newRun('r'))
    await store.close()
    await store.close()
    const code = await store.head('r').then(
      () => 'answered',
      (error: { code?: unknown }) => error.code,
    )
    expect(code).toBe('store/closed')
  })
}

// Messages between people and runs: stored with the journal, once, in order, for the tenant of the run.

const audit = { prev: '', subjectHash: 'v', hash: 'h' }

function asks(requestId: string, value: string): NewEvent {
  return sampleEvent('hitl_request', { ...sampleAsk(requestId), value, audit })
}

function answers(requestId: string, note: string): NewEvent {
  const reply = { requestId, decision: 'answer', value: 7, valueHash: 'v-1', by: 'ann', note } as const
  return sampleEvent('hitl_resolved', { ...reply, audit })
}

const said = async (store: Store, runId: string, limit?: number) =>
  (await store.messages(runId, limit)).map(({ seq, role, body }) => [seq, role, body['value'] ?? null])

export function messageSuite({ test, expect }: Suite): void {
  test('stores the messages between people and a run in order, and nothing else', async ({ store }) => {
    const events = [
      startEvent(),
      asks('q-1', 'one'),
      logEvent(1),
      asks('q-2', 'two'),
      answers('q-2', 'seven'),
    ]
    await store.create(newRun('r', { events }))
    const expired = { requestId: 'q-1', decision: 'expired', valueHash: 'v-1', by: 'system', audit } as const
    const last = [sampleEvent('hitl_resolved', expired), logEvent(2)]
    await store.append({ runId: 'r', expectedSeq: 5, events: last, head: runningHead })
    expect(await said(store, 'r')).toEqual([
      [2, 'agent', 'one'],
      [4, 'agent', 'two'],
      [5, 'operator', 7],
      [6, 'system', null],
    ])
    const bodies = (await store.messages('r')).map(({ body }) => body)
    expect(bodies[2]).toEqual({ decision: 'answer', by: 'ann', note: 'seven', value: 7 })
    expect(bodies[3]).toEqual({ decision: 'expired', by: 'system' })
  })

  test('returns the newest messages up to the limit, in order', async ({ store }) => {
    const many = Array.from({ length: 12 }, (_, index) => asks(`q-${index}`, String(index)))
    await store.create(newRun('r', { events: [startEvent(), ...many] }))
    expect((await said(store, 'r', 3)).map(([, , value]) => value)).toEqual(['9', '10', '11'])
    expect((await store.messages('r')).length).toBe(12)
    expect(await store.messages('r', 0)).toEqual([])
  })

  test('stores no message of a rejected append, and none twice', async ({ store }) => {
    await store.create(newRun('r', { events: [startEvent(), asks('q-1', 'one')] }))
    const append = { runId: 'r', expectedSeq: 2, events: [answers('q-1', 'first')], head: runningHead }
    const late = { ...append, events: [answers('q-1', 'second')] }
    expect((await store.append(append)).kind).toBe('appended')
    expect((await store.append(append)).kind).toBe('conflict')
    expect((await store.append(late)).kind).toBe('conflict')
    expect((await store.messages('r')).map(({ body }) => body['note'] ?? null)).toEqual([null, 'first'])
  })

  test('separates the messages of runs and tenants, also for ids that look alike', async ({ store }) => {
    const ids = ['r', 'r:message:1', 'r:message:1:message:2']
    for (const [index, runId] of ids.entries()) {
      const events = [startEvent(), asks(`q-${index}`, runId)]
      await store.create(newRun(runId, { tenant: `t-${index}`, events }))
    }
    for (const [index, runId] of ids.entries()) {
      const found = await store.messages(runId)
      expect(found.map(({ tenant, body }) => [tenant, body['value'] ?? null])).toEqual([
        [`t-${index}`, runId],
      ])
    }
    expect(await store.messages('none')).toEqual([])
  })

  test('returns a large value unchanged', async ({ store }) => {
    const large = 'tea '.repeat(10_000)
    await store.create(newRun('r', { events: [startEvent(), asks('q-1', large)] }))
    expect((await store.messages('r'))[0]?.body['value']).toBe(large)
  })
}
