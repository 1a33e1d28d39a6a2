/**
 * Caches of what this process wrote, so that neither it nor its streams read it back. With several writers the database may
 * have more: rows count only while their head in the database is the one that was written with them, and events are a
 * beginning of what a reader gets.
 */

import type { JournalEvent } from '../../../domain/event.ts'
import type { PlanView } from '../../../domain/plan/progress.ts'
import type { AskRow } from '../../../domain/ports/store.ts'
import type { HeadCore } from '../projections/heads.ts'
import type { StoredNode } from '../projections/node-steps.ts'
import { type Before, type Changes, listNodeChanges, rowKey } from '../projections/projections.ts'

export interface HotRun extends Before {
  readonly head: HeadCore
  readonly lag: Lag
}

/** How far the rows of nodes are behind the events (`rows/lagging-nodes.ts`). */
export interface Lag {
  /** The last event that the rows contain. */
  readonly seq: number
  /** Rows that have changed since. */
  readonly rows: readonly StoredNode[]
}

/** What a commit wrote of a run. */
export interface Written {
  readonly head: HeadCore
  readonly changes: Changes
  /** The run is known from this commit on. */
  readonly begins: boolean
  /** The last event that its rows of nodes contain; `undefined`: all. */
  readonly nodesSeq: number | undefined
}

/** Write-through cache of active runs. A run is cached from its creation until it is released or over. */
export interface HotRuns {
  get(runId: string): HotRun | undefined
  /** After a commit. */
  wrote(written: Written): void
  /** Their leases were prolonged. */
  renewed(runIds: Iterable<string>, leaseUntil: number): void
  /** Invalidates runs that were changed otherwise, or whose state is unknown. */
  forget(runIds?: Iterable<string>): void
}

interface Kept {
  head: HeadCore
  /** The newest row of each node. */
  readonly nodes: Map<string, StoredNode>
  readonly asks: Map<string, AskRow>
  plan: PlanView | undefined
  nodesSeq: number
  /** Rows of nodes that are not written yet, by version and node. */
  readonly unwritten: Map<string, StoredNode>
}

/** By default more runs than a server streams at once: reading the rows of a run back costs as much as writing them. */
export function createHotRuns(most = 4_000): HotRuns {
  const runs = new Map<string, Kept>()
  return {
    get(runId) {
      const run = runs.get(runId)
      return (
        run && {
          head: run.head,
          lag: {
            seq: run.nodesSeq,
            // Copied only when they are written.
            get rows() {
              return [...run.unwritten.values()]
            },
          },
          node: (nodeId) => run.nodes.get(nodeId),
          ask: (requestId) => run.asks.get(requestId),
          plan: () => run.plan,
        }
      )
    },

    wrote({ head, changes, begins, nodesSeq }) {
      const { runId } = head
      // The run is released: only the database has it.
      if (head.owner === undefined) return void runs.delete(runId)
      const run: Kept | undefined = runs.get(runId) ?? (begins ? beginRun(head) : undefined)
      if (run === undefined) return
      run.head = head
      for (const [nodeId, node] of changes.nodes) run.nodes.set(nodeId, node)
      for (const [requestId, ask] of changes.asks) run.asks.set(requestId, ask)
      if (changes.plan !== undefined) run.plan = changes.plan
      if (nodesSeq === undefined) run.unwritten.clear()
      else for (const row of listNodeChanges(changes)) run.unwritten.set(rowKey(row), row)
      run.nodesSeq = nodesSeq ?? head.seq
      runs.set(runId, run)
      const [oldest] = runs.keys()
      if (runs.size > most && oldest !== undefined) runs.delete(oldest)
    },

    renewed(runIds, leaseUntil) {
      for (const runId of runIds) {
        const run = runs.get(runId)
        if (run) run.head = { ...run.head, leaseUntil }
      }
    },

    forget(runIds) {
      if (runIds === undefined) runs.clear()
      else for (const runId of runIds) runs.delete(runId)
    },
  }
}

function beginRun(head: HeadCore): Kept {
  return {
    head,
    nodes: new Map(),
    asks: new Map(),
    plan: undefined,
    nodesSeq: 0,
    unwritten: new Map(),
  }
}

/**
 * Cache of the newest events of runs, for streams. It returns what the database would, or nothing. Bounded by size: runs that
 * grew longest ago are evicted first.
 */
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
