/** `proviso runs`: lists the runs of a store, newest first. */
import { type Command, Option } from 'commander'
import type { RunHead } from '../../domain/run.ts'
import { type RunStatus, runStatuses } from '../../domain/status.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readShown } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly status?: readonly RunStatus[]
  readonly limit: number
  readonly json?: true
}

export function addRunsCommand(program: Command): void {
  addStoreOption(program.command('runs').summary('list runs').description('list runs, newest first'))
    .addOption(new Option('--status <status...>', 'filter by status').choices(runStatuses))
    .option('--limit <n>', 'print at most this many', wholeNumber, 20)
    .option('--json', 'print one JSON list')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async ({ store, status, limit, json }: Flags) => {
      const found = await readShown(chooseExistingStore(store), (opened) =>
        opened.runs({ limit, ...(status && { status }) }),
      )
      // The redactor keeps the shape of the value, so the cast is safe.
      const runs = redactor.value(found) as typeof found
      if (json) printJson(runs, 'line')
      else if (runs.length === 0) printNote('No runs found.')
      else printText(table(heads, runs.map(cells)))
    })
}

const heads = ['RUN', 'STATUS', 'PLAN', 'EVENTS', 'CREATED', 'OBJECTIVE']

function cells({ runId, status, planVersion, seq, createdAt, objective }: RunHead): string[] {
  const created = new Date(createdAt).toISOString().slice(0, 19)
  return [runId, status, String(planVersion), String(seq), `${created}Z`, objective]
}
