/** Waits for the answer to a call that an agent has accepted, without making the call again. Never throws. */
import { messageOf } from '../base/message-of.ts'
import type { AttemptResult } from '../domain/output.ts'
import { type AttemptCall, answerGraceMs, failed, readResult } from './attempt.ts'

export interface AcceptedBy {
  readonly capabilityId: string
  readonly deadlineAt: number
}

export async function awaitAnswer(attempt: AttemptCall, accepted: AcceptedBy): Promise<AttemptResult> {
  const result = await findAnswer(attempt, accepted)
  if (result !== undefined) return result
  const usage = { calls: 1 }
  return attempt.signal.aborted
    ? failed('cancelled', 'The attempt was cancelled', { usage })
    : failed('timed_out', 'The agent did not call back in time', { usage })
}

/** The answer, held against the node's contract; nothing if none came until the deadline. */
export async function findAnswer(
  { node, rao, dispatcher, call, clock, signal }: AttemptCall,
  { capabilityId, deadlineAt }: AcceptedBy,
): Promise<AttemptResult | undefined> {
  const stop = new AbortController()
  const end = () => stop.abort(signal.reason)
  const over = new Promise<undefined>((resolve) =>
    stop.signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  )
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  // The dispatcher ends at the deadline, after a last look; this is for one that does not, and where there is none.
  const graceMs = dispatcher?.resume ? answerGraceMs : 0
  const cancelTimer = clock.timer(Math.max(deadlineAt, clock.now()) + graceMs, end)
  const { deadlineAt: _, onAccepted: __, ...rest } = call
  try {
    const answer = dispatcher?.resume?.({ ...rest, capabilityId, deadlineAt, signal: stop.signal })
    answer?.catch(() => {})
    const result = await (answer === undefined ? over : Promise.race([answer, over]))
    return (
      result &&
      dispatcher &&
      readResult(result, { node, rao, dispatcher, spent: { calls: 1 }, countCalls: (usage) => usage })
    )
  } catch (cause) {
    return failed('provider_error', messageOf(cause), { usage: { calls: 1 } })
  } finally {
    cancelTimer()
    signal.removeEventListener('abort', end)
  }
}
