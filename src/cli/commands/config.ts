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
Sources, strongest first: --set, PROVISO_AROS_… (and PROVISO_PRESET), proviso.toml in this folder or above (or the file of
--config or PROVISO_CONFIG), the defaults. Structured output and coercion are off by default. Write preset = "safe" to enable
structured output where a provider supports it, and the safest repairs.

Examples:
  proviso config                                         print the effective values
  proviso config --explain                               add the source and the meaning of each value
  proviso config --set preset=safe --json                print one JSON object

${describeExitCodes(['ok', 'usage'])}`

export function addConfigCommand(program: Command): void {
  const command = program
    .command('config')
    .summary('print the effective configuration')
    .description('print every setting with its effective value')
  addConfigOptions(command)
    .option('--explain', 'print the source and the meaning of each value')
    .option('--json', 'print one JSON object')
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
  printNote(file === undefined ? 'No proviso.toml found here or above.' : `Settings of ${file}`)
  printText(
    flags.explain
      ? explained(settings)
      : table(
          ['SETTING', 'VALUE'],
          settings.map((setting) => toRow(setting).slice(0, 2)),
        ),
  )
  return 0
}

function explained(settings: readonly Setting[]): string {
  return table(['SETTING', 'VALUE', 'FROM', 'WHAT'], settings.map(toRow))
}

function toRow({ key, value, from, what }: Setting): string[] {
  return [key, value === null ? '-' : String(value), from, what]
}
