/** `proviso resume`: lets a paused run go on, or carries on one whose process died. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/error.ts'
import type { RunHead } from '../../domain/run.ts'
import { addByOption, chooseName } from '../by-option.ts'
import { carryOn } from '../carry-on.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { refuseMissing } from '../missing.ts'
import { printNote, refuse } from '../print.ts'
import { addFileOption, addUseOption, readWork } from '../read-work.ts'
import { addRecordOnlyOption, recordOnly } from '../record-only.ts'
import { addStoreOption, chooseExistingStore } from '../store-option.ts'
import { wholeNumber } from '../whole-number.ts'

interface Flags {
  readonly expectedPlanVersion?: number
  readonly note?: string
  readonly by?: string
  readonly file?: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly recordOnly?: true
  readonly json?: true
}

export function addResumeCommand(program: Command): void {
  const command = program
    .command('resume')
    .summary('resume a paused run')
    .description(
      'Resumes a paused run under the plan it has, and executes it until it settles. A run whose process died is taken over.',
    )
    .argument('<run>', 'id of the run')
    .option('--expected-plan-version <n>', 'refuse if the run has another plan by now', wholeNumber)
    .option('--note <text>', 'why; kept in the journal')
  addStoreOption(addRecordOnlyOption(addUseOption(addFileOption(addByOption(command)))))
    .option('--json', 'print every event from now on as one line of JSON')
    .addHelpText(
      'after',
      `\n${describeExitCodes(['ok', 'usage', 'unmet', 'waiting', 'budget', 'interrupted'])}`,
    )
    .action(async (runId: string, flags: Flags) => {
      process.exitCode = await resume(runId, flags)
    })
}

async function resume(runId: string, flags: Flags): Promise<number> {
  const { file, use, preset = [], json = false } = flags
  const store = chooseExistingStore(flags.store)
  const by = chooseName(flags.by)
  const workFlags = { use, preset, ...(file !== undefined && { file }) }
  const work = await readWork(workFlags)
  if ('unreadable' in work) return refuse(work.unreadable)
  const record = async (app: App) => {
    const head = await app.store.head(runId)
    if (!head) throw new ProvisoError('run/missing', `There is no run "${runId}" in this store`)
    if (!flags.recordOnly) await refuseMissing(app, runId)
    await wake(app, head, { ...flags, by })
    return { runId, after: head.seq }
  }
  if (flags.recordOnly) return recordOnly(store, record)
  return carryOn({ store, work, flags: workFlags, json, by }, record)
}

/** A run that should be going on needs nobody's leave, only somebody who carries it. */
async function wake(
  app: App,
  { runId, status, planVersion }: RunHead,
  { by, note, expectedPlanVersion, recordOnly: only }: Flags & { by: string },
): Promise<void> {
  if (status === 'running' || status === 'pending') {
    if (expectedPlanVersion !== undefined && expectedPlanVersion !== planVersion)
      throw new ProvisoError(
        'plan/stale-version',
        `The run has plan version ${planVersion}, not ${expectedPlanVersion}`,
      )
    if (only)
      throw new ProvisoError('run/state', `The run is ${status} and not paused: there is nothing to record`)
    printNote('The run is not paused; it is taken over as soon as no other process executes it.')
    return app.adopt(runId)
  }
  return app.resume(runId, {
    by,
    ...(note !== undefined && { note }),
    ...(expectedPlanVersion !== undefined && { expectedPlanVersion }),
  })
}
