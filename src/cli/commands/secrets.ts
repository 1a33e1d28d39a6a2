/** `proviso secrets`: groups the commands about the encrypted secrets of agents and runs. */
import type { Command } from 'commander'
import { openSealed, readKeyFile, readSecretKeys } from '../../app.ts'
import type { ResealedRuns, UnknownKey } from '../../domain/ports/store.ts'
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
restart them, run this command, and remove the old key when it exits with 0. It may be interrupted and run again.

Examples:
  proviso secrets reseal --dry-run --store sqlite:proviso.db
  proviso secrets reseal --store postgres://…

While a server has a SQLite store open, use POST /api/v1/flex/secrets/reseal.

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addSecretsCommands(program: Command): void {
  const secrets = program.command('secrets').description('manage the encrypted secrets of agents and runs')
  const command = secrets
    .command('reseal')
    .summary('encrypt the secrets of agents and runs with the newest key')
    .description(
      'decrypt the secrets of all agents and runs with any known key, and encrypt them with PROVISO_SECRET_KEY',
    )
    .option('--tenant <tenant>', 'filter by tenant')
    .option('--dry-run', 'count without writing')
  addStoreOption(addByOption(command), 'server')
    .option('--json', 'print the counts as one line of JSON')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await reseal(flags)
    })
}

async function reseal({ tenant, dryRun = false, by, store, json }: Flags): Promise<number> {
  const keys = readSecretKeys(readEnv())
  const request = { dryRun, by: chooseName(by), ...(tenant !== undefined && { tenant }) }
  // Lazy import: it loads the whole server.
  const { resealSecrets } = await import('../../server/index.ts')
  const open = dryRun ? readStore : writeStore
  const done = await open(chooseServersStore(store), async (opened) => {
    const { records, keyFile } = opened
    // With a configured key the file only decrypts: it was used before that was set.
    const file = keyFile === undefined ? undefined : readKeyFile(keyFile)
    const given = { ...request, keys: file === undefined ? keys : [...keys, file] }
    const agents = await resealSecrets(records, given)
    const onProgress = json ? () => {} : createProgress()
    const runs = await openSealed(opened, readEnv()).resealRuns?.({ ...request, onProgress })
    const { runs: resealedRuns = 0, underWay: runsUnderWay = 0, unknownKeys = [] } = runs ?? {}
    const runsOfPreviousKeys = runsUnderWay + (dryRun ? resealedRuns : 0)
    return { ...agents, runs: resealedRuns, runsUnderWay, runsOfPreviousKeys, unknownKeys }
  })
  if (json) printJson({ ...done, dryRun }, 'line')
  else report(done, dryRun)
  const isUnknown = done.unreadable.length > 0 || done.unknownKeys.length > 0
  const isLeft = isUnknown || (done.runsUnderWay > 0 && !dryRun)
  return exitCode(isLeft ? 'unmet' : 'ok')
}

/** Reports every thousandth run. */
function createProgress(): (done: ResealedRuns) => void {
  let next = 1_000
  return ({ runs }) => {
    if (runs < next) return
    next = runs + 1_000
    printNote(colors.dim(`${runs} runs`))
  }
}

interface Done extends Resealed {
  readonly runs: number
  readonly runsUnderWay: number
  readonly runsOfPreviousKeys: number
  readonly unknownKeys: readonly UnknownKey[]
}

function report(done: Done, dryRun: boolean): void {
  const { resealed, current, unreadable, runs, runsUnderWay, runsOfPreviousKeys, unknownKeys } = done
  const verb = dryRun ? 'Would reseal' : 'Resealed'
  printText(
    `${verb} ${count(resealed, 'agent')} and ${count(runs, 'run')}; ${count(current, 'agent')} had the newest key already`,
  )
  if (runsUnderWay > 0)
    printText(
      `${count(runsUnderWay, 'run')} under way: run the command again when they are over, and keep the previous keys until then`,
    )
  else if (runsOfPreviousKeys === 0 && unknownKeys.length === 0) printText('No run needs a previous key')
  for (const { keyId, runs, rows } of unknownKeys)
    printNote(
      `${colors.red('✗')} ${colors.bold(`key ${keyId}`)}  sealed ${count(runs, 'run')} and ${count(rows, 'stored response')}, and is not configured`,
    )
  if (unknownKeys.length > 0)
    printNote(
      `  ${colors.dim('Add the key to PROVISO_SECRET_KEY_PREVIOUS; without it these secrets are lost')}`,
    )
  for (const { tenant, capabilityId, keyId } of unreadable)
    printNote(
      `${colors.red('✗')} ${colors.bold(capabilityId)} of tenant ${tenant}: no known key decrypts its secrets${keyId === undefined ? '' : `, they need key ${keyId}`}`,
    )
  if (unreadable.length > 0)
    printNote(`  ${colors.dim('Add their key to PROVISO_SECRET_KEY_PREVIOUS, or register the agents again')}`)
}
