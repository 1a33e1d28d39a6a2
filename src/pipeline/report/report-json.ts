/** Reports lint issues as one JSON object, for scripts. */
import type { AppliedFix } from '../lint/fix.ts'
import type { LintIssue } from '../lint/rule.ts'

export interface JsonReport {
  /** No errors. */
  readonly is_valid: boolean
  readonly path: string
  readonly errors: readonly JsonIssue[]
  readonly warnings: readonly JsonIssue[]
  readonly notes: readonly JsonIssue[]
  readonly counts: { readonly error: number; readonly warning: number; readonly note: number }
  /** Number of issues that the file itself suppresses. */
  readonly suppressed: number
  readonly baseline?: { readonly path: string; readonly known: number; readonly gone: number }
  readonly fixes?: { readonly applied: readonly AppliedFix[]; readonly total_applied: number }
  readonly fixes_dry_run?: { readonly would_apply: readonly AppliedFix[]; readonly patch: string }
}

interface JsonIssue {
  readonly rule_id: string
  readonly severity: string
  readonly message: string
  readonly suggestion?: string
  readonly step_name?: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly pointer?: string
  readonly fixable: boolean
}

interface Reported {
  readonly path: string
  readonly issues: readonly LintIssue[]
  readonly suppressed: number
}

export function reportJson(
  { path, issues, suppressed }: Reported,
  more: Pick<JsonReport, 'baseline' | 'fixes' | 'fixes_dry_run'> = {},
): JsonReport {
  const of = (severity: LintIssue['severity']) =>
    issues.filter((issue) => issue.severity === severity).map(jsonIssue)
  const [errors, warnings, notes] = [of('error'), of('warning'), of('note')]
  return {
    is_valid: errors.length === 0,
    path,
    errors,
    warnings,
    notes,
    counts: { error: errors.length, warning: warnings.length, note: notes.length },
    suppressed,
    ...more,
  }
}

function jsonIssue({
  code,
  severity,
  message,
  hint,
  step,
  file,
  line,
  column,
  pointer,
  fixable,
}: LintIssue): JsonIssue {
  return {
    rule_id: code,
    severity,
    message,
    ...(hint !== undefined && { suggestion: hint }),
    ...(step !== undefined && { step_name: step }),
    file,
    line,
    column,
    ...(pointer !== undefined && { pointer }),
    fixable,
  }
}
