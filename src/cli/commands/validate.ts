/** `proviso validate`: lints a pipeline file, and with `--fix` fixes the issues that have a fix. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import {
  type Baseline,
  compareWithBaseline,
  createBaseline,
  findUnneededRule,
  type LintIssue,
  lintSettings,
  loadPipeline,
  namedProfile,
  type Profile,
  type Profiles,
  parseBaseline,
  readProfileFile,
  renderUnneededRule,
  ruleNamed,
  rulePage,
  ruleTable,
  type ValidateOptions,
} from '../../pipeline/index.ts'
import { describeExitCodes, exitCode, type Outcome } from '../exit-codes.ts'
import { addConfigOptions, type ConfigFlags, readSettings } from '../input/config-option.ts'
import { getMcpServers, listMcpCapabilities, type McpServers } from '../input/mcp-servers.ts'
import { addUseOption } from '../input/read-work.ts'
import { useModules } from '../input/use-modules.ts'
import { count } from '../one-line.ts'
import { printNote, printText, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import {
  type CheckedFile,
  isImport,
  type LintedFile,
  lintPipeline,
  type Or,
  reportAll,
} from '../validate/check-pipeline.ts'
import { findPipelines } from '../validate/find-pipelines.ts'
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
  proviso validate pipelines                                      check every pipeline in a folder
  proviso validate "pipelines/**/*.yaml"                          check every file that matches a glob
  proviso validate pipeline.yaml --explain V-A8                   explain a rule, with examples
  proviso validate pipeline.yaml --fix-dry-run                    preview the fixes as a diff
  proviso validate pipeline.yaml --fix --fix-rules "V-T*" --yes   apply the fixes; the original becomes pipeline.yaml.bak
  proviso validate pipeline.yaml --format sarif > lint.sarif
  proviso validate pipeline.yaml --baseline known.json --update-baseline

${describeExitCodes(['ok', 'usage', 'lint', 'importFailed'])}`

export function addValidateCommand(program: Command): void {
  const command = program
    .command('validate')
    .summary('lint pipelines, and fix them')
    .description('report errors and warnings of pipelines, and fix them where a fix exists')
    .argument('[files...]', 'pipelines (.yaml), folders with pipelines, or globs')
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
    .action(async (files: readonly string[], flags: Flags) => {
      process.exitCode = await validate(files, flags)
    })
}

async function validate(given: readonly string[], flags: Flags): Promise<number> {
  if (flags.explain !== undefined) return explain(flags.explain)
  if (given.length === 0)
    return refuse({ message: 'Cannot validate: no file given', hint: 'Run proviso validate FILE' })
  const found = await findPipelines(given)
  if ('unreadable' in found) return refuse(found.unreadable)
  const { files, skipped } = found
  const unusable = findUnusable(files, flags)
  if (unusable) return refuse(unusable)
  const options = await readOptions(flags)
  if ('unreadable' in options) return refuse(options.unreadable)
  const results: CheckedFile[] = []
  for (const file of files) {
    const checked = await check(file, { flags, options: await withMcpTools(file, options) })
    if ('unreadable' in checked) return refuse(checked.unreadable)
    results.push(checked)
  }
  reportAll(results, flags.format)
  if (skipped.length > 0)
    printNote(`${count(skipped.length, 'YAML file')} without steps skipped: ${skipped.join(', ')}`)
  return worstCode(results.map((result) => judge(result, flags)))
}

function findUnusable(files: readonly string[], flags: Flags): Unreadable | undefined {
  const template = files.find((file) => /\.xml$/i.test(file))
  if (template !== undefined)
    return {
      message: `Cannot validate ${template}: it is a template, and the rules apply to pipelines`,
      hint: `Check a template with proviso prove ${template} --input …`,
    }
  if (flags.updateBaseline && flags.baseline === undefined)
    return { message: 'Cannot update the baseline: --baseline is missing', hint: 'Pass --baseline FILE' }
  if (flags.baseline !== undefined && files.length > 1)
    return {
      message: `Cannot use one baseline for ${files.length} files: its entries name steps, not files`,
      hint: 'Run proviso validate FILE --baseline FILE for each file',
    }
  return undefined
}

interface Options extends ValidateOptions {
  /** MCP servers of the settings. */
  readonly mcp?: McpServers
}

/** Adds the tools of the MCP servers that a pipeline names, which `run` finds, too. */
async function withMcpTools(file: string, { mcp, ...options }: Options): Promise<ValidateOptions> {
  const loaded = mcp && (await loadPipeline(file))
  if (!loaded?.ok) return options
  const tools = await listMcpCapabilities(mcp, loaded.pipeline)
  return { ...options, capabilities: [...(options.capabilities ?? []), ...tools] }
}

async function readOptions(flags: Flags): Promise<Or<Options>> {
  const settings = await readSettings(flags)
  if ('unreadable' in settings) return settings
  const { aros, profiles, profile: usual, use, serve } = settings.config
  const used = await useModules([...use, ...flags.use], serve.presets)
  if ('unreadable' in used) return used
  const profile = chooseProfile(flags.rules ?? usual, profiles)
  if ('unreadable' in profile) return profile
  const capabilities = used.capabilities.map(({ capability }) => capability)
  const stages = used.stages.map(({ name }) => name)
  const mcp = getMcpServers(settings.config)
  return { settings: lintSettings(aros), aros, capabilities, stages, ...profile, ...mcp }
}

/** Lints one file, fixes it if asked to, and leaves out what its baseline knows. */
async function check(
  file: string,
  { flags, options }: { readonly flags: Flags; readonly options: ValidateOptions },
): Promise<Or<CheckedFile>> {
  const linted = await lintPipeline(file, options)
  if ('unreadable' in linted || linted.isInvalidYaml)
    return 'unreadable' in linted ? linted : { file, linted }
  const fixed = await fixPipeline(file, linted, { flags, options })
  if ('unreadable' in fixed) return fixed
  const reported = applyBaseline(fixed, flags)
  return 'unreadable' in reported ? reported : { file, linted: reported }
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

function applyBaseline(linted: LintedFile, { baseline, updateBaseline }: Flags): Or<LintedFile> {
  if (baseline === undefined) return linted
  if (updateBaseline) {
    const hindered = writeBaseline(baseline, linted.issues)
    if (hindered) return { unreadable: hindered }
    printNote(`Wrote ${linted.issues.length} known issues to ${baseline}.`)
  }
  const read = readBaseline(baseline)
  if ('unreadable' in read) return read
  const { added, known, gone } = compareWithBaseline(linted.issues, read.baseline)
  return { ...linted, issues: added, extra: { ...linted.extra, baseline: { path: baseline, known, gone } } }
}

function judge({ linted }: CheckedFile, flags: Flags): Outcome {
  const { issues, isInvalidYaml } = linted
  const fails = ({ severity }: LintIssue) =>
    severity === 'error' || (severity === 'warning' && flags.failOnWarn === true)
  if (isInvalidYaml) return 'usage'
  if (issues.some(({ code }) => isImport(code))) return 'importFailed'
  return issues.some(fails) ? 'lint' : 'ok'
}

/** The exit code of several files: an unreadable file before a failed import before a lint issue. */
function worstCode(outcomes: readonly Outcome[]): number {
  const worst = (['usage', 'importFailed', 'lint'] as const).find((outcome) => outcomes.includes(outcome))
  return exitCode(worst ?? 'ok')
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
    writeFileSync(file, `${JSON.stringify(createBaseline(issues), null, 2)}\n`)
    return undefined
  } catch (error) {
    return cannotWrite(file, error)
  }
}
