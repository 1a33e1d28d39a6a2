/**
 * Validators of the answers of runs that this program started with the schema of another library. They check what a JSON
 * Schema cannot express, such as a refinement, before a run completes here. Functions are not stored: a run that completes
 * in another process is checked when its answer is read.
 */
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { SubscribeToLifecycle } from '../domain/event/lifecycle.ts'
import { type StandardSchemaV1, validateStandard } from '../schema/standard.ts'

export interface AnswerValidators {
  /** Checks the answer of a run from now on, unless it has a validator already. Returns the way to take it back. */
  add(runId: string, validator: StandardSchemaV1): () => void
  /** What the validator of the run has against an answer; nothing without a validator. */
  refuse(runId: string, answer: Json): readonly Issue[]
  /** Forgets the validators of runs that end. */
  watch(subscribe: SubscribeToLifecycle): void
}

export function createAnswerValidators(): AnswerValidators {
  const validators = new Map<string, StandardSchemaV1>()
  /** Subscribes with the first validator: the number of subscribers is limited. */
  let subscribeOnce = () => {}
  return {
    add(runId, validator) {
      if (validators.has(runId)) return () => {}
      subscribeOnce()
      validators.set(runId, validator)
      return () => void validators.delete(runId)
    },
    refuse(runId, answer) {
      const validator = validators.get(runId)
      const validated = validator && validateStandard(validator, answer)
      return validated && 'issues' in validated ? validated.issues : []
    },
    watch(subscribe) {
      subscribeOnce = () => {
        subscribeOnce = () => {}
        subscribe(
          (notice) => {
            if (notice.kind === 'appended') validators.delete(notice.runId)
          },
          { types: ['complete'] },
        )
      }
    },
  }
}
