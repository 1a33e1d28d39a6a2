/** Reports lint issues as SARIF 2.1.0, for code hosts and editors. */
import type { Json } from '../../base/json.ts'
import type { LintIssue } from '../lint/rule.ts'
import { ruleTable } from '../lint/rule-table.ts'
import { positionOf, type Source } from '../text/source.ts'

const levels = { error: 'error', warning: 'warning', note: 'note' } as const

/** `sources` are the files that have issues; `version` is the version of the package. */
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
  const region = source ? regionOf(source, at.span) : { startLine: line, startColumn: column }
  return {
    ruleId: code,
    ...(index >= 0 && { ruleIndex: index }),
    level: levels[severity],
    message: { text: hint === undefined ? message : `${message}. ${hint}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, region } }],
    partialFingerprints: { 'ruleAndStep/v1': `${code}:${step ?? ''}` },
    ...(issue.fix && source && { fixes: [fixOf(issue, source)] }),
  }
}

function fixOf({ fix = [], file }: LintIssue, source: Source): Json {
  const replacements = fix.map(({ span, text }) => ({
    deletedRegion: regionOf(source, span),
    insertedContent: { text },
  }))
  return { artifactChanges: [{ artifactLocation: { uri: uriOf(file) }, replacements }] }
}

function regionOf(source: Source, [start, end]: readonly [number, number]): Json {
  const [from, to] = [positionOf(source, start), positionOf(source, end)]
  return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column }
}

function uriOf(file: string): string {
  return file.split('\\').join('/').split('/').map(encodeURIComponent).join('/')
}
