/** What an attempt has to be told before it can do its work: the question that becomes an ask of kind `clarify`. */
import { isObject, type Json } from '../base/json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { checkSchema } from './check-noun.ts'
import { plainCopy } from './plain-copy.ts'

export interface Question {
  readonly text: string
  /** What the answer must satisfy. Default: any value. */
  readonly schema?: JsonSchema
}

export const longestQuestion = 4_000

/** A question as somebody from outside asks it; or why it is none. */
export function readQuestion(given: unknown): Question | string {
  const copy = plainCopy(given)
  if (!copy.ok || !isObject(copy.value))
    return 'a question is an object with a text, and a schema if it has one'
  const { text, schema } = copy.value as { readonly [name: string]: Json }
  if (typeof text !== 'string' || text.trim() === '') return 'a question needs a text'
  if (text.length > longestQuestion) return `a question has at most ${longestQuestion} characters`
  if (schema === undefined) return { text }
  const [wrong] = checkSchema(schema, '/schema')
  if (wrong) return `the schema of a question cannot be used: ${wrong.message}`
  return { text, schema: schema as JsonSchema }
}
