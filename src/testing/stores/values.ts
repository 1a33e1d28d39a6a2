/** Tests of values in events: hostile and large values are returned unchanged, and appending to a long run stays fast. */
import type { Json } from '../../base/json.ts'
import type { Store } from '../../domain/ports/store.ts'
import { logEvent, newRun, planEvent, runningHead, sampleAsk, sampleEvent } from './sample.ts'
import type { Suite } from './test-api.ts'

const hostile: { readonly [name: string]: Json } = {
  'NUL bytes': 'a\u0000b',
  'lone surrogates': ['\ud800', '\udc00x', 'x\udbff'],
  noncharacters: '\uffff\ufffe\uffff0000',
  'keys of prototypes': JSON.parse('{"__proto__": {"x": 1}, "constructor": 1, "toString": null}'),
  'keys of references': { $value: 'a'.repeat(64), $$value: 1, deep: [{ $value: { $value: 'x' } }] },
  'a reference as text': '{"$value":"aa"}',
  numbers: [0, -0.5, 1e21, 5e-324, Number.MAX_SAFE_INTEGER],
  quotes: `'; DROP TABLE flex_events; -- " \\ \u2028 \n \r`,
  'empty things': ['', {}, [], { '': '' }, null],
}

export function valueSuite({ test, expect, long }: Suite): void {
  for (const [size, padding] of [
    ['small', ''],
    ['large', 'y'.repeat(20_000)],
  ] as const) {
    test(`returns hostile values unchanged (${size})`, async ({ store }) => {
      for (const [name, value] of Object.entries(hostile)) {
        const whole = { value, padding, more: padding === '' ? 0 : [value, padding] }
        await store.create(newRun(name, { events: [logEvent(whole)] }))
        const [event] = await store.read(name, 0)
        // Text distinguishes `__proto__` as a key from `__proto__` as a prototype, which comparisons may not.
        expect(`${name} ${JSON.stringify(event?.payload)}`).toBe(
          `${name} ${JSON.stringify(logEvent(whole).payload)}`,
        )
      }
    })
  }

  test('stores hostile text unchanged in every field outside payloads', async ({ store }) => {
    const text = 'a\u0000\ud800\uffff'
    const note = { note: text, by: text, requestId: text, decision: 'answer', valueHash: text } as const
    const audit = { prev: text, subjectHash: 'v', hash: text }
    const start = sampleEvent('log', { event: text }, { message: text, nodeId: text })
    await store.create(
      newRun(text, {
        tenant: text,
        events: [
          start,
          planEvent(),
          sampleEvent('hitl_request', { ...sampleAsk(text, text), audit }),
          sampleEvent('hitl_resolved', { ...note, audit }),
        ],
        claim: { owner: text, leaseMs: 1_000 },
      }),
    )
    expect((await store.read(text, 0))[0]).toEqual({ ...start, runId: text, seq: 1 })
    expect((await store.runs({ tenant: text }))[0]?.runId).toBe(text)
    expect((await store.ask(text))?.note).toBe(text)
    expect((await store.audit(text))[1]?.by).toBe(text)
    expect((await store.nodes(text)).map(({ nodeId }) => nodeId).includes(text)).toBe(true)
  })

  test('stores a large value once for all events that contain it', async ({ store, countValues }) => {
    const large = { text: 'Tea '.repeat(long ? 1_300_000 : 200_000), list: [1, 2, 3] }
    await store.create(newRun('r', { events: [planEvent()] }))
    const output = { value: large }
    const attempt = { attempt: 1, outcome: 'ok', output, issues: [], usage: { calls: 1 } } as const
    const events = [
      sampleEvent('attempt_end', attempt, { nodeId: 'write' }),
      sampleEvent('node_complete', { output, attempt: 1 }, { nodeId: 'write' }),
      sampleEvent('complete', { status: 'completed', output: { wrapped: [large] } }),
    ]
    await store.append({ runId: 'r', expectedSeq: 1, events, head: runningHead })
    const read = await store.read('r', 1)
    expect(JSON.stringify(read.map((event) => event.payload))).toBe(
      JSON.stringify(events.map((event) => event.payload)),
    )
    expect(JSON.stringify((await store.nodes('r'))[0]?.output)).toBe(JSON.stringify(large))
    expect(JSON.stringify((await store.output('r'))?.output)).toBe(JSON.stringify({ wrapped: [large] }))
    if (countValues !== undefined) expect(await countValues()).toBe(1)
  })

  test('accepts any number of events and values in one append', async ({ store }) => {
    const count = long ? 150_000 : 2_000
    const large = (index: number) => `${index} ${'y'.repeat(9_000)}`
    const events = Array.from({ length: count }, (_, index) => logEvent(index < 1_500 ? large(index) : index))
    await store.create(newRun('r'))
    const appended = await store.append({ runId: 'r', expectedSeq: 1, events, head: runningHead })
    expect(appended).toEqual({ kind: 'appended', seq: count + 1 })
    const read = await store.read('r', 1, count)
    expect(read.length).toBe(count)
    expect(read[1_499]?.payload).toEqual(events[1_499]?.payload)
    expect(read.at(-1)?.payload).toEqual(events.at(-1)?.payload)
  })

  test('appends to a long run as fast as to a short one', async ({ store }) => {
    const total = long ? 100_000 : 1_000
    await store.create(newRun('long'))
    await measureTime(store, { runId: 'long', from: 1, count: total })
    expect((await store.head('long'))?.seq).toBe(total + 1)
    expect((await store.read('long', total - 1)).length).toBe(2)
    // Alternating, and the fastest of each: other load on the machine affects both.
    const [atLong, atShort]: [number[], number[]] = [[], []]
    const count = long ? 200 : 50
    const ratio = () => Math.min(...atLong) / Math.min(...atShort)
    for (let turn = 0; turn < 6 || (turn < 36 && ratio() >= 3); turn++) {
      const runId = `short-${turn}`
      await store.create(newRun(runId))
      atShort.push(await measureTime(store, { runId, from: 1, count }))
      atLong.push(await measureTime(store, { runId: 'long', from: 1 + total + turn * count, count }))
    }
    expect(ratio()).toBeLessThan(3)
  })
}

/** Measures the milliseconds to append `count` events, ten at a time. */
async function measureTime(
  store: Store,
  { runId, from, count }: { runId: string; from: number; count: number },
): Promise<number> {
  const events = Array.from({ length: 10 }, (_, index) => logEvent(index))
  const began = performance.now()
  for (let seq = from; seq < from + count; seq += 10) {
    await store.append({ runId, expectedSeq: seq, events, head: runningHead })
  }
  return performance.now() - began
}
