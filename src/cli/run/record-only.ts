/** Records a decision about a run and leaves its execution to another process: `--record-only` of `reply` and `resume`. */
import type { Command } from 'commander'
import { type App, createApp } from '../../app.ts'
import { exitCode } from '../exit-codes.ts'
import type { StoreChoice } from '../options/store-option.ts'
import { printNote } from '../print.ts'

export function addRecordOnlyOption(command: Command): Command {
  return command.option('--record-only', 'record the decision only, and let another process continue the run')
}

export async function recordOnly(
  store: StoreChoice,
  record: (app: App) => Promise<unknown>,
): Promise<number> {
  const app = await createApp({ store: store.spec, claim: 'none' })
  try {
    await record(app)
    printNote('Recorded. Another process continues the run.')
    return exitCode('ok')
  } finally {
    await app.close()
  }
}
