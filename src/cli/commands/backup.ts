/** `proviso backup`: writes a consistent copy of a store while it is in use. */
import type { Command } from 'commander'
import { type BackupResult, storeOperations } from '../../adapters/stores/store-operations.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { createProgressLine } from '../live/progress-line.ts'
import { count } from '../one-line.ts'
import { addStoreOption, chooseServersStore } from '../options/store-option.ts'
import { colors, printJson, printNote } from '../print.ts'

interface Flags {
  readonly to: string
  readonly store?: string
  readonly force?: true
  readonly dryRun?: true
  readonly json?: true
}

const examples = `
Examples:
  proviso backup --to runs-backup.db --store sqlite:runs.db
  proviso backup --to runs.jsonl.gz --store postgres://…
  proviso backup --to runs-backup.db --dry-run --json --store sqlite:runs.db

Restore it with: proviso restore --from FILE --store …

${describeExitCodes(['ok', 'usage'])}`

export function addBackupCommand(program: Command): void {
  addStoreOption(
    program
      .command('backup')
      .summary('copy a store while it is in use')
      .description('write a consistent copy of a store, with a manifest beside it, while a server uses it')
      .requiredOption('--to <file>', 'file of the backup'),
    'server',
  )
    .option('--force', 'overwrite a backup')
    .option('--dry-run', 'print what would be written')
    .option('--json', 'print the result as one line of JSON')
    .addHelpText('after', examples)
    .action(async ({ store, json, ...flags }: Flags) => {
      const { spec } = chooseServersStore(store)
      const line = createProgressLine()
      const result = await (await storeOperations(spec))
        .backup(spec, { ...flags, onProgress: line.show })
        .finally(line.clear)
      if (json) printJson(result, 'line')
      report(result)
      process.exitCode = exitCode('ok')
    })
}

function report({ to, dryRun, bytes, manifest, anchor }: BackupResult): void {
  const size = `${Math.max(1, Math.round(bytes / 1024))} kB`
  if (anchor === 'lost')
    printNote(
      `${colors.yellow('!')} The store has lost acknowledged runs: list them with \`proviso verify\`.`,
    )
  if (dryRun || manifest === undefined) {
    printNote(`Would write up to ${size} to ${to}.`)
    return
  }
  const { runs, events } = manifest
  printNote(
    `Written: ${count(runs, 'run')} with ${count(events, 'event')}, ${size}, to ${to} and its manifest.`,
  )
}
