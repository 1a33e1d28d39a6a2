/**
 * T6: PostgreSQL behind a network that cuts connections, leaves them half open, and a server that dies: nothing is lost,
 * nothing is doubled, no process ends, and no process waits for a silent connection for longer than an answer may take.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import { createApp, defineCapability, type Store } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import { checkRuns } from '../kill/check.ts'
import type { Effect } from '../kill/effects.ts'
import { expected } from '../kill/trial.ts'
import { capabilities, draft, envelope, model } from '../kill/workload.ts'
import { logEvent, newRun, runningHead } from '../seams/stores.ts'
import { type TcpProxy, tcpProxy } from './faults/tcp-proxy.ts'

const long = process.env['PROVISO_LONG'] === '1'
const faults = long ? 20 : 4
const minutes = 60_000
/** One answer may take this long here. */
const answerMs = 1_000
/** A silent connection is noticed after an answer's time and a second; the rest is for machines that others use too. */
const soonMs = answerMs + 15_000

describe.skipIf(missingPostgres() !== undefined)('PostgreSQL behind a bad network', () => {
  let cluster: Cluster
  let proxy: TcpProxy
  beforeAll(async () => {
    cluster = await start()
    proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(cluster.url).port) })
  })
  afterAll(async () => {
    await proxy?.close()
    cluster?.stop()
  })
  const stores: Store[] = []
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
  })

  let schemas = 0
  async function open(schema = `network_${++schemas}`): Promise<Store> {
    const url = new URL(cluster.url)
    url.port = String(proxy.port)
    const store = await openPostgresStore({ url: url.href, schema, answerMs })
    stores.push(store)
    return store
  }

  const bad = ['cut', 'freeze'] as const

  it.each(bad)(
    'writers continue soon after every %s, and lose and double nothing',
    async (kind) => {
      const store = await open()
      store.onChange(() => {})
      let stop = false
      const writer = async (runId: string) => {
        await store.create(newRun(runId))
        let seq = 1
        while (!stop) {
          const events = [logEvent(`${runId}-${seq}`)]
          const result = await store.append({ runId, expectedSeq: seq, events, head: runningHead })
          // No other process writes to this run: anything but an append is a lost or a doubled write.
          expect(result).toEqual({ kind: 'appended', seq: seq + 1 })
          seq += 1
        }
        return seq
      }
      const ids = Array.from({ length: 4 }, (_, index) => `r-${index}`)
      const writers = Promise.all(ids.map(writer))
      const progress = async () => {
        const before = (await store.head('r-0'))?.seq ?? 0
        const grown = async () => (await store.head('r-0'))?.seq ?? 0
        await expect.poll(grown, { timeout: soonMs }).toBeGreaterThan(before)
      }
      await progress()
      for (let nth = 0; nth < faults; nth++) {
        const began = performance.now()
        proxy[kind]()
        await progress()
        expect(performance.now() - began).toBeLessThan(2 * soonMs)
      }
      stop = true
      const acknowledged = await writers
      for (const [index, runId] of ids.entries()) {
        const values = (await store.read(runId, 0, 1_000_000))
          .slice(1)
          .map(({ payload }) => (payload as { payload: { value: string } }).payload.value)
        const wanted = Array.from({ length: (acknowledged[index] ?? 0) - 1 }, (_, at) => `${runId}-${at + 1}`)
        expect(values).toEqual(wanted)
      }
    },
    10 * minutes,
  )

  it(
    'listens again after its connection fell silent',
    async () => {
      const [caller, listener] = [await open('listened'), await open('listened')]
      const received = new Set<string>()
      listener.onChange((runId) => received.add(runId))
      proxy.freeze()
      let nth = 0
      const countNotices = async () => {
        await caller.create(newRun(`noticed-${++nth}`))
        return received.size
      }
      await expect.poll(countNotices, { timeout: 2 * soonMs, interval: 200 }).toBeGreaterThan(0)
    },
    2 * minutes,
  )

  it(
    'closing does not wait for connections without an answer',
    async () => {
      const store = await open()
      store.onChange(() => {})
      await Promise.all([store.create(newRun('a')), store.create(newRun('b')), store.runs({})])
      const began = performance.now()
      proxy.freeze()
      await store.close()
      expect(performance.now() - began).toBeLessThan(soonMs)
    },
    2 * minutes,
  )

  it(
    'an app with work under way closes soon though the server is gone',
    async () => {
      const gone = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(cluster.url).port) })
      const url = new URL(cluster.url)
      url.port = String(gone.port)
      const wait = defineCapability({
        capabilityId: 'wait',
        inputContract: { type: 'object' },
        outputContract: { type: 'object' },
        run: () => new Promise<Record<string, never>>(() => {}),
      })
      const app = await createApp({ store: url.href, capabilities: [wait], onCrash() {} })
      const { id: runId } = await app.start(
        { objective: 'Wait', outputContract: { schema: { type: 'object' } } },
        { draft: { nodes: [{ id: 'wait', capabilityId: 'wait' }] } },
      )
      await gone.close()
      const cancelled = app.cancel(runId, { by: 'ann' }).catch((error: unknown) => error)
      const began = performance.now()
      await app.close({ graceMs: 100 })
      expect(performance.now() - began).toBeLessThan(soonMs)
      expect(await cancelled).toMatchObject({ code: 'store/unavailable' })
    },
    2 * minutes,
  )

  it(
    'runs of twelve nodes end as expected through cuts, silence and deaths',
    async () => {
      const store = await open()
      const effects: Effect[] = []
      const mark = (effect: Effect) => effects.push(effect)
      const crashes: unknown[] = []
      const app = await createApp({
        store,
        capabilities: capabilities(mark),
        providers: [model(mark)],
        pollMs: 100,
        leaseMs: 3_000,
        onCrash: (_, cause) => crashes.push(cause),
      })
      let stop = false
      const disturb = async () => {
        for (let nth = 0; nth < faults; nth++) {
          await started(store, nth + 1)
          if (stop) return nth
          cluster.restartImmediate()
          await started(store, nth + 1)
          proxy[bad[nth % bad.length] ?? 'cut']()
        }
        return faults
      }
      const runIds = Array.from({ length: long ? 100 : 16 }, (_, index) => `run-${index}`)
      const disturbed = disturb()
      for (let first = 0; first < runIds.length; first += 4)
        await Promise.all(runIds.slice(first, first + 4).map((runId) => executeRun(runId)))
      stop = true
      expect(await disturbed).toBe(faults)

      async function executeRun(runId: string): Promise<void> {
        await patiently(() => once(() => app.start(envelope, { runId, draft })))
        for (;;) {
          const { status } = await patiently(() => app.result(runId))
          if (status !== 'waiting') return
          const asks = await patiently(() => app.store.asks({ runId, status: 'pending' }))
          for (const { requestId, valueHash } of asks) {
            const given = { requestId, valueHash, by: 'ann', decision: 'approve' } as const
            await patiently(() => once(() => app.reply(runId, given)))
          }
        }
      }
      await app.close()
      const verdict = await checkRuns(store, runIds, { outside: { effects, acknowledged: [] }, expected })
      expect(verdict.violations).toEqual([])
      expect(verdict).toMatchObject({ lost: 0, duplicated: 0 })
      expect(crashes.filter((cause) => !isAway(cause))).toEqual([])
    },
    30 * minutes,
  )

  /** Resolves when so many groups of runs have been begun. */
  async function started(store: Store, groups: number): Promise<void> {
    const count = async () => (await store.runs({ limit: 1000 })).length
    await expect.poll(count, { timeout: 5 * minutes, interval: 20 }).toBeGreaterThan((groups - 1) * 4)
  }
})

function isAway(error: unknown): boolean {
  return error instanceof ProvisoError && error.code === 'store/unavailable'
}

/** A caller who tries again while the store is away. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 20; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (left === 0 || !isAway(error)) throw error
    }
  }
}

/** That it was done already is as good: only the answer to the first try was lost. */
async function once(work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof ProvisoError && /^(run\/exists|ask\/resolved)$/.test(error.code))) throw error
  })
}
