/**
 * Limits the requests that are handled at once, and shares the capacity fairly: waiting requests are in one queue per tenant,
 * and free capacity goes to the tenants in turn (round robin). A tenant with hundreds of clients waits for itself; a request
 * of another tenant is next. Queues are bounded by the time that a new request would wait: beyond it, requests are refused
 * at once instead of waiting for an answer that comes too late (load shedding).
 */
import type { Clock } from '../../base/time/clock.ts'

export interface QueueOptions {
  /** Maximum requests that are handled at once. */
  readonly concurrency: number
  /** Requests that would wait longer than this are refused. */
  readonly waitMs: number
  readonly clock: Clock
}

export interface Permit {
  /** May be called more than once. */
  release(): void
}

/** `queue`: the tenant has too many requests in its queue. `late`: the request waited and got no permit in time. */
export interface NotAdmitted {
  readonly why: 'queue' | 'late'
  /** Number of requests of the tenant that are waiting. */
  readonly waiting: number
  /** How long the next request would wait. */
  readonly waitMs: number
}

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

export function createFairQueue({ concurrency, waitMs, clock }: QueueOptions): FairQueue {
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
