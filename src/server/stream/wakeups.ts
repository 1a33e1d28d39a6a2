/**
 * Wakes streams when a run grows. All streams on one store share one listener and one map; each stream reads events for
 * itself. The map has one entry per open stream, and their number is limited.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Store } from '../../domain/ports/store.ts'

/** Called with the sequence number that the run has reached. */
type Wake = (seq: number) => void

interface Wakeups {
  /** Subscribes a stream. Throws `stream/full` when `most` streams are open. */
  listen(runId: string, wake: Wake, most: number): () => void
  /** Number of open streams, for gauges. */
  readonly open: number
}

type NotifyingStore = Pick<Store, 'onChange'>

const byStore = new WeakMap<NotifyingStore, Wakeups>()

/** Returns the shared instance of this store. */
export function getWakeups(store: NotifyingStore): Wakeups {
  const known = byStore.get(store) ?? createWakeups(store)
  byStore.set(store, known)
  return known
}

function createWakeups(store: NotifyingStore): Wakeups {
  const waiting = new Map<string, Set<Wake>>()
  let open = 0
  let stop = () => {}

  const notify = (runId: string, seq: number) => {
    for (const wake of waiting.get(runId) ?? []) wake(seq)
  }

  return {
    listen(runId, wake, most) {
      if (open >= most)
        throw new ProvisoError(
          'stream/full',
          `Cannot open a stream: ${open} are open, and ${most} is the maximum`,
        )
      if (open++ === 0) stop = store.onChange(notify)
      const ofRun = waiting.get(runId) ?? new Set()
      waiting.set(runId, ofRun.add(wake))
      return () => {
        if (!ofRun.delete(wake)) return
        if (ofRun.size === 0) waiting.delete(runId)
        // No stream is left: stop listening to the store.
        if (--open === 0) stop()
      }
    },
    get open() {
      return open
    },
  }
}
