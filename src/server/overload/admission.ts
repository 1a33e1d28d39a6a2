/**
 * Decides whether a request is handled now, before its body is read: by the lag of the event loop and by the time it would
 * wait in the queue, which all tenants share fairly. What is admitted is carried out. Requests that control runs (cancel, resume, replies, heartbeats) are always
 * admitted, so that an overloaded server can be relieved.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../../base/time/clock.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Caller, Route } from '../route.ts'

export interface AdmissionOptions {
  /** Requests handled at once, until a run is accepted or a response begins; others wait, tenant by tenant. Default 64: as many as one commit of SQLite takes. */
  readonly handling?: number
  /** Requests that would wait longer are refused with 429. Default 1,000. */
  readonly queueMs?: number
  /** Requests are refused with 503 while the event loop lags by more than this all the time; 0: never. Default 500. */
  readonly lagMs?: number
}

export interface Admission {
  /** Waits for the turn of the caller's tenant. Release the permit when the request is accepted or answered. */
  enter(route: Route, caller: Caller): Promise<Permit | Refusal>
  readonly queue: Pick<FairQueue, 'active' | 'waiting'>
}

export function createAdmission(
  { handling = 64, queueMs = 1_000, lagMs = 500 }: AdmissionOptions,
  { lag, clock, onRefused }: AdmissionParts,
): Admission {
  const queue = createFairQueue({ concurrency: handling, waitMs: queueMs, clock })
  return {
    queue,
    async enter(route, { tenant }) {
      if (route.isControl) return free
      const late = lag.least()
      if (lagMs > 0 && late > lagMs) {
        onRefused('lag')
        return overloaded(
          `The event loop has been behind by at least ${Math.round(late)} ms for a second (\`server.max_lag_ms\` is ${lagMs})`,
          1_000,
        )
      }
      const entered = await queue.enter(tenant)
      if ('release' in entered) return entered
      onRefused(entered.why)
      if (entered.why === 'late')
        return overloaded(
          `The request waited for ${2 * queueMs} ms without a turn (\`server.queue_wait_ms\` is ${queueMs})`,
          entered.waitMs,
        )
      return refusal(
        'overload/queue',
        `The tenant has ${entered.waiting} requests waiting; one more would wait about ${Math.round(entered.waitMs)} ms (\`server.queue_wait_ms\` is ${queueMs})`,
        { headers: { 'retry-after': toSeconds(entered.waitMs) } },
      )
    },
  }
}

interface AdmissionParts {
  readonly lag: Pick<LoopLag, 'least'>
  readonly clock: Clock
  readonly onRefused: (why: 'lag' | 'queue' | 'late') => void
}

const free: Permit = { release() {} }

function overloaded(detail: string, waitMs: number): Refusal {
  return refusal('overload/server', detail, { headers: { 'retry-after': toSeconds(waitMs) } })
}

function toSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}

/**
 * Measures how late the event loop is. `least` is the least lag of the last second (as in CoDel): a single long task
 * raises one sample only, but a loop that is behind all the time raises every one.
 */
export interface LoopLag {
  /** Least lag of the last second, in milliseconds. */
  least(): number
  /** Percentiles since the last call, in milliseconds. */
  percentiles(): { readonly p50: number; readonly p99: number; readonly max: number }
  stop(): void
}

const sampleMs = 100
const samples = 10
const nanoseconds = 1e6

export function createLoopLag(now: () => number = () => performance.now()): LoopLag {
  const recent: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let due = now() + sampleMs
  const timer = setInterval(() => {
    const at = now()
    recent.push(Math.max(0, at - due))
    if (recent.length > samples) recent.shift()
    due = at + sampleMs
  }, sampleMs)
  timer.unref()
  return {
    least: () => (recent.length < samples ? 0 : Math.min(...recent)),
    percentiles() {
      const [p50, p99, max] = [delay.percentile(50), delay.percentile(99), delay.max].map((value) =>
        Math.max(0, value / nanoseconds - 10),
      ) as [number, number, number]
      delay.reset()
      return { p50, p99, max }
    },
    stop() {
      clearInterval(timer)
      delay.disable()
    },
  }
}

