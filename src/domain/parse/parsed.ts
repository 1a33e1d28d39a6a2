/** Result of every parser: the value with all defaults filled, or the issues with their locations. */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { ConditionIssueCode } from '../../schema/issue-table.ts'
import type { ParseIssueCode } from './issue-table.ts'

export type Parsed<T, Code extends string = ParseIssueCode> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly Issue<Code>[] }
  | { readonly ok: false; readonly issues: readonly Issue<Code>[]; readonly warnings: readonly Issue<Code>[] }

export interface ParseNounOptions {
  /**
   * Checks a condition; issues are located inside the condition. Default: only the form is checked (an object with one
   * operator, or a boolean), because the operators belong to the module `schema`.
   */
  readonly checkCondition?: (condition: Json) => readonly Issue<ConditionIssueCode>[]
}

/** What a parser has found on its way; it grows until the parser is done. */
export interface FoundIssues<Code extends string = ParseIssueCode> {
  readonly issues: Issue<Code>[]
  readonly warnings: Issue<Code>[]
}

/** Takes over what the parser of a part has found, located from the whole. */
export function addBelow<Code extends string>(
  findings: FoundIssues<Code>,
  at: Pointer,
  part: { readonly issues?: readonly Issue<Code>[]; readonly warnings?: readonly Issue<Code>[] },
): void {
  findings.issues.push(...(part.issues ?? []).map((issue) => below(at, issue)))
  findings.warnings.push(...(part.warnings ?? []).map((issue) => below(at, issue)))
}

/** The value if nothing is wrong with it. */
export function settle<T>({ issues, warnings }: FoundIssues, value: () => T): Parsed<T> {
  return issues.length > 0 ? { ok: false, issues, warnings } : { ok: true, value: value(), warnings }
}

/** The issue as seen from a larger value that holds the part at `pointer`. */
export function below<Code extends string>(pointer: Pointer, issue: Issue<Code>): Issue<Code> {
  if (pointer === '' || !('pointer' in issue.at)) return issue
  return { ...issue, at: { pointer: pointer + issue.at.pointer } }
}
