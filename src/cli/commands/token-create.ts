/** `proviso token create`: creates a token for a server on this store, and prints it once. */
import { type Command, Option } from 'commander'
import { type Role, roles } from '../../domain/ports/records.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { duration } from '../options/option-parsers.ts'
import { addStoreOption, chooseLastingStore, writeStore } from '../options/store-option.ts'
import { printJson, printNote, printText } from '../print.ts'

interface Flags {
  readonly role: Role
  readonly tenant: string
  readonly name?: string
  readonly expires?: number
  readonly capability?: string
  readonly store?: string
  readonly json?: true
}

const examples = `
Roles: caller begins runs and looks at them; operator also answers asks and lifts pauses; agent registers capabilities;
admin may do everything. A token is good for one tenant, whose runs no other tenant sees.

Examples:
  proviso token create --role caller --name website --expires 90d
  proviso token create --role operator --tenant acme --name ann --store postgres://…

While a server has a SQLite store open, no other process can write to it: ask the server (POST /api/v1/flex/tokens).

${describeExitCodes(['ok', 'usage'])}`

export function addTokenCreateCommand(token: Command): void {
  const command = token
    .command('create')
    .summary('make a token and show it once')
    .description('Makes a token and prints it; only its hash is kept.')
    .addOption(new Option('--role <role>', 'what its holder may do').choices(roles).makeOptionMandatory())
    .option('--tenant <tenant>', 'whose runs it is good for', 'default')
    .option('--name <name>', 'what people call it; the audit names it (default: the role)')
    .option('--expires <time>', 'how long it is good: 12h, 90d, 52w (default: until it is revoked)', duration)
    .option('--capability <id>', 'for an agent: the one capability that it is good for')
  addStoreOption(command)
    .option('--json', 'print the token and what it is good for as one line of JSON')
    .addHelpText('after', examples)
    .action(create)
}

async function create({ role, tenant, name = role, expires, capability, store, json }: Flags): Promise<void> {
  // Lazy import: it loads the whole server.
  const { createToken } = await import('../../server/index.ts')
  const made = await writeStore(chooseLastingStore(store), (opened) =>
    createToken(opened.records.tokens, {
      role,
      tenant,
      name,
      ...(expires !== undefined && { expiresAt: Date.now() + expires }),
      ...(capability !== undefined && { capabilityId: capability }),
    }),
  )
  const { hash: _, ...row } = made.row
  if (json) return printJson({ token: made.token, ...row }, 'line')
  printText(made.token)
  printNote(`${row.tokenId}: ${role} of tenant ${tenant}. It is shown this once and kept nowhere.`)
}