interface QueueOptions {
  /** Maximum requests that are handled at once. */
  readonly concurrency: number
  /** Requests that would wait longer than this are refused. */
  readonly waitMs: number
  readonly clock: Clock
}

interface Permit {
  /** May be called more than once. */
  release(): void
}

/** `queue`: the tenant has too many requests in its queue. `late`: the request waited and got no permit in time. */
interface NotAdmitted {
  readonly why: 'queue' | 'late'
  /** Number of requests of the tenant that are waiting. */
  readonly waiting: number
  /** How long the next request would wait. */
  readonly waitMs: number
}

/**
 * Limits the requests that are handled at once, and shares the capacity fairly: waiting requests are in one queue per tenant,
 * and free capacity goes to the tenants in turn (round robin). A tenant with hundreds of clients waits for itself; a request
 * of another tenant is next. Queues are bounded by the time that a new request would wait: beyond it, requests are refused
 * at once instead of waiting for an answer that comes too late (load shedding).
 */
export interface FairQueue {
  enter(tenant: string): Promise<Permit | NotAdmitted>
  readonly active: number
  readonly waiting: number
}

interface Entry {
  readonly at: number
  settle(result: Permit | NotAdmitted): void
}

/** Weight of the newest interval in the moving average of the intervals between releases. */
const weight = 0.05
/** Longest interval that counts: a single pause of the process says little about the next releases. */
const longestIntervalMs = 100

function createFairQueue({ concurrency, waitMs, clock }: QueueOptions): FairQueue {
  /** Queues by tenant. The order of the map is the order of turns. */
  const queues = new Map<string, Entry[]>()
  let active = 0
  let waiting = 0
  /** Moving average of the time between two releases while requests wait. */
  let intervalMs = 1
  let releasedAt: number | undefined
  let isWatching = false

  const createPermit = (): Permit => {
    let isReleased = false
    active++
    return {
      release() {
        if (isReleased) return
        isReleased = true
        active--
        measure()
        grant()
      },
    }
  }
  const measure = () => {
    const now = clock.now()
    if (waiting > 0 && releasedAt !== undefined) {
      const interval = Math.min(Math.max(now - releasedAt, 0), longestIntervalMs)
      intervalMs += weight * (interval - intervalMs)
    }
    releasedAt = waiting > 0 ? now : undefined
  }
  const grant = () => {
    for (const [tenant, queue] of queues) {
      if (active >= concurrency) return
      take(tenant, queue)?.settle(createPermit())
    }
    if (queues.size > 0 && active < concurrency) grant()
  }
  /** Takes the first request of a tenant; its next one waits behind the other tenants. */
  const take = (tenant: string, queue: Entry[]): Entry | undefined => {
    const entry = queue.shift()
    waiting--
    queues.delete(tenant)
    if (queue.length > 0) queues.set(tenant, queue)
    return entry
  }
  const estimate = (queued: number) => (queued + 1) * Math.max(queues.size, 1) * intervalMs
  /** Refuses what has waited twice as long as it should: the estimate was wrong, or requests are stuck. */
  const watch = () => {
    if (isWatching || waiting === 0) return
    isWatching = true
    clock.timer(clock.now() + waitMs, () => {
      isWatching = false
      const before = clock.now() - 2 * waitMs
      for (const [tenant, queue] of [...queues])
        while (queue[0] !== undefined && queue[0].at <= before)
          take(tenant, queue)?.settle({ why: 'late', waiting: queue.length, waitMs: estimate(queue.length) })
      watch()
    })
  }
  return {
    async enter(tenant) {
      if (active < concurrency && waiting === 0) return createPermit()
      const queue = queues.get(tenant) ?? []
      const expected = estimate(queue.length)
      if (expected > waitMs) return { why: 'queue', waiting: queue.length, waitMs: expected }
      return new Promise((settle) => {
        queue.push({ at: clock.now(), settle })
        queues.set(tenant, queue)
        waiting++
        watch()
      })
    },
    get active() {
      return active
    },
    get waiting() {
      return waiting
    },
  }
}
