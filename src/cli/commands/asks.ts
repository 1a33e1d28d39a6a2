/** `proviso asks`: lists human-in-the-loop requests. */
import { type Command, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import type { AskRow, Store } from '../../domain/ports/store.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { spell } from '../one-line.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readShown } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly run?: string
  readonly status: AskRow['status']
  readonly limit: number
  readonly after?: string
  readonly json?: true
}

const statuses: readonly AskRow['status'][] = ['pending', 'resolved', 'denied']

export function addAsksCommand(program: Command): void {
  addStoreOption(
    program
      .command('asks')
      .summary('list requests that wait for a person')
      .description('list human-in-the-loop requests, oldest first'),
  )
    .option('--run <id>', 'filter by run')
    .addOption(new Option('--status <status>', 'filter by status').choices(statuses).default('pending'))
    .option('--limit <n>', 'print at most this many', wholeNumber, 1_000)
    .option('--after <request>', 'start after this request id')
    .option('--json', 'print one JSON list, with the values to review')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async (flags: Flags) => {
      const found = await readShown(chooseExistingStore(flags.store), (store) => find(store, flags))
      // The redactor keeps the shape of the value, so the cast is safe.
      const asks = redactor.value(found.slice(0, flags.limit)) as typeof found
      if (flags.json) printJson(asks, 'line')
      else if (asks.length === 0) printNote('No requests found.')
      else printText(table(heads, asks.map(cells)))
      const last = asks.at(-1)
      if (last && found.length > asks.length) printNote(`More requests: pass --after ${last.requestId}`)
    })
}

/** Queries one row more than the limit, to know whether another page follows. */
async function find(store: Store, { status, run, limit, after }: Flags): Promise<readonly AskRow[]> {
  if (after !== undefined && (await store.ask(after)) === undefined)
    throw new ProvisoError('ask/unknown', `Ask "${after}" not found`)
  return store.asks({
    status,
    limit: limit + 1,
    ...(run && { runId: run }),
    ...(after !== undefined && { after }),
  })
}

const heads = ['REQUEST', 'KIND', 'NODE', 'DECISIONS', 'LEFT', 'CONFIDENCE', 'QUESTION']

function cells(ask: AskRow): string[] {
  const { requestId, kind, nodeId, decisions, expiresAt, question, rao } = ask
  const left = expiresAt - Date.now()
  return [
    requestId,
    kind,
    nodeId ?? '-',
    decisions.join(','),
    left > 0 ? spell(left) : 'expired',
    String(rao?.confidence ?? '-'),
    question,
  ]
}
