/**
 * Write-through cache of active runs, for the only writer of a database, so that it need not read its own rows back. A run
 * is cached from its creation until it is released or over. Not for databases with several writers.
 */
import type { AskRow } from '../../../domain/ports/store.ts'
import type { HeadCore } from '../projections/heads.ts'
import type { StoredNode } from '../projections/node-steps.ts'
import type { Before, Changes } from '../projections/projections.ts'
import type { PlanView } from '../projections/snapshot.ts'

export interface HotRun extends Before {
  readonly head: HeadCore
}

export interface HotRuns {
  get(runId: string): HotRun | undefined
  /** After a commit: what was written; a run that begins with it is known from there on. */
  wrote(head: HeadCore, changes: Changes, begins: boolean): void
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
      // The run is released: only the database has it.
      if (head.owner === undefined) return void runs.delete(runId)
      const run: Kept | undefined =
        runs.get(runId) ?? (begins ? { head, nodes: new Map(), asks: new Map(), plan: undefined } : undefined)
      if (run === undefined) return
      run.head = head
      for (const [nodeId, node] of changes.nodes) run.nodes.set(nodeId, node)
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
