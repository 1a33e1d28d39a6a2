/**
 * Limits requests per token, failed authentications per address, and what a tenant may use: active runs, storage, tokens and
 * spend. Counters are in memory and bounded in number.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Store, TenantUsage } from '../../domain/ports/store.ts'
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
  /** Callbacks of agents per address. Default 1,000 in 10 seconds; `false`: no limit. */
  readonly callbacks?: Rate | false
  /** Registrations of agents per token. Default 60 a minute; `false`: no limit. */
  readonly registrations?: Rate | false
}

export interface RateLimit {
  count(caller: Caller): Promise<Refusal | undefined>
  /** Call it after a token or a callback was refused. */
  countFailure(address: string): Promise<Refusal | undefined>
  /** Returns a refusal while too many tokens or callbacks of this address were refused. */
  checkFailures(address: string): Promise<Refusal | undefined>
  countCallback(address: string): Promise<Refusal | undefined>
  countRegistration(caller: Caller): Promise<Refusal | undefined>
  /** Counts a callback that was refused after its body was read. */
  countRefusedBody(path: string): Promise<void>
  /** Returns a refusal while too many bodies of this path were refused: the next one is not read. */
  checkRefusedBodies(path: string): Promise<Refusal | undefined>
}

/** Refused bodies per callback URL, after which its bodies are no longer read for a while. */
const refusedBodies: Rate = { requests: 20, seconds: 60 }

/** Number of counters for addresses. Addresses are hashed into them, because a map keyed by untrusted callers could grow without bound. */
const addressCounters = 4096

export function createRateLimit(options: RateOptions = {}): RateLimit {
  const rate = options.rate ?? { requests: 1_000, seconds: 10 }
  const failures = options.failures ?? { requests: 60, seconds: 60 }
  const callbacks = options.callbacks ?? { requests: 1_000, seconds: 10 }
  const registrations = options.registrations ?? { requests: 60, seconds: 60 }
  const byToken = rate && createCounter(rate, 'requests of the token', '`server.rate_requests`')
  const byAddress = failures && createCounter(failures, 'refused requests', '`server.failed_tokens`')
  const byAgent = callbacks && createCounter(callbacks, 'callbacks', '`server.callback_requests`')
  const byRegistrant =
    registrations && createCounter(registrations, 'registrations of the token', '`server.registrations`')
  const bodies = new RateLimiterMemory({ points: refusedBodies.requests, duration: refusedBodies.seconds })
  return {
    count: async ({ tokenId }) => (byToken ? byToken.count(tokenId) : undefined),
    countFailure: async (address) => (byAddress ? byAddress.count(toBucket(address)) : undefined),
    checkFailures: async (address) => (byAddress ? byAddress.check(toBucket(address)) : undefined),
    countCallback: async (address) => (byAgent ? byAgent.count(toBucket(address)) : undefined),
    countRegistration: async ({ tokenId }) => (byRegistrant ? byRegistrant.count(tokenId) : undefined),
    async countRefusedBody(path) {
      await bodies.penalty(sha256Hex(path))
    },
    async checkRefusedBodies(path) {
      const used = await bodies.get(sha256Hex(path))
      if (used === null || used.consumedPoints < refusedBodies.requests) return undefined
      const { requests, seconds } = refusedBodies
      return limited(`${requests} callbacks of this call were refused in ${seconds} s`, used.msBeforeNext)
    },
  }
}

/** Counts in fixed windows. `what` and `setting` are for the message. */
function createCounter({ requests, seconds }: Rate, what: string, setting: string) {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })
  const refuse = (waitMs: number) =>
    limited(`more than ${requests} ${what} in ${seconds} s (${setting})`, waitMs)
  return {
    async count(key: string): Promise<Refusal | undefined> {
      try {
        await limiter.consume(key)
        return undefined
      } catch (cause) {
        if (!(cause instanceof RateLimiterRes)) throw cause
        return refuse(cause.msBeforeNext)
      }
    },
    /** Returns whether the next one would be refused, without counting it. */
    async check(key: string): Promise<Refusal | undefined> {
      const used = await limiter.get(key)
      return used === null || used.consumedPoints < requests ? undefined : refuse(used.msBeforeNext)
    },
  }
}

