/** `proviso token rotate`: replaces a token, and keeps the old one valid for an overlap. */
import type { Command } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { duration } from '../options/option-parsers.ts'
import { addStoreOption, chooseServersStore, writeStore } from '../options/store-option.ts'
import { printJson, printNote, printText } from '../print.ts'

interface Flags {
  readonly overlap?: number
  readonly expires?: number
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

const examples = `
The new token has the tenant, role, name and restriction of the old one, and owns the agents that the old one registered.

Examples:
  proviso token rotate tok_0123456789abcdef
  proviso token rotate tok_0123456789abcdef --overlap 7d --expires 90d
  proviso token rotate tok_0123456789abcdef --overlap 0s      (the old token has leaked)

While a server has a SQLite store open, use POST /api/v1/flex/tokens/TOKEN-ID/rotate.

${describeExitCodes(['ok', 'usage'])}`

export function addTokenRotateCommand(token: Command): void {
  const command = token
    .command('rotate')
    .summary('replace a token, with an overlap')
    .description('create a token with the same permissions, and let the old one expire')
    .argument('<token-id>', 'token id from `proviso token list`, not the token itself')
    .option('--overlap <time>', 'how long the old token stays valid (default: 24h)', duration)
    .option('--expires <time>', 'lifetime of the new token (default: that of the old one)', duration)
  addStoreOption(addByOption(command))
    .option('--json', 'print the token and its permissions as one line of JSON')
    .addHelpText('after', examples)
    .action(rotate)
}

async function rotate(tokenId: string, { overlap, expires, store, json, ...flags }: Flags): Promise<void> {
  const by = chooseName(flags.by)
  // Lazy import: it loads the whole server.
  const { rotateToken } = await import('../../server/index.ts')
  const rotated = await writeStore(chooseServersStore(store), (opened) =>
    rotateToken(opened.records.tokens, {
      tokenId,
      by,
      ...(overlap !== undefined && { overlapMs: overlap }),
      ...(expires !== undefined && { lifetimeMs: expires }),
    }),
  )
  if (rotated === undefined)
    throw new ProvisoError('option/invalid', `No valid token "${tokenId}" found`, {
      hint: 'List tokens with `proviso token list`; an expired or revoked token cannot be rotated',
    })
  const { hash: _, ...row } = rotated.row
  const until = rotated.old.expiresAt ?? row.createdAt
  if (json) return printJson({ token: rotated.token, ...row, replaces: tokenId, oldExpiresAt: until }, 'line')
  printText(rotated.token)
  const old = until <= Date.now() ? 'is no longer valid' : `is valid until ${new Date(until).toISOString()}`
  printNote(`${row.tokenId} replaces ${tokenId}, which ${old}. Store it now: it is not shown again.`)
}
