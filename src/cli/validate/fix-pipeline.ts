/** `validate --fix` and `--fix-dry-run`: applies fixes to a pipeline file, or shows them. */

import { readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
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
import { confirm } from '../confirm.ts'
import { env } from '../env.ts'
import { colors, printNote, printText } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { type Format, type LintedFile, lintPipeline, type Or } from './check-pipeline.ts'

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

interface FileChange {
  readonly file: string
  /** Content of the file when it was read. */
  readonly before: string
  readonly after: string
  readonly diff: string
  readonly yes: boolean
}

type Written = { readonly written: boolean } | { readonly unreadable: Unreadable }

/** Prints the diff, asks for confirmation, writes a backup beside the file, and replaces the file. */
async function fixFile({ file, before, after, diff, yes }: FileChange): Promise<Written> {
  printNote(paint(diff))
  if (!yes) {
    const answer = await confirm('Write this?')
    if (answer === undefined) return { unreadable: unanswered }
    if (!answer) return { written: false }
  }
  try {
    // Rejects the write if the file has changed since it was read, for example during the confirmation.
    if (readFileSync(file, 'utf8') !== before) return { unreadable: changed(file) }
    write(realpathSync(file), before, after)
    return { written: true }
  } catch (error) {
    return { unreadable: cannotWrite(file, error) }
  }
}

/** Replaces the file atomically by a rename, so that no process reads a partial file. */
function write(path: string, before: string, after: string): void {
  const { mode } = statSync(path)
  writeFileSync(`${path}.bak`, before, { mode })
  writeFileSync(`${path}.new`, after, { mode })
  renameSync(`${path}.new`, path)
}

/** Explains why a file cannot be written. */
export function cannotWrite(file: string, error: unknown): Unreadable {
  const { code, message } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    EACCES: 'permission denied',
    EROFS: 'the disk is read-only',
    ENOENT: 'the folder does not exist',
    EISDIR: 'it is a folder',
    ENOSPC: 'the disk is full',
  }
  return {
    message: `Cannot write ${file}: ${reasons[code ?? ''] ?? message}`,
    hint: 'Check the folder and its permissions; the file is unchanged',
  }
}

const unanswered: Unreadable = {
  message: 'Cannot write the changes: no answer on stdin',
  hint: 'Pass --yes, or preview with --fix-dry-run',
}

function changed(file: string): Unreadable {
  return { message: `Cannot write ${file}: it changed after it was read`, hint: 'Run the command again' }
}

function paint(diff: string): string {
  return diff
    .split('\n')
    .map((line) =>
      line.startsWith('+') ? colors.green(line) : line.startsWith('-') ? colors.red(line) : line,
    )
    .join('\n')
}