function limited(why: string, waitMs: number): Refusal {
  const wait = Math.max(1, Math.ceil(waitMs / 1000))
  return refusal('rate/limit', `Rate limit exceeded: ${why}`, {
    hint: `Retry in ${wait} s`,
    headers: { 'retry-after': String(wait) },
  })
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
/** Maximum tenants whose count or sums are cached; the oldest entry is evicted. */
const mostTenants = 1_000

function createRunQuota(store: Pick<Store, 'runs'>, most: number, { now }: Pick<Clock, 'now'>): RunQuota {
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
      return refusal('quota/runs', `The tenant has ${most} active runs, the maximum (\`server.max_runs\`)`, {
        headers: { 'retry-after': '1' },
      })
    },
  }
}

/**
 * Quotas of a tenant for what is counted in the store: storage, and tokens and spend of the last 24 hours. The sums are
 * cached for a few seconds, so a tenant may exceed a quota by what it starts meanwhile; runs that are accepted are carried
 * out. `constraints.maxCostUsd` and `maxTokens` of an envelope limit a single run exactly.
 */
interface UsageQuotas {
  /** Stored characters of events and values of one tenant. Default: no limit. */
  readonly storedChars?: number
  /** Tokens of models of one tenant in 24 hours. Default: no limit. */
  readonly dailyTokens?: number
  /** Spend of one tenant in 24 hours, in US dollars. Default: no limit. */
  readonly dailyUsd?: number
}

interface UsageQuota {
  /** Returns why the tenant may not start another run. */
  check(tenant: string): Promise<Refusal | undefined>
}

const dayMs = 24 * 3_600_000
/** How long sums are cached. */
const sumsMs = 5_000

function createUsageQuota(
  store: Pick<Store, 'usage' | 'name'>,
  quotas: UsageQuotas,
  { now }: Pick<Clock, 'now'>,
): UsageQuota {
  const { storedChars, dailyTokens, dailyUsd } = quotas
  if (storedChars === undefined && dailyTokens === undefined && dailyUsd === undefined)
    return { check: async () => undefined }
  if (store.usage === undefined)
    throw new ProvisoError(
      'option/invalid',
      `Cannot apply quotas of storage, tokens or spend: the store ${store.name} does not count them`,
      { hint: 'Implement `usage` of the store, or remove these quotas' },
    )
  const sums = new Map<string, { readonly at: number; readonly usage: Promise<TenantUsage> }>()
  const getUsage = (tenant: string): Promise<TenantUsage> => {
    const known = sums.get(tenant)
    if (known && now() - known.at < sumsMs) return known.usage
    const usage = (store.usage as NonNullable<Store['usage']>)({ tenant, from: now() - dayMs })
    usage.catch(() => sums.delete(tenant))
    sums.delete(tenant)
    sums.set(tenant, { at: now(), usage })
    for (const oldest of sums.keys()) {
      if (sums.size <= mostTenants) break
      sums.delete(oldest)
    }
    return usage
  }
  return {
    async check(tenant) {
      const { stored, tokens, costUsd } = await getUsage(tenant)
      if (storedChars !== undefined && stored >= storedChars)
        return refusal(
          'quota/storage',
          `The tenant has stored ${stored} characters; the maximum is ${storedChars} (\`quota.stored_chars\`)`,
          { headers: { 'retry-after': '60' } },
        )
      if (dailyTokens !== undefined && tokens >= dailyTokens)
        return refusal(
          'quota/tokens',
          `The tenant has used ${tokens} tokens in 24 hours; the maximum is ${dailyTokens} (\`quota.daily_tokens\`)`,
          { headers: { 'retry-after': '60' } },
        )
      if (dailyUsd !== undefined && costUsd >= dailyUsd)
        return refusal(
          'quota/spend',
          `The tenant has spent $${costUsd.toFixed(4)} in 24 hours; the maximum is $${dailyUsd} (\`quota.daily_usd\`)`,
          { headers: { 'retry-after': '60' } },
        )
      return undefined
    },
  }
}

export interface TenantQuotas extends UsageQuotas {
  /** Maximum active runs per tenant. Default 1,000. */
  readonly runs?: number
}

/** All quotas of tenants: what they have used, then how many runs they have. */
export function createTenantQuota(store: Store, quotas: TenantQuotas, clock: Pick<Clock, 'now'>): RunQuota {
  const usage = createUsageQuota(store, quotas, clock)
  const runs = createRunQuota(store, quotas.runs ?? 1_000, clock)
  return { take: async (tenant) => (await usage.check(tenant)) ?? runs.take(tenant) }
}
