/** Calls a dispatcher, again after a pause where the call was turned away or did not arrive. */
import { isObject } from '../base/json.ts'
import type { FailedTry, RetrySource } from '../base/retry.ts'
import { createCallRetries } from '../domain/call-retries.ts'
import type { AttemptResult } from '../domain/output.ts'
import type { Dispatch, Dispatcher } from '../domain/ports/dispatcher.ts'

/** Tries that were turned away are no calls. A dispatcher that `retries` by itself is called once. */
export async function dispatchCall(
  dispatcher: Dispatcher,
  call: Dispatch,
  source: RetrySource,
): Promise<AttemptResult> {
  if (dispatcher.retries) return dispatcher.dispatch(call)
  const retries = createCallRetries({
    ...source,
    signal: call.signal,
    deadlineAt: call.deadlineAt,
    onEvent: call.onEvent,
    onRetry: () => call.onUsage?.({ calls: 0 }),
  })
  let tries = 0
  const result = await retries.run(() => {
    if (tries++ > 0) call.onUsage?.({ calls: 1 })
    return dispatcher.dispatch(call)
  }, failedTry)
  if (failedTry(result) === undefined || !isObject(result.usage)) return result
  return { ...result, usage: { ...result.usage, calls: 0 } }
}

/** Dispatchers come from outside: what is no result is read as one elsewhere, and reported. */
function failedTry(result: unknown): FailedTry | undefined {
  if (!isObject(result)) return undefined
  const { outcome, retryAfterMs, final } = result
  if (final === true || (outcome !== 'throttled' && outcome !== 'unavailable')) return undefined
  const isPause = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs)
  return { outcome, retryAfterMs: isPause ? retryAfterMs : undefined }
}
