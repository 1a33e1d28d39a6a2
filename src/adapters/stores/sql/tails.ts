/**
 * Cache of the newest events of runs, for the only writer of a database, so that streams need not read back what was just
 * written. It returns what the database would, or nothing. Not for databases with several writers. Bounded by size: runs
 * that grew longest ago are evicted first.
 */
import type { JournalEvent } from '../../../domain/event.ts'

export interface Tails {
  /** Returns the events after a sequence number; `undefined` if the cache does not have all of them. */
  read(runId: string, after: number, limit: number): JournalEvent[] | undefined
  /** After a commit, with the length of the events as text. */
  wrote(runId: string, events: readonly JournalEvent[], length: number): void
  /** Invalidates runs that were changed otherwise, or whose state is unknown. */
  forget(): void
}

interface Tail {
  readonly events: JournalEvent[]
  size: number
}

/** Characters of JSON in all, and of one run. */
const most = { all: 4_000_000, run: 250_000 } as const
/** What an event takes besides its text. */
const perEvent = 200

export function createTails(limits: { readonly all: number; readonly run: number } = most): Tails {
  const tails = new Map<string, Tail>()
  let size = 0

  const drop = (runId: string) => {
    size -= tails.get(runId)?.size ?? 0
    tails.delete(runId)
  }

  return {
    read(runId, after, limit) {
      const events = tails.get(runId)?.events
      const first = events?.[0]?.seq
      // Sequence numbers have no gaps.
      if (events === undefined || first === undefined || after < first - 1) return undefined
      return events.slice(after + 1 - first, after + 1 - first + limit)
    },

    wrote(runId, events, length) {
      const added = length + events.length * perEvent
      const before = tails.get(runId)
      const follows = before?.events.at(-1)?.seq === (events[0]?.seq ?? 0) - 1
      const kept = before && follows && before.size + added <= limits.run ? before : undefined
      // Taken out and put in again: the map's order is the order of the last growth.
      drop(runId)
      if (added > limits.run) return
      const tail = kept ?? { events: [], size: 0 }
      tail.events.push(...events)
      tail.size += added
      tails.set(runId, tail)
      size += tail.size
      for (const oldest of tails.keys()) {
        if (size <= limits.all) break
        drop(oldest)
      }
    },

    forget() {
      tails.clear()
      size = 0
    },
  }
}
