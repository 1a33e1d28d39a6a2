/** The rows that the events of a batch will change, asked for together with the locks and read once they are held. */
import type { NewEvent } from '../../../../domain/event.ts'
import { type Wanted, wanted } from '../../projections/projections.ts'
import { toChunks } from '../rows/chunk.ts'
import type { ReadStatements } from '../statements/read-statements.ts'
import type { WriteStatements } from '../statements/write-statements.ts'
import type { Row, Statement } from '../steps.ts'
import type { AskTable, NodeTable } from '../tables.ts'

export interface RowsBefore {
  readonly nodes: Map<string, NodeTable>
  readonly asks: Map<string, AskTable>
  plan?: string
}

interface Select {
  readonly runId: string
  readonly take: keyof RowsBefore
  readonly statement: Statement
}

interface Context {
  readonly statements: WriteStatements
  readonly reads: Pick<ReadStatements, 'nodes'>
}

/** `everything`: all nodes and the plan, whatever the events change. */
export function selectsBefore(
  runId: string,
  events: readonly NewEvent[],
  context: Context,
  everything = false,
): Select[] {
  const { statements, reads } = context
  const rows: Wanted = wanted(events)
  const found: Select[] = []
  if (everything || rows.everything) {
    found.push({ runId, take: 'nodes', statement: reads.nodes({ runId }) })
    found.push({ runId, take: 'plan', statement: statements.plan({ runId }) })
  } else {
    for (const ids of toChunks(rows.nodeIds))
      found.push({ runId, take: 'nodes', statement: statements.someNodes({ runId }, ids) })
  }
  for (const ids of toChunks(rows.requestIds))
    found.push({ runId, take: 'asks', statement: statements.someAsks({ runId }, ids) })
  return found
}

/** Of several versions of a node, the newest is the one that changes. */
function keepNewest(nodes: Map<string, NodeTable>, row: NodeTable): void {
  const known = nodes.get(row.node_id)
  if (known === undefined || known.plan_version <= row.plan_version) nodes.set(row.node_id, row)
}

/** By run; `answers` has the rows of each select, in order. */
export function rowsBefore(
  selects: readonly Select[],
  answers: readonly (readonly Row[])[],
): Map<string, RowsBefore> {
  const before = new Map<string, RowsBefore>()
  for (const [index, { runId, take }] of selects.entries()) {
    const run: RowsBefore = before.get(runId) ?? { nodes: new Map(), asks: new Map() }
    before.set(runId, run)
    // The statement said which table it asks.
    const rows = (answers[index] ?? []) as readonly unknown[]
    if (take === 'nodes') for (const row of rows as NodeTable[]) keepNewest(run.nodes, row)
    if (take === 'asks') for (const row of rows as AskTable[]) run.asks.set(row.request_id, row)
    if (take === 'plan' && rows.length > 0) run.plan = (rows[0] as { plan: string }).plan
  }
  return before
}
