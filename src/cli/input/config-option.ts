/** Loads the settings of a command. Precedence: `--config` and `--set`, then the environment, then `proviso.toml`. */
import type { Command } from 'commander'
import { type Config, resolveConfig, type SettingFlag, type SourceIssue } from '../../pipeline/index.ts'
import { env } from '../env.ts'
import type { Unreadable } from '../read-input.ts'

export interface ConfigFlags {
  readonly config?: string
  readonly set?: readonly string[]
}

export function addConfigOptions(command: Command): Command {
  return command
    .option('--config <file>', 'settings file (default: $PROVISO_CONFIG, else proviso.toml here or above)')
    .option('--set <key=value>', 'override one setting of [aros]; repeatable', collect, [])
}

function collect(pair: string, before: readonly string[]): readonly string[] {
  return [...before, pair]
}

/** Returns the run settings that do not concern parsing. */
export function settingsOfWork({ correctionLedgerEnabled, storeRaw, telemetry }: Config['aros']): {
  readonly ledger?: true
  readonly storeRaw: boolean
  readonly verbose?: true
} {
  return {
    ...(correctionLedgerEnabled && { ledger: true }),
    storeRaw,
    ...(telemetry.verbose && { verbose: true }),
  }
}

const usedByAll: ReadonlySet<string> = new Set([
  'correction_ledger_enabled',
  'store_raw',
  'telemetry.verbose',
])

/**
 * Returns a note about settings that were set and have no effect: those of the reader are defaults of the steps of pipelines
 * and templates, and other runs have them in their drafts.
 */
export function noteUnusedSettings({ said }: Config['aros'], runs: string): string | undefined {
  const unused = [...said].filter((key) => !usedByAll.has(key))
  if (unused.length === 0) return undefined
  const verb = unused.length === 1 ? 'has' : 'have'
  return `${unused.map((key) => `aros.${key}`).join(', ')} ${verb} no effect on ${runs}: set \`data.processing\` of the nodes or \`settings.processing\` of the capabilities.`
}

export async function readSettings({
  config,
  set = [],
  flags = [],
}: ConfigFlags & { readonly flags?: readonly SettingFlag[] }): Promise<
  { config: Config } | { unreadable: Unreadable }
> {
  const resolved = await resolveConfig({
    cwd: process.cwd(),
    env: env.settings,
    set,
    flags,
    ...(config !== undefined && { file: config }),
  })
  return resolved.ok
    ? { config: resolved.config }
    : { unreadable: cannotUse('the settings', resolved.issues) }
}

/** Builds the error for a file that cannot be used; a failed import has its own exit code. */
export function cannotUse(what: string, issues: readonly SourceIssue[]): Unreadable {
  const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`
  return {
    message: `Cannot use ${what}: ${count}`,
    issues: issues.map(described),
    ...(issues.some(({ code }) => code.startsWith('import/')) && { outcome: 'importFailed' as const }),
  }
}

/** Formats an issue in a source file, with its line and a caret. */
export function described({ file, line, column, message, excerpt, hint }: SourceIssue) {
  return { location: `${file}:${line}:${column}`, message, excerpt, ...(hint !== undefined && { hint }) }
}
