/**
 * The rows of nodes lag behind the events of a run under way: each event changes one, and all but its last form would be
 * written for nothing. They are written when the run waits, pauses, ends or leaves its process, and every now and then.
 * `flex_runs.nodes_seq` is the last event that they contain; readers add the events after it.
 */
import type { JournalEvent } from '../../../../domain/event.ts'
import type { HeadCore } from '../../projections/heads.ts'
import type { StoredNode } from '../../projections/node-steps.ts'
import {
  type Before,
  listNodeChanges,
  type ProjectedRun,
  project,
  rowKey,
} from '../../projections/projections.ts'
import type { Lag } from '../hot-runs.ts'

/** The most events that the rows lag behind: readers project them each time. */
const mostBehind = 250

/** Whether the rows of a run may stay as they are. Only a process that holds the run has what changed. */
export function mayLag({ owner, status, seq }: HeadCore, nodesSeq: number): boolean {
  return owner !== undefined && status === 'running' && seq - nodesSeq < mostBehind
}

/** A run whose rows of nodes were read, and the events that are newer than these. */
interface LaggingRun {
  readonly before: Before
  /** The last event that the rows contain. */
  readonly nodesSeq: number
  readonly events: readonly JournalEvent[]
}

/** The rows as they are after all events. Rows of asks and plans do not lag. */
export function catchUp(
  run: ProjectedRun,
  { before, nodesSeq, events }: LaggingRun,
): Before & { readonly lag: Lag } {
  const changes = project(run, events, before, { spans: 'counted' })
  return {
    ...before,
    node: (nodeId) => changes.nodes.get(nodeId) ?? before.node(nodeId),
    lag: { seq: nodesSeq, rows: listNodeChanges(changes) },
  }
}

/** The nodes of a run in the order of lists: their rows, changed by the events after them. */
export function addEvents(
  run: ProjectedRun,
  rows: readonly StoredNode[],
  events: readonly JournalEvent[],
): StoredNode[] {
  const newest = new Map<string, StoredNode>()
  for (const row of rows)
    if ((newest.get(row.nodeId)?.planVersion ?? 0) <= row.planVersion) newest.set(row.nodeId, row)
  const before: Before = { node: (nodeId) => newest.get(nodeId), ask: () => undefined, plan: () => undefined }
  const changes = project(run, events, before, { spans: 'counted' })
  return withChanges(rows, listNodeChanges(changes)).sort(
    (one, other) => one.position - other.position || (one.nodeId < other.nodeId ? -1 : 1),
  )
}

/** Rows with later forms of some of them. */
export function withChanges(rows: readonly StoredNode[], changes: readonly StoredNode[]): StoredNode[] {
  if (rows.length === 0) return [...changes]
  const byKey = new Map(rows.map((row) => [rowKey(row), row]))
  for (const row of changes) byKey.set(rowKey(row), row)
  return [...byKey.values()]
}
