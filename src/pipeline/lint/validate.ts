/**
 * Validates a pipeline without an input: lint findings plus compile errors. A pipeline without an error here
 * compiles with `compilePipeline`, and vice versa.
 */

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { TextRange } from '../../base/errors/issue.ts'
import type { Capability } from '../../domain/capability.ts'
import { checkPipeline } from '../compile/compile-pipeline.ts'
import type { ArosConfig } from '../config/aros-config.ts'
import { parsePipeline } from '../parse/parse-pipeline.ts'
import type { Pipeline } from '../parse/pipeline.ts'
import type { SourceIssue } from '../text/source.ts'
import { readYaml, type YamlDocument } from '../yaml/read-yaml.ts'
import { type LintIssueCode, type LintOptions, type LintResult, lint } from './lint.ts'
import type { LintIssue } from './rule.ts'
import type { SeenImport, SeenImports } from './view/lint-view.ts'

export interface ValidateOptions extends LintOptions {
  /** Settings of `[aros]`. Default: all defaults. */
  readonly aros?: ArosConfig
  /** Capabilities that steps may use by id. */
  readonly capabilities?: readonly Capability[]
  /** Names of custom stages that `processing.stages` may use. */
  readonly stages?: readonly string[]
}

/**
 * @example
 * const read = readYaml(text, 'pipeline.yaml')
 * if (read.ok) validatePipeline(read.document).issues
 */
export function validatePipeline(document: YamlDocument, options: ValidateOptions = {}): LintResult {
  const linted = lint(document, options)
  const parsed = parsePipeline(document)
  // The linter already reports parse errors; the readable rest of the file is checked all the same.
  const readable = parsed.ok ? parsed.pipeline : parsed.rest
  if (readable === undefined) return linted
  const pipeline = withImports(readable, options.imports ?? new Map())
  const { issues, notes } = checkPipeline(pipeline, options)
  const found = [
    ...issues
      .filter((issue) => !isLoading(issue) && !isSaid(issue, linted.issues))
      .map((issue) => asFinding(issue, 'error')),
    ...notes.filter(isWarning).map((issue) => asFinding(issue, 'warning')),
  ]
  const all = [...linted.issues, ...found]
  return { ...linted, issues: all.sort((a, b) => a.at.span[0] - b.at.span[0] || (a.code < b.code ? -1 : 1)) }
}

/** Adds the imports that were loaded with the file. */
function withImports(pipeline: Pipeline, seen: SeenImports): Pipeline {
  const imports = [...pipeline.imports].map(([name, given]) => {
    const found = seen.get(name)?.pipeline
    return [name, found ? { ...given, pipeline: found } : given] as const
  })
  return { ...pipeline, imports: new Map(imports) }
}

/** Import errors are reported by the loader. */
function isLoading({ code }: SourceIssue): boolean {
  return code === 'pipeline/import'
}

/**
 * Skips compile errors where a rule reports an error at the same range, in better words. A parse error that
 * covers a whole step, such as a loop without its bound, does not hide errors inside it.
 */
function isSaid({ at, file }: SourceIssue, issues: readonly LintIssue[]): boolean {
  const isAround = ({ code, at: { span: range } }: LintIssue) =>
    code.includes('/') && isInside(at.span, range)
  return issues.some(
    (issue) =>
      issue.severity === 'error' &&
      issue.file === file &&
      overlap(issue.at.span, at.span) &&
      !isAround(issue),
  )
}

function isInside([start, end]: TextRange, [from, to]: TextRange): boolean {
  return from <= start && end <= to && end - start < to - from
}

function overlap([start, end]: TextRange, [from, to]: TextRange): boolean {
  return start < Math.max(to, from + 1) && from < Math.max(end, start + 1)
}

/** Notes of the compiler that no rule covers. */
function isWarning({ code }: SourceIssue): boolean {
  return ['pipeline/precheck-key', 'pipeline/import-limits'].includes(code)
}

function asFinding(issue: SourceIssue, severity: 'error' | 'warning'): LintIssue<LintIssueCode> {
  return { ...issue, severity, fixable: false }
}

/** Collects the imports of a pipeline for the linter: the imported pipelines and their issues. `pipeline` was loaded from `file` with all its imports: paths are checked and import cycles ruled out. */
export async function seeImports(
  pipeline: Pipeline,
  file: string,
  options: LintOptions = {},
): Promise<SeenImports> {
  return see(pipeline, file, { options, known: new Map() })
}

interface Seeing {
  readonly options: LintOptions
  /** Memoises by path: a file that is imported several times is linted once. */
  readonly known: Map<string, Promise<SeenImport>>
}

async function see({ imports }: Pipeline, file: string, seeing: Seeing): Promise<SeenImports> {
  const seen = new Map<string, SeenImport>()
  for (const [name, { path, pipeline }] of imports) {
    if (pipeline === undefined) continue
    const where = resolve(dirname(file), path)
    const looked = seeing.known.get(where) ?? look(pipeline, where, seeing)
    seeing.known.set(where, looked)
    seen.set(name, await looked)
  }
  return seen
}

async function look(pipeline: Pipeline, file: string, seeing: Seeing): Promise<SeenImport> {
  const read = readYaml(await readFile(file), file)
  // The file was readable when it was loaded; if it has changed since, the next load reports it.
  if (!read.ok) return { pipeline, issues: [] }
  const imports = await see(pipeline, file, seeing)
  return { pipeline, issues: lint(read.document, { ...seeing.options, imports }).issues }
}
