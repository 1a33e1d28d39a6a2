/**
 * Limits requests per token, failed authentications per address, and active runs per tenant. Counters are in memory and
 * bounded in number.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { sha256Hex } from '../../base/hash.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../domain/ports/store.ts'
import { activeStatuses } from '../../domain/status.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Caller } from '../route.ts'

export interface Rate {
  readonly requests: number
  readonly seconds: number
}

export interface RateOptions {
  /** Per token. Default 1,000 in 10 seconds; `false`: no limit. */
  readonly rate?: Rate | false
  /** Refused tokens per address, against guessing of tokens. Default 60 a minute; `false`: no limit. */
  readonly failures?: Rate | false
}

export interface RateLimit {
  count(caller: Caller): Promise<Refusal | undefined>
  /** Call it after a token was refused. */
  countFailure(address: string): Promise<Refusal | undefined>
}

/** Number of counters for addresses. Addresses are hashed into them, because a map keyed by untrusted callers could grow without bound. */
const addressCounters = 4096

export function createRateLimit(options: RateOptions = {}): RateLimit {
  const rate = options.rate ?? { requests: 1_000, seconds: 10 }
  const failures = options.failures ?? { requests: 60, seconds: 60 }
  const byToken = rate && createCounter(rate)
  const byAddress = failures && createCounter(failures)
  return {
    count: async ({ tokenId }) => (byToken ? byToken(tokenId) : undefined),
    countFailure: async (address) => (byAddress ? byAddress(toBucket(address)) : undefined),
  }
}

function createCounter({ requests, seconds }: Rate) {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })
  return async (key: string): Promise<Refusal | undefined> => {
    try {
      await limiter.consume(key)
      return undefined
    } catch (cause) {
      if (!(cause instanceof RateLimiterRes)) throw cause
      const wait = Math.max(1, Math.ceil(cause.msBeforeNext / 1000))
      return refusal('rate/limit', `Rate limit exceeded: more than ${requests} requests in ${seconds} s`, {
        hint: `Retry in ${wait} s`,
        headers: { 'retry-after': String(wait) },
      })
    }
  }
}

function toBucket(address: string): string {
  return String(Number.parseInt(sha256Hex(address).slice(0, 8), 16) % addressCounters)
}

/**
 * Limits the active runs of each tenant. Runs are counted in the store once a second, and again before a request is
 * refused; between counts, runs started by this process are added.
 */
export interface RunQuota {
  /** Reserves one more run, or returns why the quota is exhausted. */
  take(tenant: string): Promise<Refusal | undefined>
}

interface Count {
  readonly at: number
  runs: number
}

/** How long a count is valid while the quota has free capacity, and when it seems exhausted. */
const freshMs = { some: 1_000, none: 50 } as const
/** Maximum tenants whose count is cached; the oldest entry is evicted. */
const mostTenants = 1_000

export function createRunQuota(
  store: Pick<Store, 'runs'>,
  most: number,
  { now }: Pick<Clock, 'now'>,
): RunQuota {
  const counts = new Map<string, Count>()
  /** Counts in progress: concurrent requests of a tenant share one query. */
  const counting = new Map<string, Promise<Count>>()
  const getCount = async (tenant: string): Promise<Count> => {
    const known = counts.get(tenant)
    if (known && now() - known.at < (known.runs < most ? freshMs.some : freshMs.none)) return known
    const shared = counting.get(tenant) ?? recount(tenant).finally(() => counting.delete(tenant))
    counting.set(tenant, shared)
    return shared
  }
  const recount = async (tenant: string): Promise<Count> => {
    const found = await store.runs({ tenant, status: activeStatuses, limit: most })
    const count = { at: now(), runs: found.length }
    counts.delete(tenant)
    counts.set(tenant, count)
    for (const oldest of counts.keys()) {
      if (counts.size <= mostTenants) break
      counts.delete(oldest)
    }
    return count
  }
  return {
    async take(tenant) {
      const count = await getCount(tenant)
      if (count.runs < most) {
        count.runs++
        return undefined
      }
      return refusal('quota/runs', `The tenant has ${most} active runs, the maximum`, {
        hint: 'Wait until some runs end, or cancel them',
        headers: { 'retry-after': '1' },
      })
    },
  }
}
