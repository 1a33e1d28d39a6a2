/** A look at a pipeline file: its issues, and how they are reported. */
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
} from '../pipeline/index.ts'
import { pageColors, printJson, printNote, printText } from './print.ts'
import type { Unreadable } from './read-input.ts'
import { readYamlFile } from './read-yaml-file.ts'
import { version } from './version.ts'

/** What is known of a file after looking at it. */
export interface Looked {
  readonly text: string
  readonly sources: readonly Source[]
  readonly issues: readonly LintIssue[]
  readonly suppressed: number
  readonly imports: SeenImports
  /** The file is no YAML at all. */
  readonly unread: boolean
  readonly extra?: Pick<JsonReport, 'baseline' | 'fixes' | 'fixes_dry_run'>
}

export type Format = 'text' | 'json' | 'sarif'

export type Or<T> = T | { readonly unreadable: Unreadable }

export async function lookAtPipeline(file: string, options: ValidateOptions): Promise<Or<Looked>> {
  const found = await readYamlFile(file)
  if ('unreadable' in found) return found
  const { read, text } = found
  if (read.ok) {
    const loaded = await loadPipeline(file)
    const imports = loaded.ok ? await seeImports(loaded.pipeline, file, options) : new Map()
    const { issues, suppressed } = validatePipeline(read.document, { ...options, imports })
    const all = loaded.ok ? issues : [...issues, ...importIssues(file, loaded.issues)]
    return { text, sources: [read.document.source], issues: all, suppressed, imports, unread: false }
  }
  const issues = read.issues.map((issue) => ({ ...issue, severity: 'error' as const, fixable: false }))
  return { text, sources: [], issues, suppressed: 0, imports: new Map(), unread: true }
}

/** Files that the pipeline names and that cannot be used; what is wrong in it itself has been said. */
function importIssues(file: string, issues: readonly SourceIssue[]): LintIssue[] {
  return issues
    .filter(({ code, file: where }) => isImport(code) || where !== file)
    .map((issue) => ({ ...issue, severity: 'error', fixable: false }))
}

export function isImport(code: string): boolean {
  return code.startsWith('import/')
}

export function reportLooked(
  file: string,
  { issues, suppressed, sources, extra }: Looked,
  format: Format,
): void {
  if (format === 'json') printJson(reportJson({ path: file, issues, suppressed }, extra), 'line')
  else if (format === 'sarif') printJson(reportSarif(issues, { sources, version: version() }), 'indented')
  else {
    // A dry run has printed its patch, which must stay one.
    if (issues.length > 0 && !extra?.fixes_dry_run) printText(reportText(issues, pageColors))
    printNote(`${file}: ${countIssues(issues)}${suppressed > 0 ? `, ${suppressed} switched off in it` : ''}`)
  }
}
