/** `proviso token revoke`: revokes a token. */
import type { Command } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { addStoreOption, chooseServersStore, writeStore } from '../options/store-option.ts'
import { printJson, printNote } from '../print.ts'

interface Flags {
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

export function addTokenRevokeCommand(token: Command): void {
  const command = token
    .command('revoke')
    .summary('revoke a token')
    .description('revoke a token immediately')
    .argument('<token-id>', 'token id from `proviso token list`, not the token itself')
  addStoreOption(addByOption(command))
    .option('--json', 'print the result as one line of JSON')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async (tokenId: string, { store, json, ...flags }: Flags) => {
      const by = chooseName(flags.by)
      const done = await writeStore(chooseServersStore(store), (opened) =>
        opened.records.tokens.revoke(tokenId, { by }),
      )
      if (!done)
        throw new ProvisoError('option/invalid', `No valid token "${tokenId}" found`, {
          hint: 'List tokens with `proviso token list`',
        })
      if (json) printJson({ tokenId, revoked: true }, 'line')
      else printNote(`${tokenId} is revoked.`)
    })
}
