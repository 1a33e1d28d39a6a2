/** Chooses the name recorded for a decision: `--by`, else the user of this machine. Required, because the audit log stores it. */
import type { Command } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { env } from '../env.ts'

export function addByOption(command: Command): Command {
  return command.option('--by <name>', 'name for the audit log (default: $USER, else the account)')
}

export function chooseName(given: string | undefined): string {
  const name = given ?? env.user
  if (name !== undefined && name.trim() !== '') return name
  throw new ProvisoError('option/invalid', 'Cannot record a decision: no name is given', {
    hint: 'Pass --by NAME, or set USER',
  })
}
