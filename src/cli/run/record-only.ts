/** Records a decision about a run and leaves its execution to another process: `--record-only` of `reply` and `resume`. */
import type { Command } from 'commander'
import { type App, createApp } from '../../app.ts'
import { exitCode } from '../exit-codes.ts'
import type { StoreChoice } from '../options/store-option.ts'
import { printNote } from '../print.ts'

export function addRecordOnlyOption(command: Command): Command {
  return command.option(
    '--record-only',
    'only record it; another process continues the run; needs no capability',
  )
}

export async function recordOnly(
  store: StoreChoice,
  record: (app: App) => Promise<unknown>,
): Promise<number> {
  const app = await createApp({ store: store.spec, claim: 'none' })
  try {
    await record(app)
    printNote('The run is left to the process that executes it.')
    return exitCode('ok')
  } finally {
    await app.close()
  }
}
