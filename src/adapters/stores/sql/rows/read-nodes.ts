/** Reads the nodes of a run: their rows, and for a run under way the events that are newer than these. */
import type { NodeRow } from '../../../../domain/ports/store.ts'
import { publicNode } from '../../projections/node-steps.ts'
import type { ReadStatements } from '../statements/read-statements.ts'
import { ask, type Steps } from '../steps.ts'
import type { EventTable, NodeTable, RunTable } from '../tables.ts'
import { addEvents } from './lagging-nodes.ts'
import { loadValues } from './load-values.ts'
import { toEvents, toStoredNode } from './rows.ts'

/** A run beside one of its nodes, if it has any. */
type NodeOfRun = Pick<RunTable, 'tenant' | 'created_at' | 'schema_hash' | 'nodes_seq'> &
  (NodeTable | { readonly node_id: null })

export function* readNodes(runId: string, reads: ReadStatements): Steps<NodeRow[]> {
  const found = yield* ask<NodeOfRun>(reads.nodesOfRun({ runId }))
  const [run] = found
  const after = run?.nodes_seq ?? undefined
  // All that there are: meanwhile there may be more of them.
  const range = { runId, until: Number.MAX_SAFE_INTEGER, before: Number.MAX_SAFE_INTEGER }
  const journal = after === undefined ? [] : yield* ask<EventTable>(reads.events({ ...range, after }))
  const values = yield* loadValues([...found, ...journal], reads)
  const rows = found.flatMap((row) => (row.node_id === null ? [] : [toStoredNode(row, values)]))
  if (run === undefined || after === undefined) return rows.map(publicNode)
  const events = journal.flatMap((row) => toEvents(row, values)).filter(({ seq }) => seq > after)
  const { tenant, schema_hash: schemaHash, created_at: createdAt } = run
  return addEvents({ runId, tenant, schemaHash, createdAt }, rows, events).map(publicNode)
}
