/** `proviso asks`: what waits for a person. */
import type { Command } from 'commander'
import type { AskRow } from '../../domain/ports/store.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { spell } from '../one-line.ts'
import { printJson, printNote, printText, redactor } from '../print.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../store-option.ts'
import { table } from '../table.ts'

interface Flags {
  readonly store?: string
  readonly run?: string
  readonly json?: true
}

const mostAsks = 1_000

export function addAsksCommand(program: Command): void {
  addStoreOption(
    program
      .command('asks')
      .summary('list what waits for a person')
      .description('Lists the questions that wait for a person.'),
  )
    .option('--run <id>', 'of this run only')
    .option('--json', 'print the asks as one JSON list, with what they show')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async (flags: Flags) => {
      const query = { status: 'pending', limit: mostAsks, ...(flags.run && { runId: flags.run }) } as const
      const asks = await readStore(chooseExistingStore(flags.store), (store) => store.asks(query))
      if (flags.json) printJson(redactor.value(asks), 'line')
      else if (asks.length === 0) printNote('Nothing is asked.')
      else printText(table(heads, asks.map(cells)))
    })
}

const heads = ['REQUEST', 'KIND', 'NODE', 'DECISIONS', 'LEFT', 'QUESTION']

function cells({ requestId, kind, nodeId, decisions, expiresAt, question }: AskRow): string[] {
  const left = expiresAt - Date.now()
  return [requestId, kind, nodeId ?? '-', decisions.join(','), left > 0 ? spell(left) : 'expired', question]
}
