/** Metrics of the server itself: event loop, requests, store, streams, leases, open asks and worker threads. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../../base/time/clock.ts'
import { readStatus } from '../../engine/status.ts'
import { getPoolStats } from '../../output/thread/off-thread.ts'
import type { FairQueue, LoopLag } from '../overload/admission.ts'
import type { ServedApp } from '../served.ts'
import type { Streams } from '../stream/streams.ts'

export interface ServerMeters {
  /** Observes the time until a run is accepted. */
  observeAccept(ms: number): void
  observeResponse(response: { readonly route: string; readonly status: number; readonly ms: number }): void
  /** Counts a request that was refused because of overload. */
  countRefused(why: string): void
  observeStore(call: { readonly operation: string; readonly ms: number; readonly ok: boolean }): void
  countLostLease(): void
}

const buckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

export function createServerMeters(registry: Registry): ServerMeters {
  const registers = [registry]
  const accept = new Histogram({
    name: 'proviso_accept_ms',
    help: 'Time from a request to start a run until the run is stored',
    buckets,
    registers,
  })
  const responses = new Histogram({
    name: 'proviso_http_request_ms',
    help: 'Duration of requests by route and class of status',
    labelNames: ['route', 'status'],
    buckets,
    registers,
  })
  const refused = new Counter({
    name: 'proviso_http_shed',
    help: 'Requests refused because of overload: lag, queue or late',
    labelNames: ['reason'],
    registers,
  })
  const store = new Histogram({
    name: 'proviso_store_ms',
    help: 'Duration of calls of the engine to its store',
    labelNames: ['operation'],
    buckets,
    registers,
  })
  const errors = new Counter({
    name: 'proviso_store_errors',
    help: 'Calls of the engine to its store that failed',
    labelNames: ['operation'],
    registers,
  })
  const lost = new Counter({
    name: 'proviso_leases_lost',
    help: 'Runs that another process took over from this one',
    registers,
  })
  return {
    observeAccept: (ms) => accept.observe(ms),
    observeResponse: ({ route, status, ms }) =>
      responses.observe({ route, status: `${Math.floor(status / 100)}xx` }, ms),
    countRefused: (reason) => refused.inc({ reason }),
    observeStore({ operation, ms, ok }) {
      store.observe({ operation }, ms)
      if (!ok) errors.inc({ operation })
    },
    countLostLease: () => lost.inc(),
  }
}

export interface Watched {
  readonly app: Pick<ServedApp, 'active' | 'store'>
  readonly lag: Pick<LoopLag, 'percentiles' | 'least'>
  readonly queue: Pick<FairQueue, 'active' | 'waiting'>
  readonly streams: Pick<Streams, 'open'>
  readonly clock: Pick<Clock, 'now'>
}

/** How many quarantined runs are counted. */
const mostQuarantined = 1_000
/** Longest time that a scrape waits for the store. */
const patienceMs = 1_000

/** Registers the gauges, which are read on each scrape. */
export function watchServer(registry: Registry, { app, lag, queue, streams, clock }: Watched): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  new Gauge({
    name: 'proviso_loop_lag_ms',
    help: 'Lag of the event loop since the last scrape; least: the least lag of the last second',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      const { p50, p99, max } = lag.percentiles()
      const figures = { '0.5': p50, '0.99': p99, max, least: lag.least() }
      for (const [quantile, ms] of Object.entries(figures)) this.set({ quantile }, ms)
    },
  })
  gauge('proviso_http_handling', 'Requests that are handled now', () => queue.active)
  gauge('proviso_http_waiting', 'Requests that wait for the turn of their tenant', () => queue.waiting)
  gauge('proviso_streams_open', 'Open event streams', () => streams.open)
  gauge('proviso_leases_held', 'Runs that this process has a lease on', () => app.active)
  new Gauge({
    name: 'proviso_ask_age_ms',
    help: 'Age of the oldest open ask in the store; 0 if none is open',
    registers: [registry],
    async collect() {
      const age = await findAskAge(app, clock)
      if (age !== undefined) this.set(age)
    },
  })
  new Gauge({
    name: 'proviso_runs_quarantined',
    help: `Quarantined runs in the store, which wait for an operator; at most ${mostQuarantined}`,
    registers: [registry],
    async collect() {
      const query = { status: ['quarantined'], limit: mostQuarantined } as const
      const runs = await waitBriefly(app.store.runs(query))
      if (runs !== undefined) this.set(runs.length)
    },
  })
  const inspect = shareReading(async () => app.store.inspectQueue?.())
  new Gauge({
    name: 'proviso_queue_lag_ms',
    help: 'How long the oldest due run of the store waits; 0 if none is due',
    registers: [registry],
    async collect() {
      const found = await inspect()
      if (found !== undefined) this.set(Math.max(0, found.now - (found.oldestDue[0]?.dueAt ?? found.now)))
    },
  })
  new Gauge({
    name: 'proviso_runs_due',
    help: 'Runs in the store that could be claimed now and are not',
    registers: [registry],
    async collect() {
      const found = await inspect()
      if (found !== undefined) this.set(found.due)
    },
  })
  watchFleet(registry, app)
  gauge('proviso_workers', 'Worker threads for untrusted text', () => getPoolStats().threads)
  gauge('proviso_workers_busy', 'Worker threads that work', () => getPoolStats().busy)
  gauge('proviso_workers_queued', 'Texts that wait for a worker thread', () => getPoolStats().queued)
}

/** Gauges of all processes on the store: they announce themselves there, so that one scrape shows all of them. */
function watchFleet(registry: Registry, { store }: Watched['app']): void {
  const read = shareReading(async () => store.inspectQueue && readStatus(store))
  new Gauge({
    name: 'proviso_limit_permits',
    help: 'Permits of limits of the fleet, by limit: held by attempts, and wanted by those under way and waiting',
    labelNames: ['limit', 'state'],
    registers: [registry],
    async collect() {
      const found = await read()
      if (found === undefined) return
      this.reset()
      for (const { name, held, wanted } of found.limits) {
        this.set({ limit: name, state: 'held' }, held)
        this.set({ limit: name, state: 'wanted' }, wanted)
      }
    },
  })
  new Gauge({
    name: 'proviso_circuits_open',
    help: 'Capabilities and models that processes do not call for a while, by circuit: the number of processes',
    labelNames: ['circuit'],
    registers: [registry],
    async collect() {
      const found = await read()
      if (found === undefined) return
      this.reset()
      for (const { isAlive, circuits = [] } of found.processes)
        if (isAlive) for (const { name } of circuits) this.inc({ circuit: name })
    },
  })
}

/** One query for all gauges of a scrape that need it: they are collected at the same time. */
function shareReading<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined
  return () => {
    reading ??= waitBriefly(read()).finally(() => {
      reading = undefined
    })
    return reading
  }
}

async function findAskAge({ store }: Watched['app'], { now }: Watched['clock']): Promise<number | undefined> {
  const oldest = await waitBriefly(store.asks({ status: 'pending', limit: 1 }))
  if (oldest === undefined) return undefined
  const [ask] = oldest
  return ask === undefined ? 0 : Math.max(0, now() - ask.createdAt)
}

/** Resolves to `undefined` if the store fails or does not answer in time: the other metrics are needed most then. */
function waitBriefly<T>(reading: Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), patienceMs).unref())
  return Promise.race([reading.catch(() => undefined), late])
}
