/** Types of lint rules, their findings and fixers. */
import type { Edit, TextRange } from '../../base/errors/issue.ts'
import type { SourceIssue } from '../text/source.ts'
import type { LintStep, LintView } from './view/lint-view.ts'

export const severities = ['error', 'warning', 'note', 'off'] as const

/** An error fails the check, a warning only with `--fail-on-warn`, a note never. */
export type Severity = (typeof severities)[number]

export interface Rule<Id extends string = string> {
  /** Id used in reports, baselines and suppressions, such as `V-A8`. */
  readonly id: Id
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
  /** Fixes the findings of the rule; absent when only the author can. */
  readonly fixer?: Fixer
}

/**
 * Stages in which fixers are applied: words of templates, then members of the context, then new steps, then keys of steps. A
 * later stage sees the text that the earlier ones leave.
 */
export const fixStages = ['text', 'context', 'steps', 'keys'] as const

export interface Fixer {
  readonly stage: (typeof fixStages)[number]
  /** What the fix does, for reports, such as `adds processing.structured_output`. */
  readonly title: string
  readonly fix: (view: LintView, finding: RuleFinding) => Fix
}

/** The edits that fix a finding, or the reason why there are none. */
export type Fix =
  /** `alsoChanges` holds the labels of other steps that the edits change. */
  { readonly edits: readonly Edit[]; readonly alsoChanges?: readonly string[] } | { readonly cannot: string }

/** A finding of a rule at one range of the text. */
export interface RuleFinding {
  readonly range: TextRange
  readonly message: string
  readonly hint?: string
  /** The step concerned; baselines and suppressions use it. */
  readonly step?: LintStep
  /** Overrides the severity of the rule for this finding. */
  readonly severity?: Severity
}

/** A finding as reported. Its code is the rule id, or the code of a parse error. */
export interface LintIssue<Code extends string = string> extends SourceIssue<Code> {
  readonly severity: Exclude<Severity, 'off'>
  /** Name of the step. */
  readonly step?: string
  readonly fixable: boolean
  /** Why the fixer of the rule cannot fix it. */
  readonly cannotFix?: string
  /** Other steps that its fix changes. */
  readonly alsoChanges?: readonly string[]
}

/** Renders the page of a rule, for `--explain` and `docs/rules`. */
export function rulePage({ id, title, severity, help, good, bad, fixer }: Rule): string {
  return `# ${id}: ${title}

Severity: ${severity}. ${fixer ? `\`proviso validate --fix\` ${fixer.title}.` : 'It has no automatic fix.'}

${help}

## Wrong

\`\`\`yaml
${shortened(bad)}\`\`\`

## Right

\`\`\`yaml
${shortened(good)}\`\`\`

To switch it off for one step, write \`# proviso: ignore ${id}\` at it, or \`meta: { suppress_rules: [${id}] }\` into it; the comment also works at an agent or an import, and \`meta\` of the file is for all of it.
`
}

/** Shortens long lines of an example: some rules need long examples, but a page needs only their beginning. */
function shortened(example: string): string {
  return example.replaceAll(/^(.{110}).{90,}$/gm, '$1…')
}
