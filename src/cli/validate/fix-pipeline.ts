/** `validate --fix` and `--fix-dry-run`: applies fixes to a pipeline file, or shows them. */

import {
  type AppliedFix,
  type Fixed,
  findFixableRules,
  fixText,
  type JsonReport,
  type LintIssue,
  unifiedDiff,
  type ValidateOptions,
  validatePipeline,
} from '../../pipeline/index.ts'
import { env } from '../env.ts'
import { printNote, printText } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { type Format, type LintedFile, lintPipeline, type Or } from './check-pipeline.ts'
import { fixFile } from './fix-file.ts'

export interface FixFlags {
  readonly format: Format
  readonly fix?: true
  readonly yes?: true
  readonly fixRules?: string
  readonly fixDryRun?: true
}

interface FixRequest {
  readonly flags: FixFlags
  readonly options: ValidateOptions
}

/** Returns the result of linting the fixed file. */
export async function fixPipeline(
  file: string,
  linted: LintedFile,
  { flags, options }: FixRequest,
): Promise<Or<LintedFile>> {
  if (!flags.fix && !flags.fixDryRun) return linted
  const given = flags.fixRules ?? env.fixRules
  const rules = given
    ?.split(',')
    .map((glob) => glob.trim())
    .filter(Boolean)
  const idle = rules?.find((glob) => findFixableRules([glob]).length === 0)
  if (idle !== undefined) return { unreadable: noFixer(idle) }
  const { imports } = linted
  const fixed = fixText(linted.text, {
    ...options,
    imports,
    name: file,
    check: (document) => validatePipeline(document, { ...options, imports }).issues,
    ...(rules && { rules }),
  })
  const diff = unifiedDiff(file, linted.text, fixed.text)
  const tried = ({ fixable, code }: LintIssue) => fixable && findFixableRules(rules).includes(code)
  if (flags.fixDryRun) return dryRun(linted, fixed, { diff, flags })
  if (diff === '') {
    printNote('Nothing to fix.')
    return { ...linted, issues: leftOver(linted.issues, tried), extra: { fixes: applied([]) } }
  }
  // With a machine-readable format there is no person to confirm.
  if (flags.format !== 'text' && !flags.yes) {
    printNote(`Nothing was written: --format ${flags.format} needs --yes.`)
    return { ...linted, extra: { fixes: applied([]) } }
  }
  const done = await fixFile({ file, before: linted.text, after: fixed.text, diff, yes: flags.yes === true })
  if ('unreadable' in done) return done
  if (!done.written) {
    printNote('Nothing was written.')
    return linted
  }
  printNote(`Fixed ${inWords(fixed.applied)}; the original is ${file}.bak.`)
  const again = await lintPipeline(file, options)
  if ('unreadable' in again) return again
  return { ...again, issues: leftOver(again.issues, tried), extra: { fixes: applied(fixed.applied) } }
}

/** Marks issues that remain after a fix was applied as not fixable. */
function leftOver(issues: readonly LintIssue[], tried: (issue: LintIssue) => boolean): readonly LintIssue[] {
  const cannotFix = 'the fix would change something else in the file'
  return issues.map((issue) => {
    if (!tried(issue)) return issue
    const { fix: _, ...rest } = issue
    return { ...rest, fixable: false, cannotFix }
  })
}

function noFixer(glob: string): Unreadable {
  return {
    message: `--fix-rules: no rule with a fix matches "${glob}"`,
    hint: `Use ${findFixableRules().join(', ')}, or globs such as V-T*`,
  }
}

function dryRun(
  linted: LintedFile,
  fixed: Fixed,
  { diff, flags }: { diff: string; flags: FixFlags },
): LintedFile {
  if (flags.format === 'text') printText(diff === '' ? 'Nothing to fix.' : diff)
  return { ...linted, extra: { fixes_dry_run: { would_apply: fixed.applied, patch: diff } } }
}

function applied(fixes: readonly AppliedFix[]): NonNullable<JsonReport['fixes']> {
  return { applied: fixes, total_applied: fixes.length }
}

function inWords(fixes: readonly AppliedFix[]): string {
  const rules = [...new Set(fixes.map(({ rule }) => rule))]
  return rules.map((rule) => `${fixes.filter((fix) => fix.rule === rule).length} × ${rule}`).join(', ')
}
