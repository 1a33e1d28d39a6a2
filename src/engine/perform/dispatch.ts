/** Calls a dispatcher, with retries if the call was throttled or did not arrive. */
import { isObject } from '../../base/json.ts'
import type { RetryableFailure, RetrySource } from '../../base/time/retry.ts'
import { createCallRetries } from '../../domain/attempt/call-retries.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'

/** Refused tries do not count as calls. A dispatcher with `retries` is called once. */
export async function dispatchCall(
  dispatcher: Dispatcher,
  call: Dispatch,
  source: RetrySource,
): Promise<AttemptResult> {
  const first = await dispatcher.dispatch(call)
  if (dispatcher.retries || failedTry(first) === undefined) return first
  const retries = createCallRetries({
    ...source,
    signal: call.signal,
    deadlineAt: call.deadlineAt,
    onEvent: call.onEvent,
    onRetry: () => call.onUsage?.({ calls: 0 }),
  })
  let tries = 0
  const result = await retries.run(async () => {
    if (tries++ === 0) return first
    call.onUsage?.({ calls: 1 })
    return dispatcher.dispatch(call)
  }, failedTry)
  if (failedTry(result) === undefined || !isObject(result.usage)) return result
  return { ...result, usage: { ...result.usage, calls: 0 } }
}

/** Dispatchers are untrusted: anything that is not a result is handled and reported in `take-result.ts`. */
function failedTry(result: unknown): RetryableFailure | undefined {
  if (!isObject(result)) return undefined
  const { outcome, retryAfterMs, final } = result
  if (final === true || (outcome !== 'throttled' && outcome !== 'unavailable')) return undefined
  const isPause = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs)
  return { outcome, retryAfterMs: isPause ? retryAfterMs : undefined }
}
