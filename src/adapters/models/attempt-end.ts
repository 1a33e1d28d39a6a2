/** How an attempt ended without a value: the name of it, and what to tell. */
import type { Issue } from '../../base/issue.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { ModelAnswer } from '../../domain/ports/provider.ts'
import type { Climb, Try } from './rungs.ts'

/** How the attempt ended without a value, by how its last call did. */
export function ended(task: Climb, last: (Pick<Try, 'answer'> & Partial<Try>) | undefined): AttemptResult {
  const usage = task.caller.spent()
  const answer: ModelAnswer = last?.answer ?? { kind: 'error', message: 'No call was made' }
  const issues = last?.issues ?? [issueOf(answer)]
  const outcome = outcomeOf(answer, last?.truncated ?? false)
  return {
    outcome,
    issues,
    usage,
    model: task.target.model,
    ...(usage.calls === 0 && isUnsent(answer) && { notApplied: true }),
    ...(answer.kind === 'error' && answer.fatal && { final: true }),
    ...(answer.kind === 'throttled' &&
      answer.retryAfterMs !== undefined && { retryAfterMs: answer.retryAfterMs }),
  }
}

/** Nothing was asked of a model, as far as anybody here can know. */
function isUnsent(answer: ModelAnswer): boolean {
  return answer.kind === 'unavailable' ? answer.notSent === true : answer.kind !== 'cancelled'
}

function outcomeOf(answer: ModelAnswer, truncated: boolean): AttemptResult['outcome'] {
  if (answer.kind === 'text') return truncated ? 'truncated' : 'invalid'
  return answer.kind === 'error' ? 'provider_error' : answer.kind
}

export function issueOf(answer: ModelAnswer): Issue {
  const outcome = outcomeOf(answer, false)
  return {
    code: `attempt/${outcome}`,
    at: { pointer: '' },
    message: 'message' in answer ? answer.message : outcome,
    ...(answer.kind === 'error' && answer.hint !== undefined && { hint: answer.hint }),
  }
}

export function cutOff(answer: ModelAnswer): Issue {
  const cut = answer.kind === 'text' && answer.finish === 'cut'
  return {
    code: 'attempt/truncated',
    at: { pointer: '' },
    message: cut
      ? 'The connection broke before the answer was complete'
      : 'The model was cut off before its answer was complete',
    hint: 'Allow more output tokens, or ask for less',
  }
}
