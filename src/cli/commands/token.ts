/** `proviso token`: groups the commands about a server's tokens. */
import type { Command } from 'commander'
import { addTokenCreateCommand } from './token-create.ts'
import { addTokenListCommand } from './token-list.ts'
import { addTokenRevokeCommand } from './token-revoke.ts'
import { addTokenRotateCommand } from './token-rotate.ts'

export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('create, list, rotate and revoke the tokens of a server')
  addTokenCreateCommand(token)
  addTokenListCommand(token)
  addTokenRotateCommand(token)
  addTokenRevokeCommand(token)
}
