/** What was just written is answered from memory exactly as the database would answer, or not at all. */
import { expect, it } from 'vitest'
import { numbered } from '../../../domain/event/numbered.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import { sampleEvent } from '../../../testing/stores/sample.ts'
import { createTails } from './hot-runs.ts'

const events = (runId: string, after: number, count: number): JournalEvent[] =>
  numbered(
    runId,
    after,
    Array.from({ length: count }, () => sampleEvent('node_start', {}, { nodeId: 'n' })),
  )
const seqs = (page: readonly JournalEvent[] | undefined) => page?.map(({ seq }) => seq)

it('returns the events after a sequence number, up to the limit', () => {
  const tails = createTails()
  tails.wrote('r', events('r', 0, 2), 10)
  tails.wrote('r', events('r', 2, 3), 10)
  expect(seqs(tails.read('r', 0, 100))).toEqual([1, 2, 3, 4, 5])
  expect(seqs(tails.read('r', 1, 2))).toEqual([2, 3])
  expect(seqs(tails.read('r', 5, 2))).toEqual([])
})

it('does not return earlier events, other runs, or forgotten runs', () => {
  const tails = createTails()
  tails.wrote('r', events('r', 7, 2), 10)
  expect(seqs(tails.read('r', 7, 10))).toEqual([8, 9])
  expect(tails.read('r', 6, 10)).toBeUndefined()
  expect(tails.read('r', -1, 10)).toBeUndefined()
  expect(tails.read('other', 0, 10)).toBeUndefined()
  tails.forget()
  expect(tails.read('r', 7, 10)).toBeUndefined()
})

it('begins anew where events do not follow each other', () => {
  const tails = createTails()
  tails.wrote('r', events('r', 0, 2), 10)
  tails.wrote('r', events('r', 5, 1), 10)
  expect(tails.read('r', 0, 10)).toBeUndefined()
  expect(seqs(tails.read('r', 5, 10))).toEqual([6])
})

it('is bounded: keeps the newest events of a run, and the runs that grew last', () => {
  const tails = createTails({ all: 3_000, run: 1_000 })
  tails.wrote('long', events('long', 0, 1), 700)
  tails.wrote('long', events('long', 1, 1), 700)
  expect(tails.read('long', 0, 10)).toBeUndefined()
  expect(seqs(tails.read('long', 1, 10))).toEqual([2])
  tails.wrote('huge', events('huge', 0, 1), 5_000)
  expect(tails.read('huge', 0, 10)).toBeUndefined()
  for (const runId of ['a', 'b', 'c']) tails.wrote(runId, events(runId, 0, 1), 700)
  expect(['long', 'a', 'b', 'c'].filter((runId) => tails.read(runId, 1, 10) !== undefined)).toEqual([
    'a',
    'b',
    'c',
  ])
})
