/** `proviso runs`: lists the runs of a store, newest first. */
import { type Command, Option } from 'commander'
import type { RunHead } from '../../domain/run.ts'
import { type RunStatus, runStatuses } from '../../domain/status.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { amount, wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readShown } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly status?: readonly RunStatus[]
  readonly sort?: 'created' | 'cost'
  readonly minCost?: number
  readonly maxCost?: number
  readonly limit: number
  readonly json?: true
}

export function addRunsCommand(program: Command): void {
  addStoreOption(program.command('runs').summary('list runs').description('list runs, newest first'))
    .addOption(new Option('--status <status...>', 'filter by status').choices(runStatuses))
    .addOption(
      new Option('--sort <order>', 'list the newest or the most expensive first').choices([
        'created',
        'cost',
      ]),
    )
    .option('--min-cost <usd>', 'filter by cost so far: at least this many US dollars', amount)
    .option('--max-cost <usd>', 'filter by cost so far: at most this many US dollars', amount)
    .option('--limit <n>', 'print at most this many', wholeNumber, 20)
    .option('--json', 'print one JSON list')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async ({ store, status, sort, minCost, maxCost, limit, json }: Flags) => {
      const found = await readShown(chooseExistingStore(store), (opened) =>
        opened.runs({
          limit,
          ...(status && { status }),
          ...(sort && { sort }),
          ...(minCost !== undefined && { minCostUsd: minCost }),
          ...(maxCost !== undefined && { maxCostUsd: maxCost }),
        }),
      )
      // The redactor keeps the shape of the value, so the cast is safe.
      const runs = redactor.value(found) as typeof found
      if (json) printJson(runs, 'line')
      else if (runs.length === 0) printNote('No runs found.')
      else printText(table(heads, runs.map(cells)))
    })
}

const heads = ['RUN', 'STATUS', 'PLAN', 'EVENTS', 'COST', 'CREATED', 'OBJECTIVE']

function cells({ runId, status, planVersion, seq, costUsd, createdAt, objective }: RunHead): string[] {
  const created = new Date(createdAt).toISOString().slice(0, 19)
  const cost = costUsd === undefined ? '-' : `$${costUsd.toFixed(4)}`
  return [runId, status, String(planVersion), String(seq), cost, `${created}Z`, objective]
}
