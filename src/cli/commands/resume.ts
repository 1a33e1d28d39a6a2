/** `proviso resume`: resumes a paused run, or claims a run whose process died. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { RunHead } from '../../domain/run.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addFileOption, addUseOption, readWork } from '../input/read-work.ts'
import { refuseMissing } from '../missing-capabilities.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { addModelOptions, chooseModels, type ModelFlags } from '../options/model-option.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addProgressOptions, chooseShown, type ProgressFlags } from '../options/progress-option.ts'
import { addStoreOption, chooseExistingStore } from '../options/store-option.ts'
import { printNote, refuse } from '../print.ts'
import { executeRun } from '../run/follow-run.ts'
import { addRecordOnlyOption, recordOnly } from '../run/record-only.ts'

interface Flags extends ProgressFlags, ModelFlags {
  readonly expectedPlanVersion?: number
  readonly note?: string
  readonly by?: string
  readonly file?: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly recordOnly?: true
}

export function addResumeCommand(program: Command): void {
  const command = program
    .command('resume')
    .summary('resume a paused run')
    .description(
      'resume a paused run under its current plan, or claim a run of a dead process, and execute it until it ends or waits',
    )
    .argument('<run>', 'run id')
    .option('--expected-plan-version <n>', 'fail if the run has another plan version', wholeNumber)
    .option('--note <text>', 'reason, for the journal')
  addProgressOptions(
    addModelOptions(addStoreOption(addRecordOnlyOption(addUseOption(addFileOption(addByOption(command)))))),
    'print every new event as one line of JSON',
  )
    .addHelpText(
      'after',
      `\n${describeExitCodes(['ok', 'usage', 'unmet', 'waiting', 'budget', 'interrupted'])}`,
    )
    .action(async (runId: string, flags: Flags) => {
      process.exitCode = await resume(runId, flags)
    })
}

async function resume(runId: string, flags: Flags): Promise<number> {
  const { file, use, preset = [] } = flags
  const store = chooseExistingStore(flags.store)
  const by = chooseName(flags.by)
  const workFlags = { use, preset, ...(file !== undefined && { file }) }
  const work = await readWork(workFlags)
  if ('unreadable' in work) return refuse(work.unreadable)
  const record = async (app: App) => {
    const head = await app.store.head(runId)
    if (!head) throw new ProvisoError('run/missing', `Run "${runId}" not found`)
    if (!flags.recordOnly) await refuseMissing(app, runId)
    await wake(app, head, { ...flags, by })
    return { runId, after: head.seq }
  }
  if (flags.recordOnly) return recordOnly(store, record)
  const models = await chooseModels(flags, { isContinued: true })
  return executeRun({ store, work, flags: workFlags, shown: chooseShown(flags), models, by }, record)
}

/** Resumes a paused run. A run that is running or pending needs no decision: it is only claimed. */
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
    if (only) throw new ProvisoError('run/state', `Cannot record: the run is ${status}, not paused`)
    printNote('The run is not paused; it is taken over as soon as no other process executes it.')
    return app.claim(runId)
  }
  return app.resume(runId, {
    by,
    ...(note !== undefined && { note }),
    ...(expectedPlanVersion !== undefined && { expectedPlanVersion }),
  })
}
