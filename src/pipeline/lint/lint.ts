/** Lints a pipeline: runs every rule, then applies suppressions and severities, and adds the fix where the rule carries a fixer. */

import { closest } from '../../base/closest.ts'
import type { TextRange } from '../../base/errors/issue.ts'
import { parsePipeline } from '../parse/parse-pipeline.ts'
import type { PipelineIssueCode } from '../text/issue-table.ts'
import { issueAt } from '../text/source.ts'
import type { YamlDocument } from '../yaml/read-yaml.ts'
import { matches } from './glob.ts'
import type { LintSettings } from './lint-settings.ts'
import type { Profile } from './profile.ts'
import type { LintIssue, Rule, RuleFinding, Severity } from './rule.ts'
import { type RuleId, ruleTable } from './rule-table.ts'
import { findUnneededRule } from './rules-not-needed.ts'
import { type NamedRule, namedInComment, namedInMeta, suppression } from './suppress.ts'
import { type LintView, lintView, type SeenImports } from './view/lint-view.ts'

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
      const severity = getSeverity(rule, finding, options.profile ?? [])
      if (severity === 'off') continue
      if (isSuppressed(rule.id, finding)) suppressed++
      else issues.push(toIssue(view, { rule, finding, severity }))
    }
  }
  for (const finding of unknownRules(view)) {
    const severity = getSeverity({ id: unknownRuleCode, severity: 'warning' }, finding, options.profile ?? [])
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

function getSeverity(rule: Pick<Rule, 'id' | 'severity'>, finding: RuleFinding, profile: Profile): Severity {
  return profile.findLast(([glob]) => matches(rule.id, glob))?.[1] ?? finding.severity ?? rule.severity
}

interface Judged {
  readonly rule: Rule<RuleId>
  readonly finding: RuleFinding
  readonly severity: Exclude<Severity, 'off'>
}

function toIssue(view: LintView, { rule, finding, severity }: Judged): LintIssue<LintIssueCode> {
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
  return [...new Map(found.map((one) => [one.range[0], getFinding(one)])).values()]
}

const ids = ruleTable.map(({ id }) => id)
const families: ReadonlySet<string> = new Set(ids.map(getFamily))

/**
 * The first word is always taken as a rule; the following words may be a reason, so only words that look like
 * rules count.
 */
function isMeant({ rule }: NamedRule, index: number): boolean {
  return index === 0 || (/[-*]/.test(rule) && families.has(getFamily(rule)))
}

function getFamily(rule: string): string {
  return rule.split(/[-*]/)[0]?.toUpperCase() ?? ''
}

function getFinding({ rule, range }: NamedRule): RuleFinding {
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
