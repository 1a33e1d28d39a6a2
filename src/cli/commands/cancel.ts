/** `proviso cancel`: cancels a run. */

import type { Command } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { isTerminal } from '../../domain/status.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { addProgressOptions, chooseShown, type ProgressFlags } from '../options/progress-option.ts'
import { addStoreOption, chooseExistingStore } from '../options/store-option.ts'
import { executeRun } from '../run/follow-run.ts'

interface Flags extends ProgressFlags {
  readonly store?: string
  readonly by?: string
  readonly reason?: string
}

export function addCancelCommand(program: Command): void {
  const command = program
    .command('cancel')
    .summary('cancel a run')
    .description('cancel a run and wait for its end')
    .argument('<run>', 'run id')
    .option('--reason <text>', 'reason, for the journal')
  addProgressOptions(
    addStoreOption(addByOption(command)),
    'print every event after the cancellation as one line of JSON',
  )
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage', 'interrupted'])}`)
    .action(async (runId: string, flags: Flags) => {
      process.exitCode = await cancel(runId, flags)
    })
}

async function cancel(runId: string, { store, reason, ...flags }: Flags): Promise<number> {
  const by = chooseName(flags.by)
  const session = {
    store: chooseExistingStore(store),
    // Cancelling calls no capability.
    work: { capabilities: [], facets: [] },
    flags: { use: [] },
    shown: chooseShown(flags),
    by,
    wanted: 'cancelled',
  } as const
  return executeRun(session, async (app) => {
    const head = await app.store.head(runId)
    if (!head) throw new ProvisoError('run/missing', `Run "${runId}" not found`)
    if (isTerminal(head.status))
      throw new ProvisoError('run/state', `Cannot cancel run "${runId}": it is already ${head.status}`)
    await app.cancel(runId, { by, ...(reason !== undefined && { reason }) })
    return { runId, after: head.seq }
  })
}
