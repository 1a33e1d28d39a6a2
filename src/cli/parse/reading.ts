/** Executes one reading of `proviso parse`: loads text and schema from their files, parses the value, and prints the result. */
import type { Issue } from '../../base/errors/issue.ts'
import {
  createReader,
  explain,
  type JsonSchema,
  type ParseOptions,
  type ParseResult,
  type Pushed,
  parse,
} from '../../output/index.ts'
import {
  type Diagnostic,
  problemLine,
  type SourceFile,
  toDiagnostics,
  unreadableDiagnostic,
} from '../diagnostics/diagnostics.ts'
import { exitCode } from '../exit-codes.ts'
import { readSchema } from '../input/read-schema.ts'
import { printIssues, printJson, printNote, refuse } from '../print.ts'
import { inputName, readInput, type Unreadable } from '../read-input.ts'

export interface ReadingRequest {
  /** `undefined` and `-` mean stdin. */
  readonly file: string | undefined
  readonly schemaFile: string | undefined
  readonly maxBytes: number
  readonly options: ParseOptions
  /** Receives the parts that each chunk completes while the text arrives. */
  readonly onPush?: (pushed: Pushed<unknown>) => void
}

export type Reading =
  | {
      readonly kind: 'read'
      readonly result: ParseResult<unknown>
      readonly name: string
      readonly schema: SourceFile | undefined
    }
  /** A file cannot be read or the schema is invalid: there is no result for the text. */
  | {
      readonly kind: 'unusable'
      readonly why: Unreadable
      readonly issues: readonly Issue[]
      readonly diagnostics: readonly Diagnostic[]
    }

type Unusable = Reading & { readonly kind: 'unusable' }

/** A schema with its source file; empty without a schema. */
interface LoadedSchema {
  readonly schema?: JsonSchema
  readonly source?: SourceFile
}

export async function readAnswer(request: ReadingRequest): Promise<Reading> {
  const { file, schemaFile, maxBytes, options, onPush } = request
  const loaded = await loadSchema(schemaFile)
  if ('kind' in loaded) return loaded
  const reader = onPush && createReader(loaded.schema, options)
  const onChunk = reader && ((chunk: string) => onPush(reader.push(chunk)))
  const name = inputName(file)
  const input = await readInput(file, { maxBytes, ...(onChunk && { onChunk }) })
  if ('unreadable' in input) return unusableInput(name, input.unreadable)
  return reader ? judge(reader.end(), name, loaded.source) : readText(input.text, { name, loaded, options })
}

export async function loadSchema(file: string | undefined): Promise<LoadedSchema | Unusable> {
  if (file === undefined) return {}
  const found = await readSchema(file)
  const name = inputName(file)
  return 'unreadable' in found
    ? unusableInput(name, found.unreadable)
    : { schema: found.schema, source: { name, text: found.text } }
}

/** Parses one text; `name` identifies it in messages. */
export function readText(
  text: string,
  { name, loaded, options }: { name: string; loaded: LoadedSchema; options: ParseOptions },
): Reading {
  return judge(parse(text, loaded.schema, options), name, loaded.source)
}

/** Reports an invalid schema as `unusable`, not as a result of the text. */
function judge(result: ParseResult<unknown>, name: string, schema: SourceFile | undefined): Reading {
  const problem = result.ok ? undefined : result.issues.find(isSchemaProblem)
  if (problem === undefined) return { kind: 'read', result, name, schema }
  const { message, hint } = problem
  return {
    kind: 'unusable',
    why: { message, ...(hint !== undefined && { hint }) },
    issues: result.issues,
    diagnostics: toDiagnostics(result, name, schema),
  }
}

/** Returns the data that `--json` prints. Omits the text, which the caller already has. */
export function readingAsData(reading: Reading): Record<string, unknown> {
  if (reading.kind === 'read') return resultAsData(reading.result, reading)
  const { issues, diagnostics } = reading
  return { ok: false, repairs: [], issues, truncated: false, branches: {}, diagnostics }
}

/** Returns the diagnostics of a reading, for editors. */
function readingDiagnostics(reading: Reading): readonly Diagnostic[] {
  if (reading.kind === 'unusable') return reading.diagnostics
  return toDiagnostics(reading.result, reading.name, reading.schema)
}

function resultAsData(
  result: ParseResult<unknown>,
  { name, schema }: { readonly name: string; readonly schema: SourceFile | undefined },
): Record<string, unknown> {
  const { repairs, issues, truncated, branches } = result
  return {
    ok: result.ok,
    ...(result.ok && { value: result.value }),
    repairs,
    issues,
    truncated,
    branches,
    diagnostics: toDiagnostics(result, name, schema),
    ...(result.shadow && { shadow: resultAsData(result.shadow, { name, schema }) }),
  }
}

function isSchemaProblem({ code }: Issue): boolean {
  return code === 'schema/invalid' || code === 'schema/limit'
}

/** Builds the outcome of a file that cannot be read. */
export function unusableInput(name: string, why: Unreadable): Unusable {
  const { message, hint } = why
  const issue: Issue = {
    code: 'input/unreadable',
    at: { pointer: '' },
    message,
    ...(hint !== undefined && { hint }),
  }
  return { kind: 'unusable', why, issues: [issue], diagnostics: [unreadableDiagnostic(name, why)] }
}

export interface ReportFlags {
  readonly json?: true
  readonly stream?: true
  readonly explain?: true
  readonly shadow?: true
  readonly problems?: true
}

/** Prints one reading and returns its exit code. */
export function reportReading(reading: Reading, flags: ReportFlags): number {
  if (flags.problems) for (const one of readingDiagnostics(reading)) printNote(problemLine(one))
  const asData = flags.json || flags.stream
  if (reading.kind === 'unusable') {
    if (asData) printJson(readingAsData(reading), 'line')
    return flags.problems ? exitCode('usage') : refuse(reading.why)
  }
  const { result, name } = reading
  const explained = flags.explain || flags.shadow
  if (explained) printNote(explain(result))
  if (asData) printJson(readingAsData(reading), 'line')
  else if (result.ok) {
    printJson(result.value, 'indented')
    if (!flags.problems)
      for (const { message, hint } of result.issues) printNote(`${message}. ${hint ?? ''}`.trim())
  } else if (!explained && !flags.problems) {
    printIssues(result.issues, name, result.raw)
    if (result.truncated) printNote('The text ends before the value does.')
    printNote('Add --explain to see what was found and changed.')
  }
  return exitCode(result.ok ? 'ok' : 'unmet')
}
