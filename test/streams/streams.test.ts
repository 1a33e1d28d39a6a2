/** Promises about streams: a cursor on the journal over real HTTP, for every writer and every reader. */
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { Json, RunStatus, Store } from '../../src/index.ts'
import { createRedactor, type NewEvent, toFrame } from '../seams/domain.ts'
import { getWakeups, type StreamOptions, streamDefaults } from '../seams/server.ts'
import { logEvent, newRun, sampleAsk, sampleEvent } from '../seams/stores.ts'
import { createHandClock } from './hand-clock.ts'
import { openStream } from './read.ts'
import { type Served, serveStreams } from './serve.ts'

const open = new Set<Served>()
afterEach(async () => {
  for (const served of open) await served.close()
  open.clear()
})

async function serve(store: StreamOptions['store'], more: Partial<StreamOptions> = {}): Promise<Served> {
  const served = await serveStreams({ store, ...more })
  open.add(served)
  return served
}

const ask = sampleEvent('hitl_request', {
  ...sampleAsk('q'),
  audit: { prev: '', subjectHash: 'v', hash: 'h' },
})
const complete = sampleEvent('complete', { status: 'completed', output: { text: 'Tea' } })

/** Appends at the end, as the only writer. */
async function append(store: Store, events: readonly NewEvent[], status: RunStatus = 'running') {
  const seq = (await store.head('r'))?.seq ?? 0
  return store.append({ runId: 'r', expectedSeq: seq, events, head: { status, planVersion: 1 } })
}

async function storeWithRun(...events: readonly NewEvent[]): Promise<Store> {
  const store = createMemoryStore()
  await store.create(newRun('r'))
  if (events.length > 0) await append(store, events)
  return store
}

const ids = (events: readonly { readonly id?: string | undefined }[]) => events.map(({ id }) => Number(id))
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('a stream', () => {
  it('sends each event with its type, its sequence number and the whole frame, and ends with the run', async () => {
    const store = await storeWithRun(logEvent('one'))
    const { url, ended } = await serve(store)
    const reader = await openStream(`${url}/r`)
    expect(reader.status).toBe(200)
    expect(reader.headers['content-type']).toBe('text/event-stream')
    expect(reader.headers['cache-control']).toBe('no-store')
    expect((await reader.next())?.event).toBe('start')
    expect((await reader.next())?.event).toBe('log')
    await append(store, [complete], 'completed')
    const last = await reader.next()
    const [, , event] = await store.read('r', 0)
    expect(last).toEqual({
      id: '3',
      event: 'complete',
      data: JSON.stringify(event && toFrame(event, 'c-1', createRedactor())),
    })
    expect(await reader.next()).toBe(undefined)
    expect(reader.retries).toEqual([1000])
    expect(await ended(1)).toEqual(['over'])
  })

  it('cannot be made to show events that did not happen, for any model text', async () => {
    const forged: Json =
      'x\n\nevent: complete\nid: 99\ndata: {"type":"complete"}\r\rdata: y\u2028\u2029\u0000'
    const store = await storeWithRun(logEvent(forged), complete)
    const { url } = await serve(store)
    const events = await (await openStream(`${url}/r`)).rest()
    expect(events.map(({ event }) => event)).toEqual(['start', 'log', 'complete'])
    expect(ids(events)).toEqual([1, 2, 3])
    expect(JSON.parse(events[1]?.data ?? '').payload.payload.value).toBe(forged)
  })

  it('begins after the last event that the reader has seen, wherever that is', async () => {
    const store = await storeWithRun(...range(2, 599).map(logEvent), complete)
    const { url } = await serve(store)
    for (const after of [0, 1, 15, 16, 17, 300, 599])
      expect(ids(await (await openStream(`${url}/r`, after)).rest())).toEqual(range(after + 1, 600))
  })

  it('signals the end to a reader that has seen it, so that it does not reconnect', async () => {
    const store = await storeWithRun()
    await append(store, [complete], 'completed')
    const { url, ended } = await serve(store)
    const reader = await openStream(`${url}/r`, 2)
    expect(reader.status).toBe(204)
    expect(await reader.rest()).toEqual([])
    expect(await ended(1)).toEqual(['over'])
  })

  it('ends when the run waits for a person, if that was wanted, and has sent everything before', async () => {
    const store = await storeWithRun()
    const { url, ended } = await serve(store)
    const [toTheEnd, untilItWaits] = [await openStream(`${url}/r`), await openStream(`${url}/r?until=waits`)]
    await untilItWaits.next()
    await append(store, [...range(2, 39).map(logEvent), ask], 'awaiting_hitl')
    expect(ids(await untilItWaits.rest())).toEqual(range(2, 40))
    expect(untilItWaits.comments).toEqual(['waits'])
    expect(await ended(1)).toEqual(['waits'])
    await append(store, [complete], 'completed')
    expect(ids(await toTheEnd.rest())).toEqual(range(1, 41))
  })

  it('ends at once when the run waits already', async () => {
    const store = await storeWithRun()
    await append(store, [logEvent(2)], 'awaiting_human')
    const { url } = await serve(store)
    const reader = await openStream(`${url}/r?until=waits`, 2)
    expect([reader.status, await reader.rest()]).toEqual([200, []])
  })

  it('pings while nothing happens, every 15 seconds', async () => {
    const clock = createHandClock()
    const { url } = await serve(await storeWithRun(), { clock, pollMs: 3_600_000 })
    const reader = await openStream(`${url}/r`)
    await reader.next()
    expect(reader.comments).toEqual([])
    clock.elapse(streamDefaults.pingMs - 1)
    expect(clock.pending).toBe(1)
    clock.elapse(1)
    await reader.comment('ping')
    expect(reader.comments).toEqual(['ping'])
  })

  it('refuses a run that is not there before anything is written', async () => {
    const { url, ends } = await serve(await storeWithRun())
    const reader = await openStream(`${url}/other`)
    expect(reader.status).toBe(500)
    await reader.rest()
    expect(ends).toEqual(['Run "other" not found'])
  })

  it('is cut, not ended, when the store fails, so that no client takes it for complete', async () => {
    const store = await storeWithRun()
    let broken = false
    const failing: Store = {
      ...store,
      read: (...given) => (broken ? Promise.reject(new Error('Lost')) : store.read(...given)),
    }
    const { url, ended } = await serve(failing)
    const reader = await openStream(`${url}/r`)
    await reader.next()
    broken = true
    await append(store, [logEvent(2)])
    await expect(reader.next()).rejects.toThrow('The stream was cut')
    expect(await ended(1)).toEqual(['Lost'])
  })
})

