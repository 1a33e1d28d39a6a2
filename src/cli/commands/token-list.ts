/** `proviso token list`: lists the tokens of a store, without their secrets. */
import type { Command } from 'commander'
import type { TokenRow } from '../../domain/ports/records.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addStoreOption, chooseServersStore, readStore } from '../options/store-option.ts'
import { printJson, printNote, printText } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly tenant?: string
  readonly store?: string
  readonly json?: true
}

export function addTokenListCommand(token: Command): void {
  const command = token
    .command('list')
    .summary('list tokens')
    .description('list tokens, including expired and revoked ones, without their secrets')
    .option('--tenant <tenant>', 'filter by tenant')
  addStoreOption(command)
    .option('--json', 'print one JSON list')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async ({ tenant, store, json }: Flags) => {
      const rows = await readStore(chooseServersStore(store), (opened) =>
        opened.records.tokens.list(tenant === undefined ? {} : { tenant }),
      )
      const shown = rows.map(({ hash: _, ...row }) => row)
      if (json) printJson(shown, 'line')
      else if (shown.length === 0) printNote('No tokens found.')
      else printText(table(heads, shown.map(cells)))
    })
}

const heads = ['TOKEN', 'ROLE', 'TENANT', 'NAME', 'CREATED', 'STATUS']

function cells(row: Omit<TokenRow, 'hash'>): string[] {
  return [row.tokenId, row.role, row.tenant, row.name, date(row.createdAt), describeStatus(row)]
}

function describeStatus({ revokedAt, expiresAt }: Omit<TokenRow, 'hash'>): string {
  if (revokedAt !== undefined) return `revoked ${date(revokedAt)}`
  if (expiresAt === undefined) return 'valid'
  return `${expiresAt <= Date.now() ? 'expired' : 'valid until'} ${date(expiresAt)}`
}

const date = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`
