/** `proviso prune`: deletes runs that ended before a given age. */
import { type Command, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Pruned, Store } from '../../domain/ports/store.ts'
import { type TerminalStatus, terminalStatuses } from '../../domain/status.ts'
import { planRetention, type RetentionRule } from '../../pipeline/index.ts'
import { confirm } from '../confirm.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { readSettings } from '../input/config-option.ts'
import { count } from '../one-line.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { duration } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readStore, writeStore } from '../options/store-option.ts'
import { printJson, printNote, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { applyRetention } from '../serve/upkeep.ts'

interface Flags {
  readonly olderThan?: number
  readonly policy?: true
  readonly status?: readonly TerminalStatus[]
  readonly config?: string
  readonly by?: string
  readonly tenant?: string
  readonly dryRun?: boolean
  readonly yes?: true
  readonly store?: string
  readonly json?: true
}

const examples = `
Examples:
  proviso prune --older-than 30d --store sqlite:runs.db
  proviso prune --older-than 12h --tenant acme --dry-run --store sqlite:runs.db
  proviso prune --older-than 90d --status failed --yes --json --store postgres://…
  proviso prune --policy --dry-run --store sqlite:runs.db

--policy applies the rules of [retention] in proviso.toml, as \`proviso serve\` does at intervals:
  [retention]
  keep = "30d"
  failed = "90d"
  tenants = ["acme=365d", "acme.cancelled=1d"]

${describeExitCodes(['ok', 'usage'])}`

export function addPruneCommand(program: Command): void {
  const command = program
    .command('prune')
    .summary('delete old finished runs')
    .description(
      'delete completed, failed and cancelled runs, with all their data, after a preview and a confirmation',
    )
    .option('--older-than <time>', 'minimum age of the last change: 45s, 30m, 12h, 30d or 4w', duration)
    .option('--policy', 'apply the retention rules of the settings instead')
    .option('--config <file>', 'settings file (default: $PROVISO_CONFIG, else proviso.toml here or above)')
    .option('--tenant <tenant>', 'filter by tenant')
    .addOption(new Option('--status <status...>', 'filter by status').choices(terminalStatuses))
    .option('--dry-run', 'print the deletions without deleting')
    .option('--yes', 'skip the confirmation')
  addStoreOption(addByOption(command))
    .option('--json', 'print the counts as one line of JSON')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await prune(flags)
    })
}

async function prune(flags: Flags): Promise<number> {
  const { dryRun, yes } = flags
  const by = chooseName(flags.by)
  const rules = await readRules(flags)
  if ('unreadable' in rules) return refuse(rules.unreadable)
  const store = chooseExistingStore(flags.store)
  const would = await readStore(store, (opened) => previewRules(opened, rules))
  if (would.total.runs === 0 && would.total.values === 0) return report('Nothing to delete.', would, flags)
  if (dryRun) return report(`Would delete: ${inWords(would.total)}.`, would, flags)
  if (!yes) {
    printNote(`Deletes permanently: ${inWords(would.total)}, ${rules.map(({ what }) => what).join('; ')}.`)
    const answer = await confirm('Delete?')
    if (answer === undefined) return refuse(unanswered)
    if (!answer) return report('Nothing was deleted.', { total: none, rules: [] }, flags)
  }
  // Only this step opens the store for writing, so that a preview works while another process has it open.
  const gone = await writeStore(store, (opened) => applyRetention(opened, rules, by))
  const done = summarise(rules, gone)
  return report(`Deleted: ${inWords(done.total)}.`, done, flags)
}

const none: Pruned = { runs: 0, events: 0, values: 0 }

/** Either one rule from the flags, or those of the settings. */
async function readRules({
  olderThan,
  policy,
  tenant,
  status,
  config,
}: Flags): Promise<readonly RetentionRule[] | { readonly unreadable: Unreadable }> {
  if ((olderThan === undefined) === (policy === undefined))
    throw new ProvisoError('option/invalid', 'Cannot prune: pass either --older-than or --policy', {
      hint: 'Pass --older-than 30d, or --policy to apply [retention] of proviso.toml',
    })
  const now = Date.now()
  if (olderThan !== undefined) {
    const before = now - olderThan
    const filter = { ...(tenant !== undefined && { tenant }), ...(status && { status }) }
    return [{ prune: { before, ...filter }, what: `last changed before ${new Date(before).toISOString()}` }]
  }
  if (tenant !== undefined || status)
    throw new ProvisoError('option/invalid', 'Cannot prune: --policy takes no --tenant and no --status', {
      hint: 'Set retention.tenants and the times by status in proviso.toml',
    })
  const settings = await readSettings(config === undefined ? {} : { config })
  if ('unreadable' in settings) return settings
  const rules = planRetention(settings.config.serve.retention, now)
  if (rules.length > 0) return rules
  throw new ProvisoError('option/invalid', 'Cannot prune by policy: the settings have no retention', {
    hint: 'Set retention.keep in proviso.toml, or pass --older-than',
  })
}

interface Summary {
  readonly total: Pruned
  readonly rules: readonly (Pruned & { readonly rule: string })[]
}

async function previewRules(store: Store, rules: readonly RetentionRule[]): Promise<Summary> {
  const counts: Pruned[] = []
  for (const { prune } of rules) counts.push(await store.prune({ ...prune, dryRun: true }))
  return summarise(rules, counts)
}

function summarise(rules: readonly RetentionRule[], counts: readonly Pruned[]): Summary {
  const add = (name: keyof Pruned) => counts.reduce((sum, one) => sum + one[name], 0)
  return {
    total: { runs: add('runs'), events: add('events'), values: add('values') },
    rules: rules.map(({ what }, index) => ({ rule: what, ...(counts[index] ?? none) })),
  }
}

const unanswered = {
  message: 'Cannot delete runs: no answer on stdin',
  hint: 'Pass --yes, or preview with --dry-run',
}

function report(
  sentence: string,
  { total, rules }: Summary,
  { dryRun = false, policy, json }: Flags,
): number {
  if (json) printJson({ ...total, dryRun, ...(policy && { rules }) }, 'line')
  if (policy) for (const { rule, runs } of rules) printNote(`${rule}: ${count(runs, 'run')}`)
  printNote(sentence)
  return exitCode('ok')
}

function inWords({ runs, events, values }: Pruned): string {
  return `${count(runs, 'run')} with ${count(events, 'event')}, and ${count(values, 'large value')}`
}
