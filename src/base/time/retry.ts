/**
 * Retries calls that were throttled or never arrived (429, 503, connection refused or reset, DNS): exponential backoff
 * with full jitter, within the deadline of the caller. Every pause before a repetition is the backoff of a `RetryPolicy`.
 */
import { type Clock, systemClock } from './clock.ts'

export interface RetryPolicy {
  /** Maximum number of calls, including the first. */
  readonly max: number
  /** Upper bound of the pause after the first failure. */
  readonly baseMs: number
  /** Growth factor of the pause. */
  readonly factor: number
  /** Upper bound of all pauses, unless the server asks for a longer one. */
  readonly capMs: number
  /** `full`: a random part of the pause, so that callers do not retry in step; `none`: all of it. */
  readonly jitter: 'full' | 'none'
}

/** Default for calls of models, agents and tools. */
const callRetryPolicy: RetryPolicy = {
  max: 5,
  baseMs: 500,
  factor: 2,
  capMs: 30_000,
  jitter: 'full',
}

/** If the caller has no deadline, gives up when the server asks for a longer pause than this. */
const longestRetryAfterMs = 300_000

/** Returns the pause after this many failures. `random` returns a number from 0 to below 1. */
export function backoffMs(policy: RetryPolicy, failures: number, random: () => number = Math.random): number {
  const most = Math.min(policy.baseMs * policy.factor ** Math.max(failures - 1, 0), policy.capMs)
  return policy.jitter === 'full' ? Math.round(most * random()) : most
}

/** Clock and randomness of retries, injectable so that tests and the simulation need not sleep. */
export interface RetrySource {
  readonly clock?: Clock | undefined
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

export interface RetryOptions extends RetrySource {
  /** Overrides `callRetryPolicy`. */
  readonly policy?: Partial<RetryPolicy> | undefined
  /** Ends a pause at once. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970: no pause extends beyond it. */
  readonly deadlineAt?: number | undefined
  /** Called before each pause. */
  readonly onRetry?: ((retry: ScheduledRetry) => void) | undefined
}

/** Why a call may be repeated. */
export interface RetryableFailure {
  readonly outcome: 'throttled' | 'unavailable'
  /** The pause that the server asked for. */
  readonly retryAfterMs?: number | undefined
}

interface ScheduledRetry extends RetryableFailure {
  /** Failures so far. */
  readonly failures: number
  readonly waitMs: number
}

export interface Retries {
  /**
   * Calls until the result is not a failure, and returns the last result. All calls of one attempt share one retry budget,
   * so that an attempt with several calls is not throttled more often than one with a single call.
   */
  run<T>(call: () => Promise<T>, failedTry: (result: T) => RetryableFailure | undefined): Promise<T>
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

/** Resolves after this many milliseconds, or as soon as the signal is aborted. */
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
