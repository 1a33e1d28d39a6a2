/** Calls functions of this process. */
import { ProvisoError } from '../../base/error.ts'
import type { Json } from '../../base/json.ts'
import type { Feedback } from '../../domain/feedback.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Bundle, Dispatcher } from '../../domain/ports/dispatcher.ts'

export interface LocalContext extends Omit<Bundle, 'inputs' | 'feedback'> {
  /** What people and checks said about earlier outputs of the node, oldest first; empty for the first attempt. */
  readonly feedback: readonly Feedback[]
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  /** The same for every repetition of this call: hand it to whatever must not happen twice. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

/**
 * What a capability of kind `local` does: its inputs in, its output out. It throws `ProvisoError` with the code
 * `capability/refused` for inputs that will never do, and is not called again with them; with the code
 * `capability/unclear` its message is a question to a person, and it is called again with the answer in `clarifications`;
 * whatever else it throws may be tried again.
 */
export type LocalFunction = (inputs: Json, context: LocalContext) => Json | Promise<Json>

/** What the functions return is not plain JSON for certain: the engine copies it. */
export function localDispatcher(functions: ReadonlyMap<string, LocalFunction>): Dispatcher {
  return {
    kind: 'local',
    remote: false,
    retries: true,
    async dispatch({
      capability,
      bundle,
      runId,
      nodeId,
      attempt,
      idempotencyKey,
      signal,
    }): Promise<AttemptResult> {
      const run = functions.get(capability.capabilityId)
      if (!run) throw new Error(`"${capability.capabilityId}" has no function in this process`)
      const { inputs, feedback = [], ...rest } = bundle
      let value: Json
      try {
        value = await run(inputs, { ...rest, feedback, runId, nodeId, attempt, idempotencyKey, signal })
      } catch (cause) {
        if (cause instanceof ProvisoError && cause.code === 'capability/refused') return refused(cause)
        if (cause instanceof ProvisoError && cause.code === 'capability/unclear')
          return { outcome: 'unclear', question: { text: cause.message }, issues: [], usage: { calls: 0 } }
        throw cause
      }
      return { outcome: 'ok', output: { value }, issues: [], usage: { calls: 0 } }
    },
  }
}

function refused({ code, message, hint, at = { pointer: '' } }: ProvisoError): AttemptResult {
  return { outcome: 'refused', issues: [{ code, at, message, hint }], usage: { calls: 0 }, final: true }
}
