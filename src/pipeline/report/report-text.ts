/** Reports lint issues as text: location, severity, rule, the line with a caret, and a hint. */
import type { LintIssue } from '../lint/rule.ts'

export interface ReportColors {
  readonly red: (text: string) => string
  readonly yellow: (text: string) => string
  readonly dim: (text: string) => string
  readonly bold: (text: string) => string
}

const plain = (text: string) => text
const noColors: ReportColors = { red: plain, yellow: plain, dim: plain, bold: plain }

export function reportText(issues: readonly LintIssue[], colors: ReportColors = noColors): string {
  return issues.map((issue) => describe(issue, colors)).join('\n\n') + (issues.length > 0 ? '\n' : '')
}

function describe(issue: LintIssue, { red, yellow, dim, bold }: ReportColors): string {
  const { file, line, column, severity, code, message, excerpt, hint, fixable, cannotFix } = issue
  const paint = severity === 'error' ? red : severity === 'warning' ? yellow : dim
  const lines = [`${bold(`${file}:${line}:${column}`)}: ${paint(severity)} ${code}: ${message}`, excerpt]
  if (hint !== undefined) lines.push(dim(`  ${hint}${fixable ? ' (--fix does it)' : ''}`))
  if (cannotFix !== undefined) lines.push(dim(`  --fix leaves it: ${cannotFix}`))
  return lines.join('\n')
}

/** `2 errors, 1 warning`, or `no issues`. */
export function countIssues(issues: readonly LintIssue[]): string {
  const counts = (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const count = issues.filter((issue) => issue.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}${count === 1 ? '' : 's'}`]
  })
  return counts.length === 0 ? 'no issues' : counts.join(', ')
}
