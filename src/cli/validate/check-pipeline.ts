/** Lints a pipeline file and prints the report. */
import {
  countIssues,
  type JsonReport,
  type LintIssue,
  loadPipeline,
  reportJson,
  reportSarif,
  reportText,
  type SeenImports,
  type Source,
  type SourceIssue,
  seeImports,
  type ValidateOptions,
  validatePipeline,
} from '../../pipeline/index.ts'
import { readYamlFile } from '../input/read-bytes.ts'
import { count } from '../one-line.ts'
import { pageColors, printJson, printNote, printText } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { version } from '../version.ts'

/** The result of linting a file. */
export interface LintedFile {
  readonly text: string
  readonly sources: readonly Source[]
  readonly issues: readonly LintIssue[]
  readonly suppressed: number
  readonly imports: SeenImports
  /** The file is not valid YAML. */
  readonly isInvalidYaml: boolean
  readonly extra?: Pick<JsonReport, 'baseline' | 'fixes' | 'fixes_dry_run'>
}

export type Format = 'text' | 'json' | 'sarif'

export type Or<T> = T | { readonly unreadable: Unreadable }

export async function lintPipeline(file: string, options: ValidateOptions): Promise<Or<LintedFile>> {
  const found = await readYamlFile(file)
  if ('unreadable' in found) return found
  const { read, text } = found
  if (read.ok) {
    const loaded = await loadPipeline(file)
    const imports = loaded.ok ? await seeImports(loaded.pipeline, file, options) : new Map()
    const { issues, suppressed } = validatePipeline(read.document, { ...options, imports })
    const all = loaded.ok ? issues : [...issues, ...importIssues(file, loaded.issues)]
    return { text, sources: [read.document.source], issues: all, suppressed, imports, isInvalidYaml: false }
  }
  const issues = read.issues.map((issue) => ({ ...issue, severity: 'error' as const, fixable: false }))
  return { text, sources: [], issues, suppressed: 0, imports: new Map(), isInvalidYaml: true }
}

/** Returns the issues of imported files; issues of the pipeline itself are already reported. */
function importIssues(file: string, issues: readonly SourceIssue[]): LintIssue[] {
  return issues
    .filter(({ code, file: where }) => isImport(code) || where !== file)
    .map((issue) => ({ ...issue, severity: 'error', fixable: false }))
}

export function isImport(code: string): boolean {
  return code.startsWith('import/')
}

/** A file with its findings. */
export interface CheckedFile {
  readonly file: string
  readonly linted: LintedFile
}

/** Prints the report of one file as one object; of several, as one object with `files`. */
export function reportAll(checked: readonly CheckedFile[], format: Format): void {
  if (format === 'text') for (const each of checked) reportAsText(each)
  if (format === 'text' && checked.length > 1) {
    const issues = checked.flatMap(({ linted }) => linted.issues)
    printNote(`${count(checked.length, 'file')}: ${countIssues(issues)}`)
  }
  if (format === 'json') printJson(toJson(checked), 'line')
  if (format === 'sarif') {
    const issues = checked.flatMap(({ linted }) => linted.issues)
    const sources = checked.flatMap(({ linted }) => linted.sources)
    printJson(reportSarif(issues, { sources, version: version() }), 'indented')
  }
}

function toJson(checked: readonly CheckedFile[]): JsonReport | FilesReport {
  const files = checked.map(({ file, linted: { issues, suppressed, extra } }) =>
    reportJson({ path: file, issues, suppressed }, extra),
  )
  const [only] = files
  if (only && files.length === 1) return only
  const sum = (severity: keyof JsonReport['counts']) =>
    files.reduce((total, { counts }) => total + counts[severity], 0)
  return {
    is_valid: files.every(({ is_valid }) => is_valid),
    files,
    counts: { error: sum('error'), warning: sum('warning'), note: sum('note') },
  }
}

interface FilesReport extends Pick<JsonReport, 'is_valid' | 'counts'> {
  readonly files: readonly JsonReport[]
}

function reportAsText({ file, linted: { issues, suppressed, extra } }: CheckedFile): void {
  // A dry run prints a patch on stdout; a report would make it invalid.
  if (issues.length > 0 && !extra?.fixes_dry_run) printText(reportText(issues, pageColors))
  printNote(`${file}: ${countIssues(issues)}${suppressed > 0 ? `, ${suppressed} suppressed in it` : ''}`)
}
