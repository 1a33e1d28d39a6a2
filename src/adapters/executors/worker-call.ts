/** Makes a call that a worker takes: adds it to the queue and waits for the signed answer, also after a restart. */
import { RunMovedOn } from '../../base/stop.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { AcceptedCall, Dispatch } from '../../domain/ports/dispatcher.ts'
import type { ParseText } from '../../domain/ports/parse-text.ts'
import { formatCallId, type PendingCallbacks } from './callbacks.ts'
import { ended } from './http-failures.ts'
import { readPosted } from './read-answer.ts'
import type { EndedCall, WorkerQueue } from './worker-queue.ts'

export interface WorkerCallOptions {
  readonly queue: WorkerQueue
  readonly callbacks: PendingCallbacks
  readonly clock: Clock
  readonly parseText: ParseText
  /** How long a call waits for a worker. */
  readonly timeoutMs: number
  /** Deadline of the answer, in milliseconds since 1970. */
  readonly deadlineAt: number
  /** Receives the text of a stream. */
  readonly onText: ((text: string) => void) | undefined
}

/** Adds the call to the queue and waits. It is accepted from then on: the queue is as durable as the journal. */
export async function callWorker(
  call: Dispatch,
  { body, ...options }: WorkerCallOptions & { readonly body: string },
): Promise<AttemptResult | undefined> {
  const { tenant = 'default', runId, idempotencyKey } = call
  const { capabilityId, idempotent } = call.capability
  const { queue, deadlineAt } = options
  await queue.add({
    tenant,
    capabilityId,
    runId,
    callId: formatCallId(call),
    idempotencyKey,
    isIdempotent: idempotent,
    body: JSON.parse(body),
  })
  call.onAccepted?.({ deadlineAt })
  return waitForWorker({ ...call, capabilityId, deadlineAt }, options)
}

/** Waits for the answer of a worker; undefined if none came by the deadline, or the call was aborted. */
export async function waitForWorker(
  call: AcceptedCall,
  { queue, callbacks, clock, parseText, timeoutMs, deadlineAt, onText }: WorkerCallOptions,
): Promise<AttemptResult | undefined> {
  const { tenant = 'default', capabilityId, idempotencyKey } = call
  const name = { tenant, capabilityId, idempotencyKey }
  const over = new AbortController()
  const end = () => over.abort()
  const cancelTimer = clock.timer(deadlineAt, end)
  call.signal.addEventListener('abort', end, { once: true })
  if (call.signal.aborted) end()
  const removeListener = onText && queue.onText(name, onText)
  let ending: EndedCall | undefined
  const watching = queue.waitForEnd(name, { timeoutMs, signal: over.signal }).then((found) => {
    ending = found
    end()
  })
  try {
    const posted = await callbacks.wait(idempotencyKey, over.signal)
    end()
    await watching
    if (posted !== undefined) {
      await queue.remove(name)
      return await readPosted(posted, { ...call, parseText })
    }
    if (ending !== undefined) return toResult(ending)
    // After other aborts, another process waits for the call.
    if (!call.signal.aborted || call.signal.reason instanceof RunMovedOn) await queue.cancel(name)
    return undefined
  } finally {
    cancelTimer()
    call.signal.removeEventListener('abort', end)
    removeListener?.()
  }
}

/** No worker is there: the alternates follow. A worker that fell silent may have done its work. */
function toResult({ end, hasBegun }: EndedCall): AttemptResult {
  if (end === 'lost')
    return ended(
      { outcome: 'provider_error' },
      'The worker that had begun the call fell silent, and the call may have taken effect',
    )
  if (end === 'cancelled') return ended({ outcome: 'cancelled' }, 'The call was cancelled')
  const notApplied = !hasBegun && { notApplied: true as const }
  return ended({ outcome: 'unavailable', final: true, ...notApplied }, 'No worker of the agent took the call')
}
