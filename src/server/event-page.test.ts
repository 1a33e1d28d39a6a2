import { describe, expect, it } from 'vitest'
import { createRedactor } from '../domain/redact.ts'
import { pageLimits, readPage } from './event-page.ts'

const redactor = createRedactor({ secrets: ['sk-secret-1'] })

/** A journal of `count` events with a text of this length each. */
function journal(count: number, length = 1) {
  let most = 0
  return {
    get most() {
      return most
    },
    async read(runId: string, after: number, limit = 1000) {
      most = Math.max(most, limit)
      const seqs = Array.from({ length: count }, (_, index) => index + 1)
      return seqs
        .filter((seq) => seq > after)
        .slice(0, limit)
        .map((seq) => ({
          type: 'log' as const,
          version: 1,
          at: 0,
          planVersion: 0,
          runId,
          seq,
          payload: { event: 'sample', payload: { text: 'x'.repeat(length), apiKey: 'sk-secret-1' } },
        }))
    },
  }
}

const ask = { runId: 'r', correlationId: 'c', redactor }

describe('a page of events', () => {
  it('leads from page to page until nothing is left, each event once', async () => {
    const seen: number[] = []
    let after = 0
    for (;;) {
      const { frames, next } = await readPage(journal(250), { ...ask, after, limit: 70 })
      if (frames.length === 0) {
        expect(next).toBe(250)
        break
      }
      seen.push(...frames.map(({ id }) => id))
      after = next
    }
    expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => index + 1))
  })

  it('has a size, whatever is asked for', async () => {
    const { usual, most } = pageLimits
    const pageOf = (limit?: number) =>
      readPage(journal(2_000), { ...ask, after: 0, ...(limit !== undefined && { limit }) })
    expect((await pageOf()).frames.length).toBe(usual)
    expect((await pageOf(1_000_000)).frames.length).toBe(most)
    expect((await pageOf(0)).frames.length).toBe(1)
  })

  it('is full when its events are large, but never empty while there are some', async () => {
    const large = journal(50, 1024 * 1024)
    const { frames, next } = await readPage(large, { ...ask, after: 0, limit: 1_000 })
    expect([frames.length, next]).toEqual([3, 3])
    expect(large.most).toBeLessThanOrEqual(20)
    const huge = await readPage(journal(2, 2 * pageLimits.characters), { ...ask, after: 0 })
    expect(huge.frames.length).toBe(1)
  })

  it('holds frames as streams send them, redacted', async () => {
    const { frames } = await readPage(journal(1), { ...ask, after: 0 })
    expect(JSON.stringify(frames)).not.toContain('sk-secret-1')
    expect(frames[0]).toMatchObject({ type: 'log', id: 1, runId: 'r', correlationId: 'c' })
  })
})
