/** `proviso show`: prints everything about one run, redacted. */
import type { Command } from 'commander'
import { describeExitCodes } from '../exit-codes.ts'
import { addStoreOption, chooseExistingStore, readShown } from '../options/store-option.ts'
import { printJson, printText, redactor } from '../print.ts'
import { describeRun, loadRun } from '../render/describe-run.ts'

interface Flags {
  readonly store?: string
  readonly json?: true
}

export function addShowCommand(program: Command): void {
  addStoreOption(
    program
      .command('show')
      .summary('print one run: plan, nodes, asks, messages, output')
      .description(
        'print a run with its plan, nodes, asks, messages, output and the provenance of the output, secrets redacted',
      )
      .argument('<run>', 'run id'),
  )
    .option('--json', 'print one JSON object')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async (runId: string, { store, json }: Flags) => {
      const found = await readShown(chooseExistingStore(store), (opened) => loadRun(opened, runId))
      // The redactor keeps the shape of the value, so the cast is safe.
      const seen = redactor.value(found) as typeof found
      if (json) printJson(seen, 'line')
      else printText(describeRun(seen))
    })
}
