/** Calls functions of this process. */

import { ProvisoError } from '../../base/errors/error.ts'
import { joined } from '../../base/joined.ts'
import type { Json } from '../../base/json.ts'
import { withSignal } from '../../base/stop.ts'
import type { LocalContext, LocalFunction } from '../../domain/capability/define-capability.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

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
        const given = joined(rest, { feedback, runId, nodeId, attempt, idempotencyKey, reject, ask })
        value = await run(inputs, withSignal(given, call))
      } catch (cause) {
        if (ProvisoError.is(cause) && cause.code === 'capability/refused') return refused(cause)
        if (ProvisoError.is(cause) && cause.code === 'capability/unclear')
          return { outcome: 'unclear', question: toQuestion(cause), issues: [], usage: { calls: 0 } }
        throw cause
      }
      return { outcome: 'ok', output: { value }, issues: [], usage: { calls: 0 } }
    },
  }
}

const reject: LocalContext['reject'] = (message, details) => {
  throw new ProvisoError('capability/refused', message, details)
}

/** Schemas of the answers, by the error that carries the question. */
const schemas = new WeakMap<ProvisoError, JsonSchema>()

const ask: LocalContext['ask'] = (question, { schema } = {}) => {
  const error = new ProvisoError('capability/unclear', question)
  if (schema !== undefined) schemas.set(error, schema)
  throw error
}

function toQuestion(error: ProvisoError) {
  const schema = schemas.get(error)
  return { text: error.message, ...(schema !== undefined && { schema }) }
}

function refused({ code, message, hint, at = { pointer: '' } }: ProvisoError): AttemptResult {
  return { outcome: 'refused', issues: [{ code, at, message, hint }], usage: { calls: 0 }, final: true }
}
