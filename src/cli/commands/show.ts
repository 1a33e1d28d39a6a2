/** `proviso show`: everything about one run, redacted. */
import type { Command } from 'commander'
import { describeRun } from '../describe-run.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { lookAtRun } from '../look-at-run.ts'
import { printJson, printText, redactor } from '../print.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../store-option.ts'

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
      // A redacted copy has the shape of what it was made from.
      const seen = redactor.value(found) as typeof found
      if (json) printJson(seen, 'line')
      else printText(describeRun(seen))
    })
}
