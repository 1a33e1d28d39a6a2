/** Reports lint issues as text for people, as JSON for scripts, and as SARIF for code hosts and editors. */

import type { Json } from '../../base/json.ts'
import type { AppliedFix } from '../lint/fix.ts'
import type { LintIssue } from '../lint/rule.ts'
import { ruleTable } from '../lint/rule-table.ts'
import { type Source, toPosition } from '../text/source.ts'

export interface ReportColors {
  readonly red: (text: string) => string
  readonly yellow: (text: string) => string
  readonly dim: (text: string) => string
  readonly bold: (text: string) => string
}

const plain = (text: string) => text
const noColors: ReportColors = { red: plain, yellow: plain, dim: plain, bold: plain }

/** Reports lint issues as text: location, severity, rule, the line with a caret, and a hint. */
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

/** Reports lint issues as one JSON object. */
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

const levels = { error: 'error', warning: 'warning', note: 'note' } as const

/** Reports lint issues as SARIF 2.1.0. `sources` are the files that have issues; `version` is the version of the package. */
export function reportSarif(
  issues: readonly LintIssue[],
  { sources, version }: { readonly sources: readonly Source[]; readonly version: string },
): Json {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'proviso', version, rules: ruleTable.map(sarifRule) } },
        columnKind: 'utf16CodeUnits',
        results: issues.map((issue) =>
          result(
            issue,
            sources.find(({ name }) => name === issue.file),
          ),
        ),
      },
    ],
  }
}

function sarifRule({ id, title, help, severity }: (typeof ruleTable)[number]): Json {
  return {
    id,
    shortDescription: { text: title },
    help: { text: help, markdown: help },
    defaultConfiguration: { level: severity === 'off' ? 'none' : severity },
  }
}

function result(issue: LintIssue, source: Source | undefined): Json {
  const { code, severity, message, hint, step, file, line, column, at } = issue
  const index = ruleTable.findIndex(({ id }) => id === code)
  const region = source ? toRegion(source, at.span) : { startLine: line, startColumn: column }
  return {
    ruleId: code,
    ...(index >= 0 && { ruleIndex: index }),
    level: levels[severity],
    message: { text: hint === undefined ? message : `${message}. ${hint}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: toUri(file) }, region } }],
    partialFingerprints: { 'ruleAndStep/v1': `${code}:${step ?? ''}` },
    ...(issue.fix && source && { fixes: [toFix(issue, source)] }),
  }
}

function toFix({ fix = [], file }: LintIssue, source: Source): Json {
  const replacements = fix.map(({ span, text }) => ({
    deletedRegion: toRegion(source, span),
    insertedContent: { text },
  }))
  return { artifactChanges: [{ artifactLocation: { uri: toUri(file) }, replacements }] }
}

function toRegion(source: Source, [start, end]: readonly [number, number]): Json {
  const [from, to] = [toPosition(source, start), toPosition(source, end)]
  return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column }
}

function toUri(file: string): string {
  return file.split('\\').join('/').split('/').map(encodeURIComponent).join('/')
}
