/** Checks that all parsers share: the top-level schema, and the schemas and conditions inside a value. */

import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { describe } from '../../schema/describe.ts'
import type { RefusedSchemaCode, ViolationCode } from '../../schema/issue-table.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { ParseIssue } from './issue-table.ts'
import { below, type ParseNounOptions } from './parsed.ts'

/** What a value has that its noun does not allow. `free` says where data of one's own may go instead. */
export function checkNoun(schema: JsonSchema, value: Json, free: string): Issue<ViolationCode>[] {
  return compileSchema(schema)
    .validate(value)
    .map((issue) => {
      if (issue.code === 'schema/required') return withMisspelled(issue, value)
      return issue.code === 'schema/additionalProperties' && !issue.hint?.startsWith('Did you mean')
        ? { ...issue, hint: free }
        : issue
    })
}

/** A missing key may be there under a misspelled name. */
function withMisspelled<Code extends string>(issue: Issue<Code>, value: Json): Issue<Code> {
  if (issue.hint !== undefined || !('pointer' in issue.at)) return issue
  const path = tokens(issue.at.pointer)
  const key = path.at(-1) ?? ''
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((found, name) => (found as { [name: string]: unknown } | undefined)?.[name], value)
  const near = isObject(parent) ? closest(key, Object.keys(parent)) : undefined
  return near === undefined ? issue : { ...issue, hint: `There is ${JSON.stringify(near)}; rename it` }
}

/** Checks whether an embedded schema can be used; it is untrusted. */
export function checkSchema(schema: unknown, at: Pointer): Issue<RefusedSchemaCode>[] {
  try {
    compileSchema(schema as JsonSchema, { untrusted: true })
    return []
  } catch (cause) {
    if (!(cause instanceof ProvisoError)) throw cause
    const { message, hint } = cause
    // The compiler of schemas throws no other codes.
    const code = cause.code as RefusedSchemaCode
    const inside = cause.at !== undefined && 'pointer' in cause.at ? cause.at.pointer : ''
    return [{ code, at: { pointer: at + inside }, message, ...(hint !== undefined && { hint }) }]
  }
}

/** Whether a condition inside a noun can be evaluated. */
export function checkCondition(condition: Json, at: Pointer, options: ParseNounOptions): ParseIssue[] {
  const check = options.checkCondition ?? checkForm
  return check(condition).map((issue) => below(at, issue))
}

function checkForm(condition: Json): ParseIssue[] {
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
