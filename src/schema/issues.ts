/** Turns Ajv's errors into Issues: located where a person would look, worded so that a person can act. */
import type { Issue } from '../base/issue.ts'
import { child, type Pointer, tokens } from '../base/pointer.ts'
import { describe } from './describe.ts'
import type { ErrorObject } from './validator.ts'

export function toIssues(errors: readonly ErrorObject[], value: unknown, limit: number): Issue[] {
  return errors.slice(0, limit).map((error) => toIssue(error, value))
}

function toIssue(error: ErrorObject, root: unknown): Issue {
  const pointer: Pointer = error.instancePath
  const actual = valueAt(root, pointer)
  return {
    code: `schema/${error.keyword}`,
    at: { pointer: propertyOf(error) === undefined ? pointer : child(pointer, propertyOf(error) as string) },
    message: `${error.message}, but is ${describe(actual)}`,
    actual,
  }
}

function propertyOf(error: ErrorObject): string | undefined {
  return error.params['missingProperty'] ?? error.params['additionalProperty']
}

function valueAt(root: unknown, pointer: Pointer): unknown {
  let value = root
  for (const token of tokens(pointer)) value = (value as Record<string, unknown>)[token]
  return value
}