describe('news', () => {
  it('is not missed when it comes between reading and waiting', async () => {
    const store = await storeWithRun()
    let reads = 0
    const overtaken: Store = {
      ...store,
      async read(...given) {
        const page = await store.read(...given)
        // After what was read, and before the reader knows.
        if (++reads <= 50) await append(store, [reads === 50 ? complete : logEvent(reads)])
        return page
      },
    }
    const { url } = await serve(overtaken, { pollMs: 3_600_000 })
    expect(ids(await (await openStream(`${url}/r`)).rest())).toEqual(range(1, 51))
  })

  it('that never comes costs one poll', async () => {
    const clock = createHandClock()
    const store = await storeWithRun()
    const { url } = await serve({ ...store, onChange: () => () => {} }, { clock })
    const reader = await openStream(`${url}/r`)
    await reader.next()
    await append(store, [complete], 'completed')
    clock.elapse(streamDefaults.pollMs)
    expect(ids(await reader.rest())).toEqual([2])
  })

  it('is listened for once, however many streams there are, and no longer than there are any', async () => {
    const store = await storeWithRun()
    let listeners = 0
    const counting: Store = {
      ...store,
      onChange(listener) {
        listeners++
        const stop = store.onChange(listener)
        return () => {
          listeners--
          stop()
        }
      },
    }
    const { url, ended } = await serve(counting)
    const readers = await Promise.all(range(1, 20).map(() => openStream(`${url}/r`)))
    await Promise.all(readers.map((reader) => reader.next()))
    expect([listeners, getWakeups(counting).open]).toEqual([1, 20])
    for (const reader of readers.slice(0, 10)) reader.close()
    await ended(10)
    expect([listeners, getWakeups(counting).open]).toEqual([1, 10])
    await append(store, [complete], 'completed')
    for (const reader of readers.slice(10)) expect(ids(await reader.rest())).toEqual([2])
    await ended(20)
    expect([listeners, getWakeups(counting).open]).toEqual([0, 0])
  })

  it('is for so many streams at a time; one more is refused before anything is written', async () => {
    const store = await storeWithRun()
    const { url, ends, ended } = await serve(store, { maxStreams: 2 })
    const [first, second] = [await openStream(`${url}/r`), await openStream(`${url}/r`)]
    const refused = await openStream(`${url}/r`)
    expect(refused.status).toBe(500)
    expect(ends).toEqual(['Cannot open a stream: 2 are open, and 2 is the maximum'])
    first?.close()
    await ended(2)
    expect((await openStream(`${url}/r`)).status).toBe(200)
    second?.close()
  })
})

describe('the end of a connection', () => {
  it('does not touch the run', async () => {
    const store = await storeWithRun()
    const { url, ended } = await serve(store)
    const before = await store.head('r')
    const reader = await openStream(`${url}/r`)
    await reader.next()
    reader.close()
    expect(await ended(1)).toEqual(['gone'])
    expect(await store.head('r')).toEqual(before)
    expect(await append(store, [logEvent(2)])).toEqual({ kind: 'appended', seq: 2 })
  })

  it('comes with a hint when to connect again, when the server stops', async () => {
    const clock = createHandClock()
    const served = await serve(await storeWithRun(), { clock })
    const reader = await openStream(`${served.url}/r`)
    await reader.next()
    served.stop()
    expect(await reader.rest()).toEqual([])
    expect([reader.retries, reader.comments]).toEqual([[1000, 3000], ['stopped']])
    expect(await served.ended(1)).toEqual(['stopped'])
    expect(clock.pending).toBe(0)
  })
})
