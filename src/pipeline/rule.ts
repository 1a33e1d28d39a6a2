/** What a rule of the linter is, and what it says of a pipeline. */
import type { Edit, Span } from '../base/issue.ts'
import type { LintStep, LintView } from './lint-view.ts'
import type { SourceIssue } from './source.ts'

export const severities = ['error', 'warning', 'note', 'off'] as const

/** An error fails the check, a warning only with `--fail-on-warn`, a note never. */
export type Severity = (typeof severities)[number]

export interface Rule {
  /** Its name for people, baselines and suppressions, such as `V-A8`. */
  readonly id: string
  /** What is wrong where it speaks up, in one line. */
  readonly title: string
  readonly severity: Severity
  /** Why that is wrong, and what to do: the body of its page, in Markdown. */
  readonly help: string
  /** A pipeline on which it is silent. */
  readonly good: string
  /** A pipeline on which it speaks up. */
  readonly bad: string
  /** Files that the examples import, by their paths. */
  readonly beside?: Readonly<Record<string, string>>
  readonly check: (view: LintView) => Iterable<RuleFinding>
}

/** What a rule says of one place. */
export interface RuleFinding {
  readonly span: Span
  readonly message: string
  readonly hint?: string
  /** Which step it is about; baselines and suppressions go by it. */
  readonly step?: LintStep
  /** When it is worse or better than the rule in general. */
  readonly severity?: Severity
}

/** A finding as it is reported. */
export interface LintIssue extends SourceIssue {
  /** The rule, or the code of what could not be read. */
  readonly code: string
  readonly severity: Exclude<Severity, 'off'>
  /** Name of the step. */
  readonly step?: string
  readonly fixable: boolean
  /** Why the fixer of the rule does not mend it. */
  readonly cannotFix?: string
  /** Other steps that its fix changes. */
  readonly alsoChanges?: readonly string[]
}

/** Mends what one rule found, or says why it cannot. */
export interface Fixer {
  readonly rule: string
  /** What it does, for people, such as `adds processing.structured_output`. */
  readonly title: string
  readonly fix: (view: LintView, finding: RuleFinding) => Mend
}

export type Mend =
  /** `alsoChanges` are the labels of other steps that the edits change. */
  { readonly edits: readonly Edit[]; readonly alsoChanges?: readonly string[] } | { readonly cannot: string }
