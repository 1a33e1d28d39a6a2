/** Turns Ajv's errors into Issues: one per thing that is wrong, located where a person would look. */
import type { Issue } from '../base/issue.ts'
import { child, tokens } from '../base/pointer.ts'
import { explain, type Kept } from './messages.ts'
import type { ErrorObject } from './validator.ts'

/** At most `limit` issues for the errors of one validation of `root`. */
export function toIssues(errors: readonly ErrorObject[], root: unknown, limit: number): Issue[] {
  const issues: Issue[] = []
  const open: Kept[] = foldUnions(errors).reverse()
  for (let kept = open.pop(); kept !== undefined && issues.length < limit; kept = open.pop()) {
    issues.push(toIssue(kept, root))
    for (const branch of informative(kept).reverse()) open.push(branch)
  }
  return issues
}

/** Errors that only say that others, already in the list, were found. */
const echoes = new Set(['if', 'propertyNames'])

/**
 * Ajv lists the errors of every branch of a union before the error of the union itself.
 * They belong under it: alone they would say that a value must be a string, and that it must be a number.
 */
function foldUnions(errors: readonly ErrorObject[]): Kept[] {
  const kept: Kept[] = []
  for (const error of errors) {
    if (echoes.has(error.keyword)) continue
    const branches: Kept[] = []
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf' || error.keyword === 'contains') {
      for (let last = kept.at(-1); last !== undefined && isBelow(last.error, error); last = kept.at(-1)) {
        branches.unshift(last)
        kept.pop()
      }
    }
    kept.push({ error, branches })
  }
  return kept
}

/** Errors of a referenced schema carry that schema's path, so they are told by standing right before and inside. */
function isBelow(error: ErrorObject, union: ErrorObject): boolean {
  if (error.schemaPath.startsWith(`${union.schemaPath}/`)) return true
  const beside = union.schemaPath.slice(0, union.schemaPath.lastIndexOf('/') + 1)
  const inside =
    error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`)
  if (!inside) return false
  return (
    !error.schemaPath.startsWith(beside) ||
    /^(\$defs|definitions)\//.test(error.schemaPath.slice(beside.length))
  )
}

/** Of a failed union, what went wrong inside a branch; that another branch is of another type says nothing. */
function informative({ error, branches }: Kept): Kept[] {
  if (error.keyword === 'contains' || error.params['passingSchemas']) return []
  return branches.filter(
    (branch) => branch.error.instancePath !== error.instancePath || !dull.has(branch.error.keyword),
  )
}

const dull = new Set(['type', 'const', 'enum'])

function toIssue(kept: Kept, root: unknown): Issue {
  const { error } = kept
  const actual = error.propertyName ?? valueAt(root, error.instancePath)
  const { property = error.propertyName, message, ...rest } = explain(kept, actual)
  return {
    code: `schema/${error.keyword === 'false schema' ? 'false' : error.keyword}`,
    at: { pointer: property === undefined ? error.instancePath : child(error.instancePath, property) },
    message: error.propertyName === undefined ? message : `the property name ${message}`,
    ...rest,
  }
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const token of tokens(pointer)) value = Reflect.get(value as object, token)
  return value
}
