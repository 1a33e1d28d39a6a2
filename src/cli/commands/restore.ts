/** `proviso restore`: brings back a store from a backup, and verifies it. */
import type { Command } from 'commander'
import { type RestoreResult, storeOperations } from '../../adapters/stores/store-operations.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { createProgressLine } from '../live/progress-line.ts'
import { count } from '../one-line.ts'
import { addStoreOption, chooseLastingStore } from '../options/store-option.ts'
import { colors, printJson, printNote } from '../print.ts'

interface Flags {
  readonly from: string
  readonly store?: string
  readonly force?: true
  readonly dryRun?: true
  readonly json?: true
}

const examples = `
Examples:
  proviso restore --from runs-backup.db --store sqlite:runs.db
  proviso restore --from runs-backup.db --force --store sqlite:runs.db
  proviso restore --from runs.jsonl.gz --dry-run --store postgres://…

${describeExitCodes(['ok', 'usage'])}`

export function addRestoreCommand(program: Command): void {
  addStoreOption(
    program
      .command('restore')
      .summary('restore a store from a backup')
      .description('check a backup against its manifest, restore the store from it, and verify the result')
      .requiredOption('--from <file>', 'file of the backup, with its manifest beside it'),
  )
    .option('--force', 'replace a store that exists')
    .option('--dry-run', 'check the backup without restoring it')
    .option('--json', 'print the result as one line of JSON')
    .addHelpText('after', examples)
    .action(async ({ store, json, ...flags }: Flags) => {
      const { spec } = chooseLastingStore(store)
      const line = createProgressLine()
      const result = await (await storeOperations(spec))
        .restore(spec, { ...flags, onProgress: line.show })
        .finally(line.clear)
      if (json) printJson(result, 'line')
      report(result)
      process.exitCode = exitCode('ok')
    })
}

function report({ manifest, dryRun, keptAs, newerCommits = 0 }: RestoreResult): void {
  const { runs, events, createdAt } = manifest
  const what = `${count(runs, 'run')} with ${count(events, 'event')}, backed up at ${createdAt}`
  printNote(dryRun ? `Would restore: ${what}. The backup matches its manifest.` : `Restored: ${what}.`)
  if (keptAs !== undefined) printNote(`The replaced store is kept as ${keptAs}.`)
  if (newerCommits > 0)
    printNote(
      `${colors.yellow('!')} ${count(newerCommits, 'acknowledged commit')} came after this backup and ${newerCommits === 1 ? 'is' : 'are'} not in it.`,
    )
}
