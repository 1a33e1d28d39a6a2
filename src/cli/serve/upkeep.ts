/** What `proviso serve` does beside serving: deletes old runs by the retention rules, and records changed settings. */
import { canonicalJson } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import type { Pruned, Store } from '../../domain/ports/store.ts'
import { type Config, planRetention, type RetentionRule, type ServerSettings } from '../../pipeline/index.ts'

interface Retention {
  /** Resolves when a deletion that is under way has been recorded. */
  stop(): Promise<void>
}

/** Deletes finished runs by the retention rules, at start and then at intervals. */
export function startRetention(
  store: Store,
  retention: ServerSettings['retention'],
  onError: (cause: unknown) => void,
): Retention {
  if (planRetention(retention, Date.now()).length === 0) return { stop: async () => {} }
  let running: Promise<void> | undefined
  const prune = async () => {
    try {
      await applyRetention(store, planRetention(retention, Date.now()), 'retention')
    } catch (cause) {
      onError(cause)
    } finally {
      running = undefined
    }
  }
  const start = () => {
    // A large store may take longer than the interval.
    running ??= prune()
  }
  start()
  const timer = setInterval(start, retention.everyMinutes * 60_000)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

/** Deletes by each rule in turn, and records what was deleted in the operations audit. */
export async function applyRetention(
  store: Store,
  rules: readonly RetentionRule[],
  by: string,
): Promise<readonly Pruned[]> {
  const all: Pruned[] = []
  for (const { prune, what } of rules) {
    const pruned = await store.prune(prune)
    all.push(pruned)
    if (pruned.runs > 0)
      await store.records.operations.append({
        tenant: prune.tenant ?? '',
        by,
        action: 'runs.pruned',
        subject: what,
        details: { ...pruned, before: prune.before },
      })
  }
  return all
}

/**
 * Records the settings of the server in the operations audit if they differ from those of the last start: the first time all
 * that are set, then the changed ones. Secrets are not among the settings.
 */
export async function recordSettings(store: Store, { settings }: Config): Promise<void> {
  const { operations } = store.records
  const now: Record<string, Json> = Object.fromEntries(
    settings
      // Labels are of one process, and differ between those of a store.
      .filter(({ key, from }) => from !== 'default' && key !== 'placement.labels')
      .map(({ key, value }) => [key, value as Json]),
  )
  const [last] = await operations.list({ action: 'settings.changed', limit: 1 })
  const before = (last?.details['settings'] ?? {}) as Readonly<Record<string, Json>>
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort()
  const isSame = (key: string) => canonicalJson(before[key] ?? null) === canonicalJson(now[key] ?? null)
  const changed = keys.filter((key) => !isSame(key))
  if (changed.length === 0) return
  await operations.append({
    tenant: '',
    by: 'proviso serve',
    action: 'settings.changed',
    subject: changed.join(', ').slice(0, 200),
    details: { changed, settings: now },
  })
}
