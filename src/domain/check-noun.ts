/** The checks that all parsers of nouns share: the noun's own schema, schemas inside it, and conditions inside it. */
import { ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'
import { compileSchema } from '../schema/compile.ts'
import { describe } from '../schema/describe.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { below, type ParseNounOptions } from './parsed.ts'

/** What a value has that its noun does not allow. `free` says where data of one's own may go instead. */
export function checkNoun(schema: JsonSchema, value: Json, free: string): Issue[] {
  return compileSchema(schema)
    .validate(value)
    .map((issue) =>
      issue.code === 'schema/additionalProperties' && !issue.hint?.startsWith('Did you mean')
        ? { ...issue, hint: free }
        : issue,
    )
}

/** Whether a schema inside a noun can be used: it comes from a stranger. */
export function checkSchema(schema: unknown, at: Pointer): Issue[] {
  try {
    compileSchema(schema as JsonSchema, { untrusted: true })
    return []
  } catch (cause) {
    if (!(cause instanceof ProvisoError)) throw cause
    const { code, message, hint } = cause
    const inside = cause.at !== undefined && 'pointer' in cause.at ? cause.at.pointer : ''
    return [{ code, at: { pointer: at + inside }, message, ...(hint !== undefined && { hint }) }]
  }
}

/** Whether a condition inside a noun can be evaluated. */
export function checkCondition(condition: Json, at: Pointer, options: ParseNounOptions): Issue[] {
  const check = options.checkCondition ?? checkForm
  return check(condition).map((issue) => below(at, issue))
}

function checkForm(condition: Json): Issue[] {
  if (typeof condition === 'boolean' || (isObject(condition) && Object.keys(condition).length === 1))
    return []
  return [
    {
      code: 'condition/form',
      at: { pointer: '' },
      message: `a condition must be an object with one operator, but is ${describe(condition)}`,
      hint: 'Write it like { ">=": [{ "var": "qaFindings.overallScore" }, 0.8] }; join several with "and"',
    },
  ]
}
