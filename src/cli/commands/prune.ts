/** `proviso prune`: deletes runs that ended before a given age. */
import type { Command } from 'commander'
import { openStore } from '../../app.ts'
import type { Prune, Pruned } from '../../domain/ports/store.ts'
import { confirm } from '../confirm.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { duration } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readStore, type StoreChoice } from '../options/store-option.ts'
import { printJson, printNote, refuse } from '../print.ts'

interface Flags {
  readonly olderThan: number
  readonly tenant?: string
  readonly dryRun?: boolean
  readonly yes?: true
  readonly store?: string
  readonly json?: true
}

const examples = `
Examples:
  proviso prune --older-than 30d --store sqlite:runs.db
  proviso prune --older-than 12h --tenant acme --dry-run --store sqlite:runs.db
  proviso prune --older-than 30d --yes --json --store postgres://…

${describeExitCodes(['ok', 'usage'])}`

export function addPruneCommand(program: Command): void {
  const command = program
    .command('prune')
    .summary('delete old finished runs')
    .description(
      'delete completed, failed and cancelled runs, with all their data, after a preview and a confirmation',
    )
    .requiredOption(
      '--older-than <time>',
      'minimum age of the last change: 45s, 30m, 12h, 30d or 4w',
      duration,
    )
    .option('--tenant <tenant>', 'filter by tenant')
    .option('--dry-run', 'print the deletions without deleting')
    .option('--yes', 'skip the confirmation')
  addStoreOption(command)
    .option('--json', 'print the counts as one line of JSON')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await prune(flags)
    })
}

async function prune(flags: Flags): Promise<number> {
  const { olderThan, tenant, dryRun, yes } = flags
  const store = chooseExistingStore(flags.store)
  const request: Prune = { before: Date.now() - olderThan, ...(tenant !== undefined && { tenant }) }
  const would = await readStore(store, (opened) => opened.prune({ ...request, dryRun: true }))
  if (would.runs === 0 && would.values === 0) return report('Nothing to delete.', would, flags)
  if (dryRun) return report(`Would delete: ${inWords(would)}.`, would, flags)
  if (!yes) {
    const when = new Date(request.before).toISOString()
    printNote(`Deletes permanently: ${inWords(would)}, last changed before ${when}.`)
    const answer = await confirm('Delete?')
    if (answer === undefined) return refuse(unanswered)
    if (!answer) return report('Nothing was deleted.', { runs: 0, events: 0, values: 0 }, flags)
  }
  const gone = await pruneStore(store, request)
  return report(`Deleted: ${inWords(gone)}.`, gone, flags)
}

const unanswered = {
  message: 'Cannot delete runs: no answer on stdin',
  hint: 'Pass --yes, or preview with --dry-run',
}

/** Deletes the runs. Only this step opens the store for writing, so that a preview works while another process has it open. */
async function pruneStore({ spec }: StoreChoice, request: Prune): Promise<Pruned> {
  const store = await openStore(spec)
  try {
    return await store.prune(request)
  } finally {
    await store.close()
  }
}

function report(sentence: string, pruned: Pruned, { dryRun = false, json }: Flags): number {
  if (json) printJson({ ...pruned, dryRun }, 'line')
  printNote(sentence)
  return exitCode('ok')
}

function inWords({ runs, events, values }: Pruned): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
  return `${count(runs, 'run')} with ${count(events, 'event')}, and ${count(values, 'large value')}`
}
