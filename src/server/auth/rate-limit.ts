/** Limits requests per token, and failed authentications per address. Counters are in memory and bounded in number. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { sha256Hex } from '../../base/hash.ts'
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
