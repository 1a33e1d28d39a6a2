/** Types of lint rules, their findings and fixers. */
import type { Edit, TextRange } from '../../base/errors/issue.ts'
import type { SourceIssue } from '../text/source.ts'
import type { LintStep, LintView } from './view/lint-view.ts'

export const severities = ['error', 'warning', 'note', 'off'] as const

/** An error fails the check, a warning only with `--fail-on-warn`, a note never. */
export type Severity = (typeof severities)[number]

export interface Rule {
  /** Id used in reports, baselines and suppressions, such as `V-A8`. */
  readonly id: string
  /** What the rule reports, in one line. */
  readonly title: string
  readonly severity: Severity
  /** Why it is wrong and how to correct it: the body of the rule's page, in Markdown. */
  readonly help: string
  /** A pipeline on which the rule reports nothing. */
  readonly good: string
  /** A pipeline on which the rule reports a finding. */
  readonly bad: string
  /** Files that the examples import, by path. */
  readonly beside?: Readonly<Record<string, string>>
  readonly check: (view: LintView) => Iterable<RuleFinding>
}

/** A finding of a rule at one range of the text. */
export interface RuleFinding {
  readonly span: TextRange
  readonly message: string
  readonly hint?: string
  /** The step concerned; baselines and suppressions use it. */
  readonly step?: LintStep
  /** Overrides the severity of the rule for this finding. */
  readonly severity?: Severity
}

/** A finding as reported. */
export interface LintIssue extends SourceIssue {
  /** The rule id, or the code of a parse error. */
  readonly code: string
  readonly severity: Exclude<Severity, 'off'>
  /** Name of the step. */
  readonly step?: string
  readonly fixable: boolean
  /** Why the fixer of the rule cannot fix it. */
  readonly cannotFix?: string
  /** Other steps that its fix changes. */
  readonly alsoChanges?: readonly string[]
}

/** Fixes the findings of one rule, or returns why it cannot. */
export interface Fixer {
  readonly rule: string
  /** What the fix does, for reports, such as `adds processing.structured_output`. */
  readonly title: string
  readonly fix: (view: LintView, finding: RuleFinding) => Mend
}

export type Mend =
  /** `alsoChanges` holds the labels of other steps that the edits change. */
  { readonly edits: readonly Edit[]; readonly alsoChanges?: readonly string[] } | { readonly cannot: string }
