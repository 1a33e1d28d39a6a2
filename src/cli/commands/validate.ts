/** `proviso validate`: lints a pipeline file, and with `--fix` fixes the issues that have a fix. */
import { type Command, Option } from 'commander'
import {
  compareWithBaseline,
  findUnneededRule,
  type LintIssue,
  lintSettings,
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
import { isImport, type Looked, lookAtPipeline, reportLooked } from '../validate/check-pipeline.ts'
import { type MendFlags, mendPipeline } from '../validate/fix-pipeline.ts'
import { chooseProfile, readBaseline, writeBaseline } from '../validate/lint-files.ts'

interface Flags extends MendFlags, ConfigFlags {
  readonly use: readonly string[]
  readonly failOnWarn?: true
  readonly rules?: string
  readonly explain?: string
  readonly baseline?: string
  readonly updateBaseline?: true
}

const examples = `
Examples:
  proviso validate pipeline.yaml                                  what is wrong, each with its line
  proviso validate pipeline.yaml --explain V-A8                   why that is wrong, with examples
  proviso validate pipeline.yaml --fix-dry-run                    what --fix would change, as a diff
  proviso validate pipeline.yaml --fix --fix-rules 'V-T*' --yes   … and do it; the original is kept as pipeline.yaml.bak
  proviso validate pipeline.yaml --format sarif > lint.sarif
  proviso validate pipeline.yaml --baseline known.json --update-baseline

${describeExitCodes(['ok', 'usage', 'lint', 'importFailed'])}`

export function addValidateCommand(program: Command): void {
  const command = program
    .command('validate')
    .summary('report what is wrong with a pipeline, and fix it')
    .description('Reads a pipeline, reports what is wrong or will go wrong, and fixes what can be fixed.')
    .argument('[file]', 'pipeline, a YAML file')
  addConfigOptions(addUseOption(command))
    .addOption(
      new Option('--format <format>', 'how to report').choices(['text', 'json', 'sarif']).default('text'),
    )
    .option('--fail-on-warn', 'warnings fail the check too')
    .option('--rules <file-or-profile>', 'severities of rules: a file, or a profile of proviso.toml')
    .option('--explain <rule>', 'print the page of a rule')
    .option('--baseline <file>', 'report only what is not in this file')
    .option('--update-baseline', 'write what is found into the baseline')
    .option('--fix', 'fix what can be fixed, after asking')
    .option('--yes', 'do not ask')
    .option(
      '--fix-rules <globs>',
      'mend only these rules, separated by commas (default: PROVISO_FIX_RULES, else all)',
    )
    .option('--fix-dry-run', 'show what --fix would change, and change nothing')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, flags: Flags) => {
      process.exitCode = await validate(file, flags)
    })
}

async function validate(file: string | undefined, flags: Flags): Promise<number> {
  if (flags.explain !== undefined) return explain(flags.explain)
  if (file === undefined) return refuse({ message: 'no file is given', hint: 'proviso validate FILE' })
  if (/\.xml$/i.test(file))
    return refuse({
      message: `${file} is a template, and the rules are about pipelines`,
      hint: `proviso prove ${file} --input … says what is wrong with a template`,
    })
  if (flags.updateBaseline && flags.baseline === undefined)
    return refuse({
      message: '--update-baseline needs --baseline',
      hint: 'Name the file: --baseline known.json',
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
  const looked = await lookAtPipeline(file, options)
  if ('unreadable' in looked) return refuse(looked.unreadable)
  if (looked.unread) {
    reportLooked(file, looked, flags.format)
    return exitCode('usage')
  }
  const mended = await mendPipeline(file, looked, { flags, options })
  if ('unreadable' in mended) return refuse(mended.unreadable)
  return finish(file, mended, flags)
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
      message: `there is no rule ${id}`,
      hint: `Rules: ${ruleTable.map((each) => each.id).join(', ')}`,
    })
  printText(rulePage(rule))
  return exitCode('ok')
}

function finish(file: string, looked: Looked, flags: Flags): number {
  const { baseline } = flags
  let reported = looked
  if (baseline !== undefined && flags.updateBaseline) {
    const hindered = writeBaseline(baseline, looked.issues)
    if (hindered) return refuse(hindered)
    printNote(`Wrote ${looked.issues.length} known issues to ${baseline}.`)
  }
  if (baseline !== undefined) {
    const read = readBaseline(baseline)
    if ('unreadable' in read) return refuse(read.unreadable)
    const { added, known, gone } = compareWithBaseline(looked.issues, read.baseline)
    reported = {
      ...looked,
      issues: added,
      extra: { ...looked.extra, baseline: { path: baseline, known, gone } },
    }
  }
  reportLooked(file, reported, flags.format)
  const fails = ({ severity }: LintIssue) =>
    severity === 'error' || (severity === 'warning' && flags.failOnWarn === true)
  if (reported.issues.some(({ code }) => isImport(code))) return exitCode('importFailed')
  return exitCode(reported.issues.some(fails) ? 'lint' : 'ok')
}
