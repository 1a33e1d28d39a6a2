/** Converts repairs and issues to diagnostics of the Language Server Protocol, for editors, and to lines for a problem matcher. */
import type { Issue } from '../../base/errors/issue.ts'
import type { Pointer } from '../../base/pointer.ts'
import { type ParseResult, type Repair, type RuleName, rules } from '../../output/index.ts'
import { oneLine } from '../one-line.ts'
import { findNode, readTree } from './json-tree.ts'
import { locateResult } from './locate-result.ts'
import { createRanges, type Position, type Range } from './positions.ts'

/** A `Diagnostic` of the protocol, with its file and the pointer into the value. */
export interface Diagnostic {
  /** As named on the command line; `stdin` for stdin. */
  readonly file: string
  /** Zero-based lines and UTF-16 characters, as the protocol counts. */
  readonly range: Range
  /** 1 error, 2 warning, 3 information. */
  readonly severity: 1 | 2 | 3
  /** The code of an issue, or `repair/` and the rule. */
  readonly code: string
  readonly source: 'proviso'
  readonly message: string
  /** Pointer into the value (into the schema, for a diagnostic of the schema file). */
  readonly pointer: Pointer
}

/** A file with its content. */
export interface SourceFile {
  readonly name: string
  readonly text: string
}

/** Why a file cannot be used, and where if known. */
interface Refusal {
  readonly message: string
  readonly hint?: string
  readonly position?: Position
}

const [error, warning, information] = [1, 2, 3] as const

const severityNames = { 1: 'error', 2: 'warning', 3: 'info' } as const

/** Issues of these codes point into the schema. */
const schemaCodes: readonly string[] = ['schema/invalid', 'schema/limit', 'schema/unknown-dialect']

/** Returns the issues first, then the repairs, each in the order of the result. */
export function toDiagnostics(
  result: ParseResult<unknown>,
  name: string,
  schema: SourceFile | undefined,
): Diagnostic[] {
  const { issues, repairs, raw } = result
  if (issues.length === 0 && repairs.length === 0) return []
  const located = locateResult(result)
  const toRange = createRanges(raw)
  const ofIssues = issues.map((issue, i): Diagnostic => {
    const { range, pointer } = located.issues[i] ?? { range: [0, raw.length] as const, pointer: '' }
    const location =
      schema && schemaCodes.includes(issue.code)
        ? inSchema(issue, schema)
        : { file: name, range: toRange(range) }
    return describe({ ...location, pointer }, issue, result.ok ? warning : error)
  })
  const ofRepairs = repairs.map((repair, i): Diagnostic => {
    const { range, pointer } = located.repairs[i] ?? { range: [0, raw.length] as const, pointer: '' }
    const location = { file: name, range: toRange(range), pointer }
    const said = { code: `repair/${repair.rule}`, message: toSentence(repair) }
    return describe(location, said, repair.stage === 'extract' ? information : warning)
  })
  return [...ofIssues, ...ofRepairs]
}

/** Builds the diagnostic of a file that cannot be used at all. */
export function unreadableDiagnostic(name: string, { message, hint, position }: Refusal): Diagnostic {
  const start = position ?? { line: 0, character: 0 }
  const location = { file: name, range: { start, end: start }, pointer: '' }
  return describe(location, { code: 'input/unreadable', message, ...(hint !== undefined && { hint }) }, error)
}

/** Formats `FILE:LINE:COLUMN: severity code: message` on one line, counted from one. */
export function problemLine({ file, range, severity, code, message }: Diagnostic): string {
  const { line, character } = range.start
  const location = `${file}:${line + 1}:${character + 1}`
  return `${location}: ${severityNames[severity]} ${code.replaceAll(/\s+/g, '-')}: ${oneLine(message, 400)}`
}

function describe(
  location: Pick<Diagnostic, 'file' | 'range' | 'pointer'>,
  { code, message, hint }: Pick<Issue, 'code' | 'message' | 'hint'>,
  severity: Diagnostic['severity'],
): Diagnostic {
  const { file, range, pointer } = location
  const said = hint === undefined ? message : `${message}. ${hint}`
  return { file, range, severity, code, source: 'proviso', message: said, pointer }
}

function inSchema({ at }: Issue, { name, text }: SourceFile): { file: string; range: Range } {
  const { node } = findNode(readTree(text), 'pointer' in at ? at.pointer : '')
  return { file: name, range: createRanges(text)([node.start, node.end]) }
}

function toSentence({ rule, at, before, after }: Repair): string {
  const sentence = Object.hasOwn(rules, rule)
    ? rules[rule as RuleName].sentence
    : 'a custom stage changed the value'
  const show = (part: unknown) => {
    if (part === undefined || part === '') return 'nothing'
    return oneLine('span' in at && typeof part === 'string' ? part : JSON.stringify(part), 60)
  }
  return `${sentence}: ${show(before)} → ${show(after)}`
}
