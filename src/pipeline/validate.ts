/**
 * All that can be said of a pipeline before it has an input: what the rules find, and why the compiler would refuse it. A
 * pipeline without an error here is one that `compilePipeline` takes, and the other way round.
 */
import type { Span } from '../base/issue.ts'
import type { Capability } from '../domain/capability.ts'
import type { ArosConfig } from './aros-config.ts'
import { checkPipeline } from './compile-pipeline.ts'
import { type LintOptions, type LintResult, lint } from './lint.ts'
import type { SeenImports } from './lint-view.ts'
import { parsePipeline } from './parse-pipeline.ts'
import type { Pipeline } from './pipeline.ts'
import type { YamlDocument } from './read-yaml.ts'
import type { LintIssue } from './rule.ts'
import type { SourceIssue } from './source.ts'

export interface ValidateOptions extends LintOptions {
  /** The settings of `[aros]`. Default: all defaults. */
  readonly aros?: ArosConfig
  /** Capabilities that steps may use by their ids. */
  readonly capabilities?: readonly Capability[]
  /** Names of stages of your own that `processing.stages` may name. */
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
  // What cannot be read is among the issues of the linter already.
  if (!parsed.ok) return linted
  const pipeline = withImports(parsed.pipeline, options.imports ?? new Map())
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

/** Imports that were loaded with the file. */
function withImports(pipeline: Pipeline, seen: SeenImports): Pipeline {
  const imports = [...pipeline.imports].map(([name, given]) => {
    const found = seen.get(name)?.pipeline
    return [name, found ? { ...given, pipeline: found } : given] as const
  })
  return { ...pipeline, imports: new Map(imports) }
}

/** Whether an import can be loaded is reported by whoever loads it. */
function isLoading({ code }: SourceIssue): boolean {
  return code === 'pipeline/import'
}

/** A rule that found an error at the same place has said it in better words. */
function isSaid({ at, file }: SourceIssue, issues: readonly LintIssue[]): boolean {
  return issues.some(
    (issue) => issue.severity === 'error' && issue.file === file && overlap(issue.at.span, at.span),
  )
}

function overlap([start, end]: Span, [from, to]: Span): boolean {
  return start < Math.max(to, from + 1) && from < Math.max(end, start + 1)
}

/** Notes of the compiler that no rule is for. */
function isWarning({ code }: SourceIssue): boolean {
  return code === 'pipeline/precheck-key' || code === 'pipeline/limit'
}

function asFinding(issue: SourceIssue, severity: 'error' | 'warning'): LintIssue {
  return { ...issue, severity, fixable: false }
}
