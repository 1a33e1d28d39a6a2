/** `proviso show`: prints everything about one run, redacted. */
import type { Command } from 'commander'
import { describeExitCodes } from '../exit-codes.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../options/store-option.ts'
import { printJson, printText, redactor } from '../print.ts'
import { describeRun } from '../render/describe-run.ts'
import { lookAtRun } from '../render/load-run.ts'

interface Flags {
  readonly store?: string
  readonly json?: true
}

export function addShowCommand(program: Command): void {
  addStoreOption(
    program
      .command('show')
      .summary('show one run: plan, nodes, asks, messages, answer')
      .description(
        'Shows a run, its plan, nodes, asks, messages, answer and where the answer comes from; secrets are left out.',
      )
      .argument('<run>', 'id of the run'),
  )
    .option('--json', 'print all of it as one JSON object')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async (runId: string, { store, json }: Flags) => {
      const found = await readStore(chooseExistingStore(store), (opened) => lookAtRun(opened, runId))
      // The redactor keeps the shape of the value, so the cast is safe.
      const seen = redactor.value(found) as typeof found
      if (json) printJson(seen, 'line')
      else printText(describeRun(seen))
    })
}
