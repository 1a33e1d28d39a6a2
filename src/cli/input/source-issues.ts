/** Formats issues in source files, each with its line and a caret. */
import type { SourceIssue } from '../../pipeline/index.ts'
import type { Unreadable } from '../read-input.ts'

/** Builds the error for a file that cannot be used; a failed import has its own exit code. */
export function cannotUse(what: string, issues: readonly SourceIssue[]): Unreadable {
  const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`
  return {
    message: `Cannot use ${what}: ${count}`,
    issues: issues.map(described),
    ...(issues.some(({ code }) => code.startsWith('import/')) && { outcome: 'importFailed' as const }),
  }
}

export function described({ file, line, column, message, excerpt, hint }: SourceIssue) {
  return { location: `${file}:${line}:${column}`, message, excerpt, ...(hint !== undefined && { hint }) }
}
