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
    .summary('delete old runs that are over')
    .description(
      'Deletes runs that are completed, failed or cancelled and were last changed before a time, with everything that belongs to them. Says what would go, and asks.',
    )
    .requiredOption(
      '--older-than <time>',
      'how long ago the last change was: 45s, 30m, 12h, 30d or 4w',
      duration,
    )
    .option('--tenant <tenant>', 'only runs of this tenant')
    .option('--dry-run', 'only print what would be deleted')
    .option('--yes', 'do not ask')
  addStoreOption(command)
    .option('--json', 'print what went (or would go) as one line of JSON')
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
  if (would.runs === 0 && would.values === 0) return tell('There is nothing to delete.', would, flags)
  if (dryRun) return tell(`Would go: ${inWords(would)}.`, would, flags)
  if (!yes) {
    const when = new Date(request.before).toISOString()
    printNote(`Would go for good: ${inWords(would)}, last changed before ${when}.`)
    const answer = await confirm('Delete?')
    if (answer === undefined) return refuse(unanswered)
    if (!answer) return tell('Nothing was deleted.', { runs: 0, events: 0, values: 0 }, flags)
  }
  const gone = await pruneStore(store, request)
  return tell(`Deleted: ${inWords(gone)}.`, gone, flags)
}

const unanswered = {
  message: 'Cannot delete them: no answer on stdin',
  hint: 'Say --yes, or --dry-run to look only',
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

function tell(sentence: string, pruned: Pruned, { dryRun = false, json }: Flags): number {
  if (json) printJson({ ...pruned, dryRun }, 'line')
  printNote(sentence)
  return exitCode('ok')
}

function inWords({ runs, events, values }: Pruned): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
  return `${count(runs, 'run')} with ${count(events, 'event')}, and ${count(values, 'large value')}`
}
