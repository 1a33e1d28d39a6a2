/** What follows from how a call of a model ended. */
import type { FailedTry } from '../base/retry.ts'
import type { ModelAnswer } from './ports/provider.ts'

/** Why a call may be made again after a pause: it brought nothing and costs nothing. */
export function failedTry(answer: ModelAnswer): FailedTry | undefined {
  if (answer.kind === 'unavailable') return { outcome: 'unavailable' }
  return answer.kind === 'throttled' ? { outcome: 'throttled', retryAfterMs: answer.retryAfterMs } : undefined
}

/** Whether a model has worked for this answer; calls that were turned away before that cost nothing. */
export function wasGenerated(answer: ModelAnswer): boolean {
  return failedTry(answer) === undefined && !(answer.kind === 'error' && answer.fatal === true)
}
