/**
 * Results that arrive after their attempt has ended. One that says what the call did settles the open ask about the
 * attempt; any other is logged and has no effect.
 */
import type { AttemptRef, DoubtfulCall } from '../../domain/attempt/call-key.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import { isSameAttempt } from '../../domain/run/fold-uncertain-calls.ts'
import type { RunState } from '../../domain/run.ts'
import { resolveFact } from '../decide/ask/asks.ts'
import { factsFor } from '../events.ts'
import { appendChecked, type Outside } from './replies.ts'

/** Name of the log entry for a late result without effect. */
export const lateResultLog = 'attempt.late_result'

export interface LateResult {
  readonly ref: AttemptRef
  readonly result: AttemptResult
  /** Whether it says what the call did. */
  readonly settles: boolean
  /** The note on the closed ask. */
  readonly note: string
}

/** Outcomes that say what the call did. */
const answers: ReadonlySet<Outcome> = new Set(['ok', 'invalid', 'truncated', 'refused', 'unclear'])

/** Whether the result of an aborted call says what it did: a failure may only be caused by the abort. */
export function settlesDoubt({ outcome, notApplied }: AttemptResult): boolean {
  return answers.has(outcome) || notApplied === true
}

/** An open ask about the outcome of a call. */
export interface OpenQuestion {
  readonly requestId: string
  /** The node that waits for the answer; the call may belong to a node of an earlier plan. */
  readonly nodeId: string
  readonly call: DoubtfulCall
}

/** Finds the open ask about the matching call. */
export function openQuestionAbout(
  state: RunState,
  isMeant: (call: DoubtfulCall, nodeId: string) => boolean,
): OpenQuestion | undefined {
  if (state.finished || state.cancel) return undefined
  for (const requestId of state.openAsks) {
    const { kind, nodeId = '' } = state.asks.get(requestId) ?? {}
    const call = kind === 'unknown_outcome' ? state.nodes.get(nodeId)?.unsure : undefined
    if (call && isMeant(call, nodeId)) return { requestId, nodeId, call }
  }
  return undefined
}

/** Records a late result: closes the ask about its attempt, or logs it without effect. */
export function recordLateResult(outside: Outside, runId: string, late: LateResult): Promise<RunState> {
  const { ref, result, note } = late
  const { attempt } = ref
  return appendChecked(outside, runId, { by: 'system' }, (state, { now }) => {
    if (state.finished) return []
    const make = factsFor(state, now)
    const question = openQuestionAbout(state, (call) => isSameAttempt(call, ref))
    if (question === undefined || !late.settles) {
      const payload = {
        attempt,
        planVersion: ref.planVersion,
        outcome: result.outcome,
        applied: false,
      }
      return [make('log', { event: lateResultLog, payload }, { nodeId: ref.nodeId })]
    }
    const { requestId, nodeId } = question
    const valueHash = state.asks.get(requestId)?.valueHash ?? ''
    return [
      make('attempt_settled', { attempt, ...result }, { nodeId }),
      resolveFact(state, now, { requestId, decision: 'settled', valueHash, by: 'system', note }),
    ] satisfies NewEvent[]
  })
}
