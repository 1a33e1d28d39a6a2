/** Contract of messages between people and runs: stored with the journal, once, in order, for the tenant of the run. */
import type { NewEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import { logEvent, newRun, runningHead, sampleAsk, sampleEvent, startEvent } from './sample.ts'
import type { Suite } from './test-api.ts'

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
  test('keeps every word between people and a run in order, and only that', async ({ store }) => {
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

  test('gives the newest messages when there are more than asked for, still in order', async ({ store }) => {
    const many = Array.from({ length: 12 }, (_, index) => asks(`q-${index}`, String(index)))
    await store.create(newRun('r', { events: [startEvent(), ...many] }))
    expect((await said(store, 'r', 3)).map(([, , value]) => value)).toEqual(['9', '10', '11'])
    expect((await store.messages('r')).length).toBe(12)
    expect(await store.messages('r', 0)).toEqual([])
  })

  test('says nothing of an append that was refused, and nothing twice', async ({ store }) => {
    await store.create(newRun('r', { events: [startEvent(), asks('q-1', 'one')] }))
    const append = { runId: 'r', expectedSeq: 2, events: [answers('q-1', 'first')], head: runningHead }
    const late = { ...append, events: [answers('q-1', 'second')] }
    expect((await store.append(append)).kind).toBe('appended')
    expect((await store.append(append)).kind).toBe('conflict')
    expect((await store.append(late)).kind).toBe('conflict')
    expect((await store.messages('r')).map(({ body }) => body['note'] ?? null)).toEqual([null, 'first'])
  })

  test('keeps the messages of each run and tenant apart, whatever their ids look like', async ({ store }) => {
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

  test('gives back what was shown, however large', async ({ store }) => {
    const large = 'tea '.repeat(10_000)
    await store.create(newRun('r', { events: [startEvent(), asks('q-1', large)] }))
    expect((await store.messages('r'))[0]?.body['value']).toBe(large)
  })
}
