import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../domain/redaction/redact.ts'
import type { RunHead } from '../../domain/run.ts'
import { type EventPage, pageLimits, readPage } from './event-page.ts'

const redactor = createRedactor({ secrets: ['sk-secret-1'] })

/** A journal of `count` events with a text of this length each. */
function journal(count: number, length = 1, status: RunHead['status'] = 'running') {
  let most = 0
  return {
    get most() {
      return most
    },
    // Nothing else of a head is asked for.
    snapshots: async () => [],
    head: async () => ({ seq: count, status }) as RunHead,
    async read(runId: string, after: number, limit = 1000) {
      most = Math.max(most, limit)
      const seqs = Array.from({ length: count }, (_, index) => index + 1)
      return seqs
        .filter((seq) => seq > after)
        .slice(0, limit)
        .map((seq) => ({
          version: 1,
          at: 0,
          planVersion: 0,
          runId,
          seq,
          ...(status === 'completed' && seq === count
            ? { type: 'complete' as const, payload: { status } }
            : {
                type: 'log' as const,
                payload: { event: 'sample', payload: { text: 'x'.repeat(length), apiKey: 'sk-secret-1' } },
              }),
        }))
    },
  }
}

const ask = { runId: 'r', correlationId: 'c', redactor }

describe('a page of events', () => {
  it('leads from page to page until nothing is left, each event once', async () => {
    const seen: number[] = []
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: EventPage = await readPage(journal(250, 1, 'completed'), { ...ask, after, limit: 70 })
      seen.push(...page.events.map(({ id }) => id))
      after = page.next
    }
    expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => index + 1))
  })

  it('returns the next cursor while the run is active, and none when it is over', async () => {
    expect(await readPage(journal(3), { ...ask, after: 3 })).toEqual({ events: [], next: 3 })
    expect(await readPage(journal(3, 1, 'completed'), { ...ask, after: 3 })).toEqual({ events: [] })
  })

  it('limits the page size for every request', async () => {
    const { usual, most } = pageLimits
    const pageOf = (limit?: number) =>
      readPage(journal(2_000), { ...ask, after: 0, ...(limit !== undefined && { limit }) })
    expect((await pageOf()).events.length).toBe(usual)
    expect((await pageOf(1_000_000)).events.length).toBe(most)
    expect((await pageOf(0)).events.length).toBe(1)
  })

  it('is full when its events are large, but never empty while there are some', async () => {
    const large = journal(50, 1024 * 1024)
    const { events, next } = await readPage(large, { ...ask, after: 0, limit: 1_000 })
    expect([events.length, next]).toEqual([3, 3])
    expect(large.most).toBeLessThanOrEqual(20)
    const huge = await readPage(journal(2, 2 * pageLimits.characters), { ...ask, after: 0 })
    expect(huge.events.length).toBe(1)
  })

  it('holds events as streams send them, redacted', async () => {
    const { events } = await readPage(journal(1), { ...ask, after: 0 })
    expect(JSON.stringify(events)).not.toContain('sk-secret-1')
    expect(events[0]).toMatchObject({ type: 'log', id: 1, runId: 'r', correlationId: 'c' })
  })
})
