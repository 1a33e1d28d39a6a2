/** Projects the new events of a batch onto the rows that are there. */
import type { JournalEvent } from '../../../../domain/event.ts'
import type { PlanView } from '../../../../domain/plan/progress.ts'
import type { HeadCore } from '../../projections/heads.ts'
import type { StoredNode } from '../../projections/node-steps.ts'
import { type Before, type Changes, project } from '../../projections/projections.ts'
import { decode } from '../../shared/codec.ts'
import { loadValues } from '../rows/load-values.ts'
import { toAsk, toStoredNode, type Values } from '../rows/rows.ts'
import type { DocumentChange } from '../statements/document-statements.ts'
import type { ReadStatements } from '../statements/read-statements.ts'
import type { Steps } from '../steps.ts'
import type { EventTable } from '../tables.ts'
import type { RowsBefore } from './rows-before.ts'

/** A run in the middle of a batch: its head as it will be, and what is added to its journal. */
export interface OpenRun {
  head: HeadCore
  /** The head as it is in its row. */
  readonly stored: HeadCore
  /** It is created with this batch. */
  readonly begins: boolean
  touched: boolean
  readonly events: JournalEvent[]
  readonly rows: EventTable[]
  /** Large values of its new events and rows. */
  readonly values: Map<string, string>
  /** The rows of nodes that are written; none if they lag behind the events. */
  nodes: readonly StoredNode[]
  /** The last event that the rows of nodes contain; `undefined`: all. */
  nodesSeq: number | undefined
  /** Added with the events. */
  readonly documents: DocumentChange[]
}

interface RowsOfRuns {
  /** Read from the database. */
  readonly before: ReadonlyMap<string, RowsBefore>
  /** Taken from a cache. */
  readonly kept: ReadonlyMap<string, Before>
}

export const nothing: Before = { node: () => undefined, ask: () => undefined, plan: () => undefined }

export function* projectRuns(
  runs: readonly OpenRun[],
  { before, kept }: RowsOfRuns,
  reads: Pick<ReadStatements, 'values'>,
): Steps<Changes[]> {
  const values = yield* loadValues([...before.values()].flatMap(listRows), reads)
  return runs.map((run) => {
    const { runId } = run.head
    const found = before.get(runId)
    const rows = kept.get(runId) ?? (found === undefined ? nothing : readBefore(found, values))
    return project(run.head, run.events, rows, { spans: 'counted' })
  })
}

export function listRows(rows: RowsBefore | undefined): object[] {
  if (rows === undefined) return []
  const { nodes, asks, plan } = rows
  return [...nodes.values(), ...asks.values(), ...(plan === undefined ? [] : [{ plan }])]
}

export function readBefore({ nodes, asks, plan }: RowsBefore, values: Values): Before {
  return {
    node: (nodeId) => mapped(nodes.get(nodeId), (row) => toStoredNode(row, values)),
    ask: (requestId) => mapped(asks.get(requestId), (row) => toAsk(row, values)),
    // What a snapshot wrote: a plan.
    plan: () => mapped(plan, (text) => decode(text, values) as unknown as PlanView),
  }
}

function mapped<A, B>(value: A | undefined, map: (value: A) => B): B | undefined {
  return value === undefined ? undefined : map(value)
}
