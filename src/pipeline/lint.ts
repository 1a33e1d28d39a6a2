/** Pipeline to issues: every rule is asked, then come suppressions, severities, and where fixes are known the fixes. */

import type { Span } from '../base/issue.ts'
import { fixerTable } from './fixer-table.ts'
import { matches } from './glob.ts'
import type { LintSettings } from './lint-settings.ts'
import { type LintView, lintView, type SeenImports } from './lint-view.ts'
import { parsePipeline } from './parse-pipeline.ts'
import type { YamlDocument } from './read-yaml.ts'
import type { LintIssue, Rule, RuleFinding, Severity } from './rule.ts'
import { ruleTable } from './rule-table.ts'
import { issueAt } from './source.ts'
import { suppression } from './suppress.ts'
import { unknownRuleCode, unknownRules } from './unknown-rules.ts'

export interface LintOptions {
  readonly settings?: LintSettings
  /** Globs of rules and how severe they are; the last that matches counts. */
  readonly profile?: Profile
  /** What its imports are; without them, rules that look at imports are silent. */
  readonly imports?: SeenImports
}

export type Profile = readonly (readonly [glob: string, severity: Severity])[]

export interface LintResult {
  /** In the order of the file. */
  readonly issues: readonly LintIssue[]
  /** How many the file itself has switched off. */
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
    const { span, message, hint } = finding
    const issue = issueAt(document.source, { code: unknownRuleCode, span, message, ...(hint && { hint }) })
    issues.push({ ...issue, severity, fixable: false })
  }
  issues.push(...misread(document, issues))
  issues.sort((a, b) => a.at.span[0] - b.at.span[0] || (a.code < b.code ? -1 : 1))
  return { issues, suppressed }
}

/** What the reader of pipelines refuses, unless a rule has said it better. */
function misread(document: YamlDocument, said: readonly LintIssue[]): LintIssue[] {
  const parsed = parsePipeline(document)
  if (parsed.ok) return []
  const covers = (issue: LintIssue, [start, end]: Span) =>
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
  const { span, message, hint, step } = finding
  const mend = fixerTable.find((fixer) => fixer.rule === rule.id)?.fix(view, finding)
  return {
    ...issueAt(view.document.source, {
      code: rule.id,
      span,
      message,
      ...(hint !== undefined && { hint }),
      ...(step && { pointer: step.pointer }),
      ...(mend && 'edits' in mend && { fix: mend.edits }),
    }),
    severity,
    ...(step && { step: step.label }),
    fixable: mend !== undefined && 'edits' in mend,
    ...(mend && 'cannot' in mend && { cannotFix: mend.cannot }),
    ...(mend && 'edits' in mend && mend.alsoChanges && { alsoChanges: mend.alsoChanges }),
  }
}
