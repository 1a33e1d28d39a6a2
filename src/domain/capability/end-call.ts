/** The two ways in which a function ends its call without a value: `context.reject` and `context.ask`. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { LocalContext } from './define-capability.ts'

export const reject: LocalContext['reject'] = (message, details) => {
  throw new ProvisoError('capability/refused', message, details)
}

/** Schemas of the answers, by the error that carries the question. */
const schemas = new WeakMap<ProvisoError, JsonSchema>()

export const ask: LocalContext['ask'] = (question, { schema } = {}) => {
  const error = new ProvisoError('capability/unclear', question)
  if (schema !== undefined) schemas.set(error, schema)
  throw error
}

export function toQuestion(error: ProvisoError): { readonly text: string; readonly schema?: JsonSchema } {
  const schema = schemas.get(error)
  return { text: error.message, ...(schema !== undefined && { schema }) }
}
