/**
 * Lints a pipeline: runs every rule, then applies suppressions and severities, and adds the fix where the rule carries a
 * fixer. Validating it adds the errors of the compiler: a pipeline without an error compiles with `compilePipeline`, and
 * vice versa.
 */

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { closest } from '../../base/closest.ts'
import type { TextRange } from '../../base/errors/issue.ts'
import type { Capability } from '../../domain/capability.ts'
import { checkPipeline } from '../compile/compile-pipeline.ts'
import type { ArosConfig } from '../config/aros-config.ts'
import { parsePipeline } from '../parse/parse-pipeline.ts'
import type { Pipeline } from '../parse/pipeline.ts'
import type { PipelineIssueCode } from '../text/issue-table.ts'
import { issueAt, type SourceIssue } from '../text/source.ts'
import { readYaml, type YamlDocument } from '../yaml/read-yaml.ts'
import { matches } from './glob.ts'
import type { LintSettings } from './lint-settings.ts'
import type { Profile } from './profile.ts'
import type { LintIssue, Rule, RuleFinding, Severity } from './rule.ts'
import { type RuleId, ruleTable } from './rule-table.ts'
import { findUnneededRule } from './rules-not-needed.ts'
import { type NamedRule, namedInComment, namedInMeta, suppression } from './suppress.ts'
import { type LintView, lintView, type SeenImport, type SeenImports } from './view/lint-view.ts'

export interface LintOptions {
  readonly settings?: LintSettings
  /** Globs of rules and their severities; the last match wins. */
  readonly profile?: Profile
  /** The imported pipelines. Without them, rules about imports report nothing. */
  readonly imports?: SeenImports
}

/** Code of an issue of `lint` and `validatePipeline`: a rule, or what the parser and the compiler report. */
export type LintIssueCode = RuleId | PipelineIssueCode | typeof unknownRuleCode

export interface LintResult {
  /** In the order of the file. */
  readonly issues: readonly LintIssue<LintIssueCode>[]
  /** Number of issues that the file itself suppresses. */
  readonly suppressed: number
}

/**
 * @example
 * const read = readYaml(text, 'pipeline.yaml')
 * if (read.ok) lint(read.document).issues
 */
export function lint(document: YamlDocument, options: LintOptions = {}): LintResult {
  const view = lintView(document, options)
  const isSuppressed = suppression(view)
  const issues: LintIssue<LintIssueCode>[] = []
  let suppressed = 0
  for (const rule of ruleTable) {
    for (const finding of rule.check(view)) {
      const severity = severityOf(rule, finding, options.profile ?? [])
      if (severity === 'off') continue
      if (isSuppressed(rule.id, finding)) suppressed++
      else issues.push(issueOf(view, { rule, finding, severity }))
    }
  }
  for (const finding of unknownRules(view)) {
    const severity = severityOf({ id: unknownRuleCode, severity: 'warning' }, finding, options.profile ?? [])
    if (severity === 'off') continue
    const { range, message, hint } = finding
    const issue = issueAt(document.source, { code: unknownRuleCode, range, message, ...(hint && { hint }) })
    issues.push({ ...issue, severity, fixable: false })
  }
  issues.push(...misread(document, issues))
  issues.sort((a, b) => a.at.span[0] - b.at.span[0] || (a.code < b.code ? -1 : 1))
  return { issues, suppressed }
}

/** Returns what the parser of pipelines rejects, unless a rule reports an error at the same range. */
function misread(document: YamlDocument, said: readonly LintIssue[]): LintIssue<LintIssueCode>[] {
  const parsed = parsePipeline(document)
  if (parsed.ok) return []
  const covers = (issue: LintIssue, [start, end]: TextRange) =>
    issue.severity === 'error' && issue.at.span[0] < Math.max(end, start + 1) && start < issue.at.span[1]
  return parsed.issues
    .filter(({ at }) => !said.some((issue) => covers(issue, at.span)))
    .map((issue) => ({ ...issue, severity: 'error', fixable: false }))
}

function severityOf(rule: Pick<Rule, 'id' | 'severity'>, finding: RuleFinding, profile: Profile): Severity {
  return profile.findLast(([glob]) => matches(rule.id, glob))?.[1] ?? finding.severity ?? rule.severity
}

interface Judged {
  readonly rule: Rule<RuleId>
  readonly finding: RuleFinding
  readonly severity: Exclude<Severity, 'off'>
}

function issueOf(view: LintView, { rule, finding, severity }: Judged): LintIssue<LintIssueCode> {
  const { range, message, hint, step } = finding
  const fix = rule.fixer?.fix(view, finding)
  return {
    ...issueAt(view.document.source, {
      code: rule.id,
      range,
      message,
      ...(hint !== undefined && { hint }),
      ...(step && { pointer: step.pointer }),
      ...(fix && 'edits' in fix && { fix: fix.edits }),
    }),
    severity,
    ...(step && { step: step.label }),
    fixable: fix !== undefined && 'edits' in fix,
    ...(fix && 'cannot' in fix && { cannotFix: fix.cannot }),
    ...(fix && 'edits' in fix && fix.alsoChanges && { alsoChanges: fix.alsoChanges }),
  }
}

// Reports suppressions that name no rule: a typo would otherwise silently leave the rule on.

const unknownRuleCode = 'lint/unknown-rule'

/** Rules of the original project that cannot be broken here are reported as notes only. */
function unknownRules(view: LintView): RuleFinding[] {
  const { root, comments } = view.document
  const named = [
    ...namedInMeta(root),
    ...view.steps.flatMap(({ node }) => namedInMeta(node)),
    ...comments.flatMap((comment) => namedInComment(comment).filter(isMeant)),
  ]
  const found = named.filter(({ rule }) => !ruleTable.some(({ id }) => matches(id, rule)))
  // A step reached through several aliases is in the file once.
  return [...new Map(found.map((one) => [one.range[0], findingOf(one)])).values()]
}

const ids = ruleTable.map(({ id }) => id)
const families: ReadonlySet<string> = new Set(ids.map(familyOf))

/**
 * The first word is always taken as a rule; the following words may be a reason, so only words that look like
 * rules count.
 */
function isMeant({ rule }: NamedRule, index: number): boolean {
  return index === 0 || (/[-*]/.test(rule) && families.has(familyOf(rule)))
}

function familyOf(rule: string): string {
  return rule.split(/[-*]/)[0]?.toUpperCase() ?? ''
}

function findingOf({ rule, range }: NamedRule): RuleFinding {
  if (findUnneededRule(rule))
    return {
      range,
      message: `${rule} is no rule here, so that nothing is switched off`,
      hint: `\`proviso validate --explain ${rule}\` says what one gets instead`,
      severity: 'note',
    }
  const meant = closest(rule, ids)
  return {
    range,
    message: `no rule is called ${rule}, so that nothing is switched off`,
    hint: meant === undefined ? `Rules: ${ids.join(', ')}` : `Did you mean ${meant}?`,
  }
}

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
