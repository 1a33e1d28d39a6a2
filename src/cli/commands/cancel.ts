/** `proviso cancel`: cancels a run. */
import type { Command } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { addStoreOption, chooseExistingStore } from '../options/store-option.ts'
import { carryOn } from '../run/follow-run.ts'

interface Flags {
  readonly store?: string
  readonly by?: string
  readonly reason?: string
  readonly json?: boolean
}

export function addCancelCommand(program: Command): void {
  const command = program
    .command('cancel')
    .summary('end a run')
    .description('Cancels a run and waits until it has ended.')
    .argument('<run>', 'id of the run')
    .option('--reason <text>', 'why; kept in the journal')
  addStoreOption(addByOption(command))
    .option('--json', 'print every event from the cancellation on as one line of JSON')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage', 'interrupted'])}`)
    .action(async (runId: string, flags: Flags) => {
      process.exitCode = await cancel(runId, flags)
    })
}

async function cancel(runId: string, { store, json = false, reason, ...flags }: Flags): Promise<number> {
  const by = chooseName(flags.by)
  const session = {
    store: chooseExistingStore(store),
    // Cancelling calls no capability.
    work: { capabilities: [], facets: [] },
    flags: { use: [] },
    json,
    by,
    wanted: 'cancelled',
  } as const
  return carryOn(session, async (app) => {
    const head = await app.store.head(runId)
    if (!head) throw new ProvisoError('run/missing', `There is no run "${runId}" in this store`)
    if (over.has(head.status))
      throw new ProvisoError('run/state', `The run "${runId}" is over: ${head.status}`)
    await app.cancel(runId, { by, ...(reason !== undefined && { reason }) })
    return { runId, after: head.seq }
  })
}

const over: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])
