/** `proviso token`: creates, lists, rotates and revokes the tokens of a server. */
import { type Command, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { type Role, roles, type TokenRow } from '../../domain/ports/records.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { duration, lifetime } from '../options/option-parsers.ts'
import {
  addStoreOption,
  chooseLastingStore,
  chooseServersStore,
  readStore,
  writeStore,
} from '../options/store-option.ts'
import { printJson, printNote, printText } from '../print.ts'
import { table } from '../render/table.ts'

export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('create, list, rotate and revoke the tokens of a server')
  addTokenCreateCommand(token)
  addTokenListCommand(token)
  addTokenRotateCommand(token)
  addTokenRevokeCommand(token)
}

interface CreateFlags {
  readonly role: Role
  readonly tenant: string
  readonly name?: string
  readonly expires?: number
  readonly capability?: string
  readonly taskRole?: readonly string[]
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

const createExamples = `
Roles: caller starts and reads runs; operator also answers asks and resumes paused runs; agent registers capabilities;
admin can do everything. A token is valid for one tenant; other tenants cannot see its runs.

Examples:
  proviso token create --role caller --name website --expires 90d
  proviso token create --role operator --tenant acme --name ann --store postgres://…

While a server has a SQLite store open, no other process can write to it: create tokens with POST /api/v1/flex/tokens.

${describeExitCodes(['ok', 'usage'])}`

/** `proviso token create`: creates a token for a server on this store, and prints it once. */
function addTokenCreateCommand(token: Command): void {
  const command = token
    .command('create')
    .summary('create a token and print it once')
    .description('create a token and print it once; only its hash is stored')
    .addOption(new Option('--role <role>', 'permissions of the token').choices(roles).makeOptionMandatory())
    .option('--tenant <tenant>', 'tenant of the token', 'default')
    .option('--name <name>', 'name in the audit log (default: the role)')
    .option('--expires <time>', 'lifetime: 12h, 90d, 52w (default: until revoked)', lifetime)
    .option('--capability <id>', 'restrict an agent to one capability')
    .option('--task-role <name...>', 'offer tasks of this role to the person, such as legal')
  addStoreOption(addByOption(command), 'server')
    .option('--json', 'print the token and its permissions as one line of JSON')
    .addHelpText('after', createExamples)
    .action(create)
}

async function create(flags: CreateFlags): Promise<void> {
  const { role, tenant, name = role, expires, capability, taskRole, store, json } = flags
  const by = chooseName(flags.by)
  // Lazy import: it loads the whole server.
  const { createToken } = await import('../../server/index.ts')
  const made = await writeStore(chooseLastingStore(store), (opened) =>
    createToken(
      opened.records.tokens,
      {
        role,
        tenant,
        name,
        ...(expires !== undefined && { expiresAt: Date.now() + expires }),
        ...(capability !== undefined && { capabilityId: capability }),
        ...(taskRole && { taskRoles: taskRole }),
      },
      { by },
    ),
  )
  const { hash: _, ...row } = made.row
  if (json) return printJson({ token: made.token, ...row }, 'line')
  printText(made.token)
  printNote(`${row.tokenId}: ${role} of tenant ${tenant}. Store it now: it is not shown again.`)
}

interface ListFlags {
  readonly tenant?: string
  readonly store?: string
  readonly json?: true
}

/** `proviso token list`: lists the tokens of a store, without their secrets. */
function addTokenListCommand(token: Command): void {
  const command = token
    .command('list')
    .summary('list tokens')
    .description('list tokens, including expired and revoked ones, without their secrets')
    .option('--tenant <tenant>', 'filter by tenant')
  addStoreOption(command, 'server')
    .option('--json', 'print one JSON list')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async ({ tenant, store, json }: ListFlags) => {
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

interface RotateFlags {
  readonly overlap?: number
  readonly expires?: number
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

const rotateExamples = `
The new token has the tenant, role, name and restriction of the old one, and owns the agents that the old one registered.

Examples:
  proviso token rotate tok_0123456789abcdef
  proviso token rotate tok_0123456789abcdef --overlap 7d --expires 90d
  proviso token rotate tok_0123456789abcdef --overlap 0s      (the old token has leaked)

While a server has a SQLite store open, use POST /api/v1/flex/tokens/TOKEN-ID/rotate.

${describeExitCodes(['ok', 'usage'])}`

/** `proviso token rotate`: replaces a token, and keeps the old one valid for an overlap. */
function addTokenRotateCommand(token: Command): void {
  const command = token
    .command('rotate')
    .summary('replace a token, with an overlap')
    .description('create a token with the same permissions, and let the old one expire')
    .argument('<token-id>', 'token id from `proviso token list`, not the token itself')
    .option('--overlap <time>', 'how long the old token stays valid (default: 24h)', duration)
    .option('--expires <time>', 'lifetime of the new token (default: that of the old one)', lifetime)
  addStoreOption(addByOption(command), 'server')
    .option('--json', 'print the token and its permissions as one line of JSON')
    .addHelpText('after', rotateExamples)
    .action(rotate)
}

async function rotate(
  tokenId: string,
  { overlap, expires, store, json, ...flags }: RotateFlags,
): Promise<void> {
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

interface RevokeFlags {
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

/** `proviso token revoke`: revokes a token. */
function addTokenRevokeCommand(token: Command): void {
  const command = token
    .command('revoke')
    .summary('revoke a token')
    .description('revoke a token immediately')
    .argument('<token-id>', 'token id from `proviso token list`, not the token itself')
  addStoreOption(addByOption(command), 'server')
    .option('--json', 'print the result as one line of JSON')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async (tokenId: string, { store, json, ...flags }: RevokeFlags) => {
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
