/**
 * Who is to be woken when a run grows. All streams of one store share one listener on it and one map; they share no events,
 * each reads for itself. The map has an entry per open stream and none besides, and there is a limit to those.
 */
import { ProvisoError } from '../base/error.ts'
import type { Store } from '../domain/ports/store.ts'

/** The run has grown to this sequence number. */
export type Wake = (seq: number) => void

export interface Wakeups {
  /** Throws `stream/full` when `most` streams are open already. */
  listen(runId: string, wake: Wake, most: number): () => void
  /** Streams that are open now, for gauges. */
  readonly open: number
}

type Told = Pick<Store, 'onChange'>

const byStore = new WeakMap<Told, Wakeups>()

/** The one of this store. */
export function wakeupsOf(store: Told): Wakeups {
  const known = byStore.get(store) ?? createWakeups(store)
  byStore.set(store, known)
  return known
}

function createWakeups(store: Told): Wakeups {
  const waiting = new Map<string, Set<Wake>>()
  let open = 0
  let stop = () => {}

  const tell = (runId: string, seq: number) => {
    for (const wake of waiting.get(runId) ?? []) wake(seq)
  }

  return {
    listen(runId, wake, most) {
      if (open >= most)
        throw new ProvisoError(
          'stream/full',
          `${open} streams are open, and more than ${most} are not allowed`,
        )
      if (open++ === 0) stop = store.onChange(tell)
      const ofRun = waiting.get(runId) ?? new Set()
      waiting.set(runId, ofRun.add(wake))
      return () => {
        if (!ofRun.delete(wake)) return
        if (ofRun.size === 0) waiting.delete(runId)
        // A store that nobody streams from has nobody to tell.
        if (--open === 0) stop()
      }
    },
    get open() {
      return open
    },
  }
}
