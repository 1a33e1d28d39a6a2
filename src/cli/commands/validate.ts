/** `proviso validate`: lints a pipeline file, and with `--fix` fixes the issues that have a fix. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import {
  type Baseline,
  baselineOf,
  compareWithBaseline,
  findUnneededRule,
  type LintIssue,
  lintSettings,
  namedProfile,
  type Profile,
  type Profiles,
  parseBaseline,
  readProfileFile,
  renderUnneededRule,
  ruleNamed,
  rulePage,
  ruleTable,
} from '../../pipeline/index.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { addConfigOptions, type ConfigFlags, readSettings } from '../input/config-option.ts'
import { addUseOption } from '../input/read-work.ts'
import { useModules } from '../input/use-modules.ts'
import { printNote, printText, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { isImport, type LintedFile, lintPipeline, reportLinted } from '../validate/check-pipeline.ts'
import { cannotWrite, type FixFlags, fixPipeline } from '../validate/fix-pipeline.ts'

interface Flags extends FixFlags, ConfigFlags {
  readonly use: readonly string[]
  readonly failOnWarn?: true
  readonly rules?: string
  readonly explain?: string
  readonly baseline?: string
  readonly updateBaseline?: true
}

const examples = `
Examples:
  proviso validate pipeline.yaml                                  print each issue with its line
  proviso validate pipeline.yaml --explain V-A8                   explain a rule, with examples
  proviso validate pipeline.yaml --fix-dry-run                    preview the fixes as a diff
  proviso validate pipeline.yaml --fix --fix-rules 'V-T*' --yes   apply the fixes; the original becomes pipeline.yaml.bak
  proviso validate pipeline.yaml --format sarif > lint.sarif
  proviso validate pipeline.yaml --baseline known.json --update-baseline

${describeExitCodes(['ok', 'usage', 'lint', 'importFailed'])}`

export function addValidateCommand(program: Command): void {
  const command = program
    .command('validate')
    .summary('lint a pipeline, and fix it')
    .description('report errors and warnings of a pipeline, and fix them where a fix exists')
    .argument('[file]', 'pipeline (.yaml)')
  addConfigOptions(addUseOption(command))
    .addOption(
      new Option('--format <format>', 'report format').choices(['text', 'json', 'sarif']).default('text'),
    )
    .option('--fail-on-warn', 'fail on warnings too')
    .option('--rules <file-or-profile>', 'set severities from a file, or from a profile in proviso.toml')
    .option('--explain <rule>', 'print the page of a rule')
    .option('--baseline <file>', 'report only issues not listed in this file')
    .option('--update-baseline', 'write the current issues to the baseline')
    .option('--fix', 'apply the available fixes, after a confirmation')
    .option('--yes', 'skip the confirmation')
    .option(
      '--fix-rules <globs>',
      'fix only these rules, separated by commas (default: PROVISO_FIX_RULES, else all)',
    )
    .option('--fix-dry-run', 'print the changes of --fix as a diff, without writing')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, flags: Flags) => {
      process.exitCode = await validate(file, flags)
    })
}

async function validate(file: string | undefined, flags: Flags): Promise<number> {
  if (flags.explain !== undefined) return explain(flags.explain)
  if (file === undefined)
    return refuse({ message: 'Cannot validate: no file given', hint: 'Run proviso validate FILE' })
  if (/\.xml$/i.test(file))
    return refuse({
      message: `Cannot validate ${file}: it is a template, and the rules apply to pipelines`,
      hint: `Check a template with proviso prove ${file} --input …`,
    })
  if (flags.updateBaseline && flags.baseline === undefined)
    return refuse({
      message: 'Cannot update the baseline: --baseline is missing',
      hint: 'Pass --baseline FILE',
    })
  const settings = await readSettings(flags)
  if ('unreadable' in settings) return refuse(settings.unreadable)
  const { aros, profiles, profile: usual, use } = settings.config
  const used = await useModules([...use, ...flags.use])
  if ('unreadable' in used) return refuse(used.unreadable)
  const profile = chooseProfile(flags.rules ?? usual, profiles)
  if ('unreadable' in profile) return refuse(profile.unreadable)
  const capabilities = used.capabilities.map(({ capability }) => capability)
  const stages = used.stages.map(({ name }) => name)
  const options = { settings: lintSettings(aros), aros, capabilities, stages, ...profile }
  const linted = await lintPipeline(file, options)
  if ('unreadable' in linted) return refuse(linted.unreadable)
  if (linted.isInvalidYaml) {
    reportLinted(file, linted, flags.format)
    return exitCode('usage')
  }
  const fixed = await fixPipeline(file, linted, { flags, options })
  if ('unreadable' in fixed) return refuse(fixed.unreadable)
  return finish(file, fixed, flags)
}

function explain(id: string): number {
  const rule = ruleNamed(id)
  const unneeded = findUnneededRule(id)
  if (unneeded) {
    printText(renderUnneededRule(unneeded))
    return exitCode('ok')
  }
  if (!rule)
    return refuse({
      message: `Rule ${id} not found`,
      hint: `Use one of ${ruleTable.map((each) => each.id).join(', ')}`,
    })
  printText(rulePage(rule))
  return exitCode('ok')
}

function finish(file: string, linted: LintedFile, flags: Flags): number {
  const { baseline } = flags
  let reported = linted
  if (baseline !== undefined && flags.updateBaseline) {
    const hindered = writeBaseline(baseline, linted.issues)
    if (hindered) return refuse(hindered)
    printNote(`Wrote ${linted.issues.length} known issues to ${baseline}.`)
  }
  if (baseline !== undefined) {
    const read = readBaseline(baseline)
    if ('unreadable' in read) return refuse(read.unreadable)
    const { added, known, gone } = compareWithBaseline(linted.issues, read.baseline)
    reported = {
      ...linted,
      issues: added,
      extra: { ...linted.extra, baseline: { path: baseline, known, gone } },
    }
  }
  reportLinted(file, reported, flags.format)
  const fails = ({ severity }: LintIssue) =>
    severity === 'error' || (severity === 'warning' && flags.failOnWarn === true)
  if (reported.issues.some(({ code }) => isImport(code))) return exitCode('importFailed')
  return exitCode(reported.issues.some(fails) ? 'lint' : 'ok')
}

/** `--rules`: a file if one of that name exists, else a profile. */
function chooseProfile(
  given: string | undefined,
  profiles: Profiles,
): { readonly profile: Profile } | { readonly unreadable: Unreadable } {
  if (given === undefined) return { profile: [] }
  const read = existsSync(given)
    ? readProfileFile(readFileSync(given, 'utf8'), given)
    : namedProfile(given, profiles)
  return 'profile' in read ? read : { unreadable: { message: `--rules: ${read.problem}`, hint: read.hint } }
}

function readBaseline(file: string): { readonly baseline: Baseline } | { readonly unreadable: Unreadable } {
  const hint = 'Create one with --update-baseline'
  if (!existsSync(file)) return { unreadable: { message: `--baseline: ${file} not found`, hint } }
  try {
    const baseline = parseBaseline(JSON.parse(readFileSync(file, 'utf8')))
    if (baseline) return { baseline }
  } catch {
    // Invalid JSON is reported below, like any other invalid baseline.
  }
  return { unreadable: { message: `--baseline: ${file} is not a baseline`, hint } }
}

/** Returns the error if the file cannot be written. */
function writeBaseline(file: string, issues: readonly LintIssue[]): Unreadable | undefined {
  try {
    writeFileSync(file, `${JSON.stringify(baselineOf(issues), null, 2)}\n`)
    return undefined
  } catch (error) {
    return cannotWrite(file, error)
  }
}
