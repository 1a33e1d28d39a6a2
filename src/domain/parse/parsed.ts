/** Result of every parser: the value with all defaults filled, or the issues with their locations. */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'

export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly Issue[] }
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly warnings: readonly Issue[] }

export interface ParseNounOptions {
  /**
   * Checks a condition; issues are located inside the condition. Default: only the form is checked (an object with one
   * operator, or a boolean), because the operators belong to the module `schema`.
   */
  readonly checkCondition?: (condition: Json) => readonly Issue[]
}

/** What a parser has found on its way; it grows until the parser is done. */
export interface FoundIssues {
  readonly issues: Issue[]
  readonly warnings: Issue[]
}

/** Takes over what the parser of a part has found, located from the whole. */
export function addBelow(
  findings: FoundIssues,
  at: Pointer,
  part: { readonly issues?: readonly Issue[]; readonly warnings?: readonly Issue[] },
): void {
  findings.issues.push(...(part.issues ?? []).map((issue) => below(at, issue)))
  findings.warnings.push(...(part.warnings ?? []).map((issue) => below(at, issue)))
}

/** The value if nothing is wrong with it. */
export function settle<T>({ issues, warnings }: FoundIssues, value: () => T): Parsed<T> {
  return issues.length > 0 ? { ok: false, issues, warnings } : { ok: true, value: value(), warnings }
}

/** The issue as seen from a larger value that holds the part at `pointer`. */
export function below(pointer: Pointer, issue: Issue): Issue {
  if (pointer === '' || !('pointer' in issue.at)) return issue
  return { ...issue, at: { pointer: pointer + issue.at.pointer } }
}
