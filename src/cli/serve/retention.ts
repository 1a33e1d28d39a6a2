/** Deletes finished runs that are older than the retention, at start and then at intervals. */
import type { Store } from '../../domain/ports/store.ts'
import type { ServerSettings } from '../../pipeline/index.ts'
import { duration } from '../options/option-parsers.ts'

interface Retention {
  stop(): void
}

export function startRetention(
  store: Store,
  { keep, everyMinutes }: ServerSettings['retention'],
  onError: (cause: unknown) => void,
): Retention {
  if (keep === undefined) return { stop() {} }
  const ms = duration(keep)
  const prune = () => {
    store.prune({ before: Date.now() - ms }).catch(onError)
  }
  prune()
  const timer = setInterval(prune, everyMinutes * 60_000)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
