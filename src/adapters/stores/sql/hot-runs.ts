/**
 * Runs as the only writer of a database last wrote them, so that it need not read back its own rows: from their creation
 * until they are given back or over. Whoever shares the database with other writers must not use this.
 */
import type { AskRow } from '../../../domain/ports/store.ts'
import type { HeadCore } from '../heads.ts'
import type { StoredNode } from '../node-steps.ts'
import { type Before, type Changes, keepNewest } from '../projections.ts'
import type { PlanView } from '../snapshot.ts'

export interface HotRun extends Before {
  readonly head: HeadCore
}

export interface HotRuns {
  get(runId: string): HotRun | undefined
  /** After a commit: what was written; a run that begins with it is known from there on. */
  wrote(head: HeadCore, changes: Changes, begins: boolean): void
  /** Their leases were prolonged. */
  renewed(runIds: Iterable<string>, leaseUntil: number): void
  /** Something else was written to these runs, or nobody knows: they are read again. */
  forget(runIds?: Iterable<string>): void
}

interface Kept {
  head: HeadCore
  /** The newest row of each node. */
  readonly nodes: Map<string, StoredNode>
  readonly asks: Map<string, AskRow>
  plan: PlanView | undefined
}

export function createHotRuns(most = 1_000): HotRuns {
  const runs = new Map<string, Kept>()
  return {
    get(runId) {
      const run = runs.get(runId)
      return (
        run && {
          head: run.head,
          node: (nodeId) => run.nodes.get(nodeId),
          ask: (requestId) => run.asks.get(requestId),
          plan: () => run.plan,
        }
      )
    },

    wrote(head, changes, begins) {
      const { runId } = head
      // Nobody carries it any more: it lives in the database alone.
      if (head.owner === undefined) return void runs.delete(runId)
      const run: Kept | undefined =
        runs.get(runId) ?? (begins ? { head, nodes: new Map(), asks: new Map(), plan: undefined } : undefined)
      if (run === undefined) return
      run.head = head
      for (const node of changes.nodes.values()) keepNewest(run.nodes, node)
      for (const [requestId, ask] of changes.asks) run.asks.set(requestId, ask)
      if (changes.plan !== undefined) run.plan = changes.plan
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
