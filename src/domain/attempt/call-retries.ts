/** Retries of one attempt's calls, with an event (`call.retry_scheduled`) before each pause. */
import type { Json } from '../../base/json.ts'
import { createRetries, type Retries, type RetryOptions } from '../../base/time/retry.ts'

interface CallRetryOptions extends RetryOptions {
  readonly onEvent: (event: string, payload: { readonly [key: string]: Json }) => void
}

export function createCallRetries({ onEvent, onRetry, ...options }: CallRetryOptions): Retries {
  return createRetries({
    ...options,
    onRetry(scheduled) {
      const { outcome, failures, waitMs } = scheduled
      onEvent('call.retry_scheduled', { outcome, failures, wait_ms: waitMs })
      onRetry?.(scheduled)
    },
  })
}
