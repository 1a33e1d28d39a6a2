/** Calls functions of this process. */

import { ProvisoError } from '../../base/errors/error.ts'
import { joined } from '../../base/joined.ts'
import type { Json } from '../../base/json.ts'
import { withSignal } from '../../base/stop.ts'
import type { LocalFunction } from '../../domain/capability/define-capability.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatcher } from '../../domain/ports/dispatcher.ts'

/** The functions may return values that are not plain JSON: the engine copies the result. */
export function localDispatcher(functions: ReadonlyMap<string, LocalFunction>): Dispatcher {
  return {
    kind: 'local',
    remote: false,
    retries: true,
    async dispatch(call): Promise<AttemptResult> {
      const { capability, bundle, runId, nodeId, attempt, idempotencyKey } = call
      const run = functions.get(capability.capabilityId)
      if (!run) throw new Error(`"${capability.capabilityId}" has no function in this process`)
      const { inputs, feedback = [], ...rest } = bundle
      let value: Json
      try {
        const given = joined(rest, { feedback, runId, nodeId, attempt, idempotencyKey })
        value = await run(inputs, withSignal(given, call))
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
