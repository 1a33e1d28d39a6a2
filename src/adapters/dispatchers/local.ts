/** Calls functions of this process. */
import type { Json } from '../../base/json.ts'
import type { AttemptResult } from '../../domain/output.ts'
import { plainCopy } from '../../domain/plain-copy.ts'
import type { Bundle, Dispatcher } from '../../domain/ports/dispatcher.ts'

export interface LocalContext extends Omit<Bundle, 'inputs'> {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  /** The same for every repetition of this call: hand it to whatever must not happen twice. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

/** What a capability of kind `local` does: its inputs in, its output out. */
export type LocalFunction = (inputs: Json, context: LocalContext) => Json | Promise<Json>

export function localDispatcher(functions: ReadonlyMap<string, LocalFunction>): Dispatcher {
  return {
    kind: 'local',
    remote: false,
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
      const { inputs, ...rest } = bundle
      const value = await run(inputs, { ...rest, runId, nodeId, attempt, idempotencyKey, signal })
      // A copy: the journal must not change when the function changes what it has returned.
      const copy = plainCopy(value, { holes: 'refuse' })
      if (copy.ok) return { outcome: 'ok', output: { value: copy.value }, issues: [], usage: { calls: 1 } }
      const hint = `"${capability.capabilityId}" must return plain JSON data; members that are undefined are left out`
      return { outcome: 'invalid', issues: [{ ...copy.issue, hint }], usage: { calls: 1 } }
    },
  }
}
