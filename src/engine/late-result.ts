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

export interface LateResult {
  readonly ref: AttemptRef
  readonly result: AttemptResult
  /** Whether it says what the call did. */
  readonly settles: boolean
  /** What the closed ask says. */
  readonly note: string
}

/** Outcomes that say what the call did. */
const answers: ReadonlySet<Outcome> = new Set(['ok', 'invalid', 'truncated', 'refused', 'unclear'])

/** Whether what an aborted call brings says what it did: that it failed may only say that it was aborted. */
export function settlesDoubt({ outcome, notApplied }: AttemptResult): boolean {
  return answers.has(outcome) || notApplied === true
}

/** The open ask about what the last attempt of a node has done. */
export function openQuestionAbout(state: RunState, nodeId: string): string | undefined {
  if (state.finished || state.cancel || !state.nodes.get(nodeId)?.attempt?.result) return undefined
  for (const requestId of state.openAsks) {
    const ask = state.asks.get(requestId)
    if (ask?.kind === 'unknown_outcome' && ask.nodeId === nodeId) return requestId
  }
  return undefined
}

function isLast(state: RunState, { nodeId, attempt, planVersion }: AttemptRef): boolean {
  return state.planVersion === planVersion && state.nodes.get(nodeId)?.attempt?.attempt === attempt
}

/** Records a late result; the question about its attempt is closed by it, or it has no effect. */
export function recordLateResult(outside: Outside, runId: string, late: LateResult): Promise<RunState> {
  const { ref, result, note } = late
  const { nodeId, attempt } = ref
  return appendChecked(outside, runId, { by: 'system' }, (state, { now }) => {
    if (state.finished) return []
    const make = factsFor(state, now)
    const requestId = isLast(state, ref) ? openQuestionAbout(state, nodeId) : undefined
    if (requestId === undefined || !late.settles) {
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
