/** Waits for the answer to a call that an agent has accepted, without making the call again. Never throws. */
import { messageOf } from '../../base/errors/error.ts'
import { createStop } from '../../base/stop.ts'
import type { AttemptResult } from '../../domain/output.ts'
import { type AttemptCall, answerGraceMs, failed, readResult } from './attempt.ts'

export interface AcceptedBy {
  readonly capabilityId: string
  readonly deadlineAt: number
}

export async function awaitAnswer(attempt: AttemptCall, accepted: AcceptedBy): Promise<AttemptResult> {
  const result = await findAnswer(attempt, accepted)
  if (result !== undefined) return result
  const usage = { calls: 1 }
  return attempt.stop.aborted
    ? failed('cancelled', 'The attempt was cancelled', { usage })
    : failed('timed_out', 'The agent did not call back in time', { usage })
}

/** Returns the answer, validated against the node's contract; nothing if none arrived by the deadline. */
export async function findAnswer(
  { node, returns, rao, compileOptions, dispatcher, call, clock, stop: given }: AttemptCall,
  { capabilityId, deadlineAt }: AcceptedBy,
): Promise<AttemptResult | undefined> {
  const stop = createStop()
  const end = () => stop.abort(given.reason)
  const over = new Promise<undefined>((resolve) => stop.listen(() => resolve(undefined)))
  const leave = given.listen(end)
  // The dispatcher ends at the deadline after a last check; this timer is for one that does not, or if there is none.
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
      readResult(result, {
        node,
        returns,
        rao,
        compileOptions,
        dispatcher,
        spent: { calls: 1 },
        countCalls: (usage) => usage,
      })
    )
  } catch (cause) {
    return failed('provider_error', messageOf(cause), { usage: { calls: 1 } })
  } finally {
    cancelTimer()
    leave()
  }
}
