/** Events of one append share rows, and come back as they were. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from '../../../base/json.ts'
import { numbered } from '../../../domain/event/numbered.ts'
import type { NewEvent } from '../../../domain/event.ts'
import { logEvent, sampleEvent, startEvent } from '../../../testing/stores/sample.ts'
import { inlineLimit } from '../shared/codec.ts'
import { toEvents } from './rows/rows.ts'
import { encodeEvents, eventRows, mostPacked } from './writes.ts'

const write = { runId: 'r', after: 3, writeId: 'w', isCompact: true }

function toRows(events: readonly NewEvent[]) {
  const { texts, values } = encodeEvents(events)
  return { rows: eventRows(events, texts, write), values }
}

const someText = fc.constantFrom(
  'a',
  '',
  '"],["log",1]',
  '\0 \ud800 \uffff',
  '{"$value":"x"}',
  'x'.repeat(inlineLimit),
)
const payload: fc.Arbitrary<Json> = fc.oneof(
  // As JSON has it, which knows no negative zero.
  fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value))),
  someText,
  someText.map((text) => ({ $value: text, $$value: [text] })),
)
const anyEvent: fc.Arbitrary<NewEvent> = fc.oneof(
  fc
    .record(
      {
        value: payload,
        at: fc.constantFrom(1_000, 1_000, 1_000, 1_001),
        planVersion: fc.constantFrom(1, 1, 1, 2),
        nodeId: someText,
        message: someText,
      },
      { requiredKeys: ['value', 'at', 'planVersion'] },
    )
    .map(({ value, ...members }) => sampleEvent('log', { event: 'sample', payload: { value } }, members)),
  fc.constant(startEvent()),
  fc
    .record({ inputTokens: fc.nat(), outputTokens: fc.nat(), costUsd: fc.nat() }, { requiredKeys: [] })
    .map((usage) =>
      sampleEvent(
        'attempt_end',
        { attempt: 1, outcome: 'ok', issues: [], usage: { calls: 1, ...usage } },
        { nodeId: 'n' },
      ),
    ),
)

it('come back as they were, alone or together in a row', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 150, size: 'max' }), (events) => {
      const { rows, values } = toRows(events)
      const read = rows.flatMap((row) => toEvents(row, values))
      expect(read).toEqual(numbered('r', 3, events))
      let seq = 3
      for (const row of rows) {
        expect(row.seq).toBe(seq + row.events)
        expect(row.events).toBeLessThanOrEqual(mostPacked)
        seq = row.seq
      }
    }),
    { seed: Number(process.env['PROVISO_SEED'] ?? 1), numRuns: 300 },
  )
})

it('share one row, but for the start and what a quota adds up', () => {
  const used = sampleEvent(
    'attempt_end',
    { attempt: 1, outcome: 'ok', issues: [], usage: { calls: 1, inputTokens: 3 } },
    { nodeId: 'n' },
  )
  const { rows } = toRows([startEvent(), logEvent(1), logEvent(2), used, logEvent(3)])
  expect(rows.map(({ type, seq, events }) => [type, seq, events])).toEqual([
    ['start', 4, 1],
    ['events', 6, 2],
    ['attempt_end', 7, 1],
    ['log', 8, 1],
  ])
})

it('take several rows when they are many or long', () => {
  const many = Array.from({ length: mostPacked * 2 + 1 }, (_, index) => logEvent(index))
  expect(toRows(many).rows.map(({ events }) => events)).toEqual([mostPacked, mostPacked, 1])
  const long = Array.from({ length: 10 }, () => logEvent('x'.repeat(8_000)))
  expect(toRows(long).rows.map(({ events }) => events)).toEqual([4, 4, 2])
})
