/** `proviso secrets`: groups the commands about the encrypted secrets of agents. */
import type { Command } from 'commander'
import { readSecretKeys } from '../../app.ts'
import { readEnv } from '../../env.ts'
import type { Resealed } from '../../server/index.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { count } from '../one-line.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { addStoreOption, chooseServersStore, readStore, writeStore } from '../options/store-option.ts'
import { colors, printJson, printNote, printText } from '../print.ts'

interface Flags {
  readonly tenant?: string
  readonly dryRun?: boolean
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

const examples = `
To rotate the key: set PROVISO_SECRET_KEY to a new key and PROVISO_SECRET_KEY_PREVIOUS to the old one in every process,
restart them, run this command, and remove the old key when it reports nothing left.

Examples:
  proviso secrets reseal --dry-run --store sqlite:proviso.db
  proviso secrets reseal --store postgres://…

While a server has a SQLite store open, use POST /api/v1/flex/secrets/reseal.

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addSecretsCommands(program: Command): void {
  const secrets = program.command('secrets').description('manage the encrypted secrets of agents')
  const command = secrets
    .command('reseal')
    .summary('encrypt the secrets of agents with the newest key')
    .description(
      'decrypt the secrets of all agents with any known key, and encrypt them with PROVISO_SECRET_KEY',
    )
    .option('--tenant <tenant>', 'filter by tenant')
    .option('--dry-run', 'count without writing')
  addStoreOption(addByOption(command))
    .option('--json', 'print the counts as one line of JSON')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await reseal(flags)
    })
}

async function reseal({ tenant, dryRun = false, by, store, json }: Flags): Promise<number> {
  const keys = readSecretKeys(readEnv())
  const request = { keys, dryRun, by: chooseName(by), ...(tenant !== undefined && { tenant }) }
  // Lazy import: it loads the whole server.
  const { resealSecrets } = await import('../../server/index.ts')
  const open = dryRun ? readStore : writeStore
  const done = await open(chooseServersStore(store), ({ records }) => resealSecrets(records, request))
  if (json) printJson({ ...done, dryRun }, 'line')
  else report(done, dryRun)
  return exitCode(done.unreadable.length === 0 ? 'ok' : 'unmet')
}

function report({ resealed, current, unreadable }: Resealed, dryRun: boolean): void {
  printText(
    `${dryRun ? 'Would reseal' : 'Resealed'} ${count(resealed, 'agent')}; ${current} had the newest key already`,
  )
  for (const { tenant, capabilityId } of unreadable)
    printNote(
      `${colors.red('✗')} ${colors.bold(capabilityId)} of tenant ${tenant}: no known key decrypts its secrets`,
    )
  if (unreadable.length > 0)
    printNote(`  ${colors.dim('Add their key to PROVISO_SECRET_KEY_PREVIOUS, or register the agents again')}`)
}
