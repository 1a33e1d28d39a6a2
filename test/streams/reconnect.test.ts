/** The promise that only two writing processes and many cut connections can show: no gap, no repeat, in order. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import type { Store } from '../../src/index.ts'
import { createRedactor, toFrame } from '../seams/domain.ts'
import { loadEvents, verifyHistory } from '../seams/engine.ts'
import { getWakeups } from '../seams/server.ts'
import { newRun, sampleEvent } from '../seams/stores.ts'
import { reconnect } from './reconnects.ts'
import { serveStreams } from './serve.ts'
import type { WriterTask } from './writer.ts'

const long = process.env['PROVISO_LONG'] === '1'
const connects = long ? 10_000 : 200

describe.skipIf(missingPostgres() !== undefined)('while two processes write to one run on PostgreSQL', () => {
  let cluster: Cluster
  let store: Store
  let program = ''
  let dispose = () => {}
  beforeAll(async () => {
    cluster = await start()
    store = await openPostgresStore({ url: cluster.url })
    const compiled = await compile({ writer: 'test/streams/writer.ts' })
    program = compiled.programs.writer
    dispose = compiled.dispose
  })
  afterAll(async () => {
    dispose()
    await store?.close()
    cluster?.stop()
  })

  /** Resolves when the process has written something. */
  async function startWriter(seed: number) {
    const task: WriterTask = { url: cluster.url, runId: 'r', seed }
    const child = spawn(process.execPath, [program, JSON.stringify(task)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('writing')
    return {
      /** How many events it has written. */
      async stop(): Promise<number> {
        child.stdin.end()
        let last = ''
        for await (const line of { [Symbol.asyncIterator]: () => lines }) last = line
        return Number(last)
      },
    }
  }

  it(
    `readers that are cut off ${connects} times miss nothing, see nothing twice and keep the order`,
    async () => {
      await store.create(newRun('r', { head: { status: 'pending', planVersion: 0 } }))
      const served = await serveStreams({ store })
      const writers = await Promise.all([startWriter(1), startWriter(2)])
      const { seen, cut, finish } = reconnect({ urls: [`${served.url}/r`], seed: 8, readers: 8, connects })
      await cut
      const rest = finish()
      const written = await Promise.all(writers.map((writer) => writer.stop()))
      const { seq: expectedSeq = 0 } = (await store.head('r')) ?? {}
      await store.append({
        runId: 'r',
        expectedSeq,
        events: [sampleEvent('complete', { status: 'cancelled' }, { planVersion: 0 })],
        head: { status: 'cancelled', planVersion: 0 },
      })
      expect(new Set(await rest)).toEqual(new Set(['complete']))

      const events = await loadEvents(store, 'r')
      const head = await store.head('r')
      expect(verifyHistory(events, { ...(head && { head }) })).toEqual([])
      expect(Math.min(...written)).toBeGreaterThan(0)
      expect(events.length).toBe(2 + written.reduce((sum, count) => sum + count, 0))
      expect(seen.wrong).toEqual([])
      const redactor = createRedactor()
      const frames = events.map((event) => JSON.stringify(toFrame(event, 'c-1', redactor)))
      expect(frames.filter((frame, index) => seen.frames.get(index + 1) !== frame)).toEqual([])
      expect(seen.frames.size).toBe(frames.length)
      console.log(
        `${seen.connects} connections saw ${seen.events} of ${events.length} events (${written.join(' and ')} by each writer), 0 gaps, 0 repeats`,
      )
      await served.ended(seen.connects)
      expect(getWakeups(store).open).toBe(0)
      await served.close()
    },
    long ? 30 * 60_000 : 120_000,
  )
})
