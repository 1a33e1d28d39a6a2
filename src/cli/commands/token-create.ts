/** `proviso token create`: creates a token for a server on this store, and prints it once. */
import { type Command, Option } from 'commander'
import { type Role, roles } from '../../domain/ports/records.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { duration } from '../options/option-parsers.ts'
import { addStoreOption, chooseLastingStore, writeStore } from '../options/store-option.ts'
import { printJson, printNote, printText } from '../print.ts'

interface Flags {
  readonly role: Role
  readonly tenant: string
  readonly name?: string
  readonly expires?: number
  readonly capability?: string
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

const examples = `
Roles: caller starts and reads runs; operator also answers asks and resumes paused runs; agent registers capabilities;
admin can do everything. A token is valid for one tenant; other tenants cannot see its runs.

Examples:
  proviso token create --role caller --name website --expires 90d
  proviso token create --role operator --tenant acme --name ann --store postgres://…

While a server has a SQLite store open, no other process can write to it: create tokens with POST /api/v1/flex/tokens.

${describeExitCodes(['ok', 'usage'])}`

export function addTokenCreateCommand(token: Command): void {
  const command = token
    .command('create')
    .summary('create a token and print it once')
    .description('create a token and print it once; only its hash is stored')
    .addOption(new Option('--role <role>', 'permissions of the token').choices(roles).makeOptionMandatory())
    .option('--tenant <tenant>', 'tenant of the token', 'default')
    .option('--name <name>', 'name in the audit log (default: the role)')
    .option('--expires <time>', 'lifetime: 12h, 90d, 52w (default: until revoked)', duration)
    .option('--capability <id>', 'restrict an agent to one capability')
  addStoreOption(addByOption(command))
    .option('--json', 'print the token and its permissions as one line of JSON')
    .addHelpText('after', examples)
    .action(create)
}

async function create(flags: Flags): Promise<void> {
  const { role, tenant, name = role, expires, capability, store, json } = flags
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
      },
      { by },
    ),
  )
  const { hash: _, ...row } = made.row
  if (json) return printJson({ token: made.token, ...row }, 'line')
  printText(made.token)
  printNote(`${row.tokenId}: ${role} of tenant ${tenant}. Store it now: it is not shown again.`)
}
