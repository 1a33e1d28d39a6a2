/**
 * Results that arrive after their attempt was given up. One that says what happened settles the open question about the
 * attempt; any other is logged and has no effect.
 */
import type { NewEvent } from '../domain/event.ts'
import type { AttemptResult, Outcome } from '../domain/output.ts'
import type { RunState } from '../domain/run.ts'
import { resolveFact } from './asks.ts'
import { factsFor } from './fact.ts'
import { appendChecked, type Outside } from './replies.ts'

/** An attempt by its name: numbers start again under each plan. */
export interface AttemptRef {
  readonly nodeId: string
  readonly attempt: number
  readonly planVersion: number
}

/** The log entry of a late result without an effect. */
export const lateResultLog = 'attempt.late_result'

/** Outcomes that say what the call did. */
const answers: ReadonlySet<Outcome> = new Set(['ok', 'invalid', 'truncated', 'refused', 'unclear'])

export function settlesDoubt({ outcome, notApplied }: AttemptResult): boolean {
  return answers.has(outcome) || notApplied === true
}

/** The open ask about what an attempt has done. */
export function openQuestionAbout(state: RunState, ref: AttemptRef): string | undefined {
  const node = state.nodes.get(ref.nodeId)
  if (state.finished || state.cancel || state.planVersion !== ref.planVersion) return undefined
  if (node?.attempt?.attempt !== ref.attempt || node.attempt.result === undefined) return undefined
  for (const requestId of state.openAsks) {
    const ask = state.asks.get(requestId)
    if (ask?.kind === 'unknown_outcome' && ask.nodeId === ref.nodeId) return requestId
  }
  return undefined
}

/** Records a late result; the question about its attempt is closed by it, or it has no effect. */
export function recordLateResult(
  outside: Outside,
  runId: string,
  late: { readonly ref: AttemptRef; readonly result: AttemptResult; readonly note: string },
): Promise<RunState> {
  const { ref, result, note } = late
  const { nodeId, attempt } = ref
  return appendChecked(outside, runId, { by: 'system' }, (state, { now }) => {
    if (state.finished) return []
    const make = factsFor(state, now)
    const requestId = openQuestionAbout(state, ref)
    if (requestId === undefined || !settlesDoubt(result)) {
      const payload = { attempt, outcome: result.outcome, applied: false }
      return [make('log', { event: lateResultLog, payload }, { nodeId })]
    }
    const valueHash = state.asks.get(requestId)?.valueHash ?? ''
    return [
      make('attempt_settled', { attempt, ...result }, { nodeId }),
      resolveFact(state, now, { requestId, decision: 'settled', valueHash, by: 'system', note }),
    ] satisfies NewEvent[]
  })
}
