/** Repeats requests: exponential backoff with jitter, at least as long as the server asks, until the signal aborts. */
import { ClientError, isRetryable } from './client-error.ts'

export interface RetryOptions {
  /** How often a request is repeated in a row without success. Default 10. */
  readonly attempts?: number
  /** First delay in milliseconds. Default 250. */
  readonly minMs?: number
  /** Longest delay in milliseconds, unless the server asks for more. Default 10,000. */
  readonly maxMs?: number
}

const retryDefaults = { attempts: 10, minMs: 250, maxMs: 10_000 } as const

/** Exponential backoff with jitter: between half and all of the delay, so that clients do not return all at once. */
export function backoffMs(step: number, options: RetryOptions, atLeastMs = 0): number {
  const { minMs, maxMs } = { ...retryDefaults, ...options }
  const delay = Math.min(maxMs, minMs * 2 ** Math.min(step, 30))
  const jittered = delay * (0.5 + Math.random() / 2)
  return atLeastMs > 0 ? atLeastMs + jittered / 2 : jittered
}

/** Waits; rejects with the reason of the signal as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

interface Retries {
  /** Waits before the next attempt. Throws the error if it is final, or if there were too many attempts. */
  wait(error: unknown): Promise<void>
  /** The server has answered: attempts and delays start again. */
  reset(): void
}

export function createRetries(options: RetryOptions, signal: AbortSignal | undefined): Retries {
  const { attempts } = { ...retryDefaults, ...options }
  let failures = 0
  return {
    async wait(error) {
      signal?.throwIfAborted()
      if (!isRetryable(error) || failures >= attempts) throw error
      await sleep(backoffMs(failures++, options, error.retryAfterMs), signal)
    },
    reset() {
      failures = 0
    },
  }
}

/** Repeats the work until it succeeds, fails for good or was tried often enough. */
export async function withRetries<T>(
  work: () => Promise<T>,
  { retry, signal }: { readonly retry: RetryOptions; readonly signal: AbortSignal | undefined },
): Promise<T> {
  const retries = createRetries(retry, signal)
  for (;;) {
    try {
      return await work()
    } catch (error) {
      await retries.wait(error)
    }
  }
}

/** Converts what `fetch` throws: an abort stays what it is, anything else means that the server cannot be reached. */
export function toUnreachable(cause: unknown, url: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (cause instanceof ClientError) return cause
  return new ClientError('client/unreachable', `Cannot reach ${url}: ${describe(cause)}`, {
    hint: 'Check `url`, that the server runs, and in a browser that its `cors` names the origin of this page',
    cause,
  })
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message} (${cause.cause.message})` : cause.message
}
