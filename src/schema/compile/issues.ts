/** Turns violations into Issues: one per thing that is wrong, located where a person would look. */
import type { Issue } from '../../base/errors/issue.ts'
import { child, valueAt } from '../../base/pointer.ts'
import type { Kept } from '../interpreter/violation.ts'
import { explain } from './messages.ts'

/** At most `limit` issues for the violations of one validation of `root`. */
export function toIssues(violations: readonly Kept[], root: unknown, limit: number): Issue[] {
  const issues: Issue[] = []
  const open: Kept[] = [...violations].reverse()
  for (let kept = open.pop(); kept !== undefined && issues.length < limit; kept = open.pop()) {
    issues.push(toIssue(kept, root))
    for (const branch of informative(kept).reverse()) open.push(branch)
  }
  return issues
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
