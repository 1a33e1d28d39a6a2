/**
 * Retries calls that were turned away or never arrived (429, 503, connection refused or reset, DNS): exponential backoff
 * with full jitter, within the deadline of whoever calls. The one place that waits before calling again.
 */
import { type Clock, systemClock } from './clock.ts'

export interface RetryPolicy {
  /** Most tries, the first included. */
  readonly max: number
  /** Longest pause after the first failed try. */
  readonly baseMs: number
  /** Each pause is this many times as long as the one before. */
  readonly factor: number
  /** No pause is longer, unless the server asks for it. */
  readonly capMs: number
  /** `full`: a random part of the pause, so that callers do not return together; `none`: all of it. */
  readonly jitter: 'full' | 'none'
}

/** For calls of models, agents and tools. */
export const callRetryPolicy: RetryPolicy = {
  max: 5,
  baseMs: 500,
  factor: 2,
  capMs: 30_000,
  jitter: 'full',
}

/** Where the caller has no deadline, a server that asks for a longer pause than this is not waited for. */
export const longestRetryAfterMs = 300_000

/** The pause after so many failed tries. `random` returns a number from 0 to below 1. */
export function backoffMs(policy: RetryPolicy, failures: number, random: () => number = Math.random): number {
  const most = Math.min(policy.baseMs * policy.factor ** Math.max(failures - 1, 0), policy.capMs)
  return policy.jitter === 'full' ? Math.round(most * random()) : most
}

/** The time and chance that retries depend on, so that tests and the simulation need not sleep. */
export interface RetrySource {
  readonly clock?: Clock | undefined
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

export interface RetryOptions extends RetrySource {
  /** Over `callRetryPolicy`. */
  readonly policy?: Partial<RetryPolicy> | undefined
  /** Ends a pause at once. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970: no pause goes beyond it. */
  readonly deadlineAt?: number | undefined
  /** Called before each pause. */
  readonly onRetry?: ((retry: ScheduledRetry) => void) | undefined
}

/** Why a try may be repeated. */
export interface FailedTry {
  readonly outcome: 'throttled' | 'unavailable'
  /** The server asked for a pause of this length. */
  readonly retryAfterMs?: number | undefined
}

export interface ScheduledRetry extends FailedTry {
  /** Failed tries so far. */
  readonly failures: number
  readonly waitMs: number
}

export interface Retries {
  /**
   * Calls until a result is no failed try, and returns the last result. All calls of one attempt share its tries, so that an
   * attempt that makes several calls is not throttled more often than one that makes a single call.
   */
  run<T>(call: () => Promise<T>, failedTry: (result: T) => FailedTry | undefined): Promise<T>
}

export function createRetries(options: RetryOptions): Retries {
  const { signal, deadlineAt, onRetry, random, clock = systemClock } = options
  const policy = { ...callRetryPolicy, ...options.policy }
  let failures = 0
  return {
    async run(call, failedTry) {
      for (;;) {
        const result = await call()
        const failed = failedTry(result)
        if (failed === undefined || ++failures >= policy.max || signal.aborted) return result
        const asked = failed.retryAfterMs ?? 0
        const waitMs = Math.max(asked, backoffMs(policy, failures, random))
        const isTooLong =
          deadlineAt === undefined ? asked > longestRetryAfterMs : clock.now() + waitMs >= deadlineAt
        if (isTooLong) return result
        onRetry?.({ ...failed, failures, waitMs })
        await pause(clock, waitMs, signal)
        if (signal.aborted) return result
      }
    },
  }
}

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancelTimer()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancelTimer = clock.timer(clock.now() + ms, end)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
