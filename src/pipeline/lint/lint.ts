/** Lints a pipeline: runs every rule, then applies suppressions and severities, and adds the fix where the rule carries a fixer. */

import type { TextRange } from '../../base/errors/issue.ts'
import { parsePipeline } from '../parse/parse-pipeline.ts'
import { issueAt } from '../text/source.ts'
import type { YamlDocument } from '../yaml/read-yaml.ts'
import { matches } from './glob.ts'
import type { LintSettings } from './lint-settings.ts'
import type { LintIssue, Rule, RuleFinding, Severity } from './rule.ts'
import { ruleTable } from './rule-table.ts'
import { suppression } from './suppress.ts'
import { unknownRuleCode, unknownRules } from './unknown-rules.ts'
import { type LintView, lintView, type SeenImports } from './view/lint-view.ts'

export interface LintOptions {
  readonly settings?: LintSettings
  /** Globs of rules and their severities; the last match wins. */
  readonly profile?: Profile
  /** The imported pipelines. Without them, rules about imports report nothing. */
  readonly imports?: SeenImports
}

export type Profile = readonly (readonly [glob: string, severity: Severity])[]

export interface LintResult {
  /** In the order of the file. */
  readonly issues: readonly LintIssue[]
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
  const issues: LintIssue[] = []
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
function misread(document: YamlDocument, said: readonly LintIssue[]): LintIssue[] {
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
  readonly rule: Rule
  readonly finding: RuleFinding
  readonly severity: Exclude<Severity, 'off'>
}

function issueOf(view: LintView, { rule, finding, severity }: Judged): LintIssue {
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
