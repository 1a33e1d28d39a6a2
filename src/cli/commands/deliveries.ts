/** `proviso deliveries`: lists what was sent to webhooks. */
import { type Command, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Documents } from '../../domain/ports/documents.ts'
import { type Delivery, listDeliveries } from '../../server/webhooks/webhooks.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { oneLine } from '../one-line.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseServersStore, readStore } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly tenant?: string
  readonly webhook?: string
  readonly status?: Delivery['status']
  readonly limit: number
  readonly after?: string
  readonly json?: true
}

const statuses: readonly Delivery['status'][] = ['pending', 'delivered', 'failed']

const examples = `
Deliver one again with POST /api/v1/flex/webhooks/:webhookId/deliveries/:deliveryId/retry.

Examples:
  proviso deliveries --store sqlite:runs.db
  proviso deliveries --status failed --json

${describeExitCodes(['ok', 'usage'])}`

export function addDeliveriesCommand(program: Command): void {
  addStoreOption(
    program
      .command('deliveries')
      .summary('list deliveries to webhooks')
      .description('list deliveries to webhooks with their tries, newest first'),
    'server',
  )
    .option('--tenant <tenant>', 'filter by tenant')
    .option('--webhook <id>', 'filter by webhook')
    .addOption(new Option('--status <status>', 'filter by status').choices(statuses))
    .option('--limit <n>', 'print at most this many', wholeNumber, 100)
    .option('--after <delivery>', 'start after this delivery id')
    .option('--json', 'print one JSON list, with every try and the bodies')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      const found = await readStore(chooseServersStore(flags.store), ({ records }) =>
        find(records.documents, flags),
      )
      // The redactor keeps the shape of the value, so the cast is safe.
      const shown = redactor.value(found.slice(0, flags.limit)) as typeof found
      if (flags.json) printJson(shown, 'line')
      else if (shown.length === 0) printNote('No deliveries found.')
      else printText(table(heads, shown.map(cells)))
      const last = shown.at(-1)
      if (last && found.length > shown.length) printNote(`More deliveries: pass --after ${last.deliveryId}`)
    })
}

/** One more than the limit, so that the caller knows whether more follow. */
async function find(
  documents: Documents,
  { tenant, webhook, status, limit, after }: Flags,
): Promise<readonly Delivery[]> {
  const query = {
    limit: limit + 1,
    ...(tenant !== undefined && { tenant }),
    ...(webhook !== undefined && { webhookId: webhook }),
    ...(status !== undefined && { status }),
  }
  if (after === undefined) return listDeliveries(documents, query)
  const [last] = (await documents.list({ kind: 'delivery', prefix: after })).filter(({ id }) => id === after)
  if (last === undefined) throw new ProvisoError('webhook/unknown', `Delivery "${after}" not found`)
  return listDeliveries(documents, {
    ...query,
    after: { createdAt: last.createdAt, deliveryId: last.id },
  })
}

const heads = ['DELIVERY', 'TIME', 'EVENT', 'RUN', 'STATUS', 'TRIES', 'LAST']

function cells({ deliveryId, createdAt, event, runId, status, attempts, tries }: Delivery): string[] {
  const { status: answer, error } = tries.at(-1) ?? {}
  const time = `${new Date(createdAt).toISOString().slice(0, 19)}Z`
  const last = oneLine(error ?? (answer === undefined ? '' : String(answer)), 60)
  return [deliveryId, time, event, oneLine(runId, 60), status, String(attempts), last]
}
