/** `proviso config`: prints the effective configuration, and with `--explain` the source of each setting. */
import type { Command } from 'commander'
import type { Setting } from '../../pipeline/index.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addConfigOptions, type ConfigFlags, readSettings } from '../input/config-option.ts'
import { printJson, printNote, printText, refuse } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags extends ConfigFlags {
  readonly explain?: true
  readonly json?: true
}

const examples = `
Settings come from --set, else from PROVISO_AROS_… (and PROVISO_PRESET), else from proviso.toml, found here or in a folder above
(or named by --config or PROVISO_CONFIG), else they have their defaults. Everything is off until a step or a setting says otherwise;
the line preset = "safe" switches on structured output where it is supported and the safest repairs.

Examples:
  proviso config                                         what holds here
  proviso config --explain                               … where each value comes from, and what it is for
  proviso config --set preset=safe --json                … as one JSON object

${describeExitCodes(['ok', 'usage'])}`

export function addConfigCommand(program: Command): void {
  const command = program
    .command('config')
    .summary('print the effective configuration')
    .description('Prints every setting with its effective value.')
  addConfigOptions(command)
    .option('--explain', 'say where each value comes from, and what it is for')
    .option('--json', 'print everything as one JSON object')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await showConfig(flags)
    })
}

async function showConfig(flags: Flags): Promise<number> {
  const read = await readSettings(flags)
  if ('unreadable' in read) return refuse(read.unreadable)
  const { settings, file, use } = read.config
  if (flags.json) {
    const values = settings.map(({ key, value, from }) => ({ key, value, from }))
    printJson({ file: file ?? null, use, settings: values }, 'line')
    return 0
  }
  printNote(file === undefined ? 'There is no proviso.toml here or above.' : `Settings of ${file}`)
  printText(
    flags.explain
      ? explained(settings)
      : table(
          ['SETTING', 'VALUE'],
          settings.map((setting) => rowOf(setting).slice(0, 2)),
        ),
  )
  return 0
}

function explained(settings: readonly Setting[]): string {
  return table(['SETTING', 'VALUE', 'FROM', 'WHAT'], settings.map(rowOf))
}

function rowOf({ key, value, from, what }: Setting): string[] {
  return [key, value === null ? '-' : String(value), from, what]
}
