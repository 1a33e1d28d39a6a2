/**
 * T8: two processes that both write to one run on PostgreSQL and both serve its stream. Readers are cut off anywhere and come
 * back to either, with the last id they saw: nothing is missed, nothing repeated, and both send the same.
 */
import { describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { createRedactor, toFrame } from '../seams/domain.ts'
import { loadEvents } from '../seams/engine.ts'
import { api } from '../server/support.ts'
import { reconnect } from '../streams/reconnects.ts'
import { type Process, processes } from './serve.ts'

const long = process.env['PROVISO_LONG'] === '1'
const connects = long ? 10_000 : 200

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
/** A run that waits, and in which each process can note something at any time. */
const work = {
  envelope: {
    objective: 'One line about tea',
    outputContract: { schema: text },
    policies: {
      runtime: [
        { id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not yet' } },
        ...['first', 'second'].map((id) => ({
          id,
          trigger: { kind: 'manual' },
          action: { type: 'emit', event: id, payload: { text: '\ndata: forged\n\n'.repeat(5) } },
        })),
      ],
    },
  },
  draft: { nodes: [{ id: 'step', capabilityId: 'step' }] },
}

describe.skipIf(missingPostgres() !== undefined)('a stream that two processes write and serve', () => {
  const here = processes()

  /** Notes one thing after the other until it is stopped; then returns how many. */
  function startWriter(at: Process, policyId: string, runId: string) {
    let stopped = false
    const written = (async () => {
      let count = 0
      while (!stopped) {
        const { status } = await at.call(`${api}/runs/${runId}/policies/${policyId}/trigger`, {})
        expect(status).toBe(202)
        count += 1
      }
      return count
    })()
    const stop = () => {
      stopped = true
      return written
    }
    return { written, stop }
  }

  it(
    `readers that are cut off ${connects} times and come back to either process see every event once and in order`,
    async () => {
      const both = await Promise.all([here.serve(), here.serve()])
      const [begun] = await both[0].run(work)
      const { runId } = begun!
      const urls = both.map(({ address }) => `${address}${api}/runs/${runId}/events`)
      const writers = [startWriter(both[0], 'first', runId), startWriter(both[1], 'second', runId)]
      const { seen, cut, finish } = reconnect({ urls, seed: 8, readers: 8, connects })
      // A writer that fails must not leave readers waiting for what it would have written.
      await Promise.race([cut, ...writers.map(({ written }) => written)])
      const rest = finish()
      const written = await Promise.all(writers.map(({ stop }) => stop()))
      expect((await both[1].call(`${api}/runs/${runId}/cancel`, {})).status).toBeLessThan(300)
      expect(new Set(await rest)).toEqual(new Set(['complete']))

      const events = await loadEvents(here.store, runId)
      const logs = events.flatMap((event) => (event.type === 'log' ? [event.payload.event] : []))
      const noted = ['first', 'second'].map((id) => logs.filter((event) => event === id).length)
      expect(noted).toEqual(written)
      expect(Math.min(...written)).toBeGreaterThan(0)
      expect(seen.wrong).toEqual([])
      const redactor = createRedactor()
      const frames = events.map((event) => JSON.stringify(toFrame(event, runId, redactor)))
      expect(frames.filter((frame, index) => seen.frames.get(index + 1) !== frame)).toEqual([])
      expect(seen.frames.size).toBe(frames.length)
      console.log(
        `${seen.connects} connections to two processes saw ${seen.events} of ${events.length} events (${written.join(' and ')} notes by each), 0 gaps, 0 repeats`,
      )
      expect(await here.verify()).toMatch(/^1 run, \d+ events: all in order$/)
    },
    long ? 30 * 60_000 : 120_000,
  )
})
