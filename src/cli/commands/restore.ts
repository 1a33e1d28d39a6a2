/** `proviso restore`: brings back a store from a backup, and verifies it. */

import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import {
  parseSqliteAddress,
  type RestoreResult,
  storeOperations,
} from '../../adapters/stores/store-operations.ts'
import { openStore, readSecretKeys } from '../../app.ts'
import { readEnv } from '../../env.ts'
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
    'server',
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
      const erasedAgain = result.dryRun ? 0 : await eraseAgain(spec, result)
      if (json) printJson({ ...result, erasedAgain }, 'line')
      report(result)
      if (erasedAgain > 0)
        printNote(`${count(erasedAgain, 'run')} erased again: they were erased after this backup.`)
      if (!result.dryRun) noteMissingKey(spec)
      process.exitCode = exitCode('ok')
    })
}

/** Backups have no key, so that a stolen one is of no use. */
function noteMissingKey(spec: string): void {
  const path = parseSqliteAddress(spec)?.path
  if (path === undefined || existsSync(`${path}-secret-key`) || readSecretKeys(readEnv()).length > 0) return
  printNote(
    `Sealed secrets need the key of the backed up store: set PROVISO_SECRET_KEY, or copy its key file to ${path}-secret-key.`,
  )
}

/** Erases the runs that were erased after the backup was made, as its manifest says. */
async function eraseAgain(spec: string, { manifest: { erased = [] } }: RestoreResult): Promise<number> {
  if (erased.length === 0) return 0
  const store = await openStore(spec)
  try {
    let runs = 0
    for (const { receiptId, runIds } of erased)
      runs += (await store.erase({ runIds, receiptId, by: 'proviso restore' })).runs.length
    return runs
  } finally {
    await store.close()
  }
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
