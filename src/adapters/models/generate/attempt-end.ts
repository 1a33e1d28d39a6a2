/** Converts the last call of an attempt without a value to an outcome and an issue. */
import type { Issue } from '../../../base/errors/issue.ts'
import type { AttemptResult } from '../../../domain/output.ts'
import type { ModelAnswer } from '../../../domain/ports/provider.ts'
import type { AttemptOutcome, Generation } from './fallback-steps.ts'

/** Returns the result of an attempt that ended without a value. */
export function ended(
  task: Generation,
  last: (Pick<AttemptOutcome, 'answer'> & Partial<AttemptOutcome>) | undefined,
): AttemptResult {
  const usage = task.caller.spent()
  const answer: ModelAnswer = last?.answer ?? { kind: 'error', message: 'No call was made' }
  const issues = last?.issues ?? [issueOf(answer)]
  const outcome = toOutcome(answer, last?.truncated ?? false)
  return {
    outcome,
    issues,
    usage,
    model: task.target.model,
    ...(answer.kind === 'text' && last?.text !== undefined && { raw: last.text }),
    ...(usage.calls === 0 && isUnsent(answer) && { notApplied: true }),
    ...(answer.kind === 'error' && answer.fatal && { final: true }),
    ...(answer.kind === 'throttled' &&
      answer.retryAfterMs !== undefined && { retryAfterMs: answer.retryAfterMs }),
  }
}

/** Whether no request reached a model, as far as is known. */
function isUnsent(answer: ModelAnswer): boolean {
  return answer.kind === 'unavailable' ? answer.notSent === true : answer.kind !== 'cancelled'
}

function toOutcome(answer: ModelAnswer, truncated: boolean): AttemptResult['outcome'] {
  if (answer.kind === 'text') return truncated ? 'truncated' : 'invalid'
  return answer.kind === 'error' ? 'provider_error' : answer.kind
}

export function issueOf(answer: ModelAnswer): Issue {
  const outcome = toOutcome(answer, false)
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
