/** Fetches the rows that the new events of a batch will change, and projects the events onto them. */
import type { JournalEvent } from '../../../domain/event.ts'
import { decode } from '../codec.ts'
import type { HeadCore } from '../heads.ts'
import { type Before, type Changes, project, type Wanted, wanted } from '../projections.ts'
import type { PlanView } from '../snapshot.ts'
import { loadValues } from './load-values.ts'
import type { ReadStatements } from './read-statements.ts'
import { toAsk, toStoredNode } from './rows.ts'
import type { Row, Statement, Steps } from './steps.ts'
import type { AskTable, EventTable, NodeTable } from './tables.ts'
import type { WriteStatements } from './write-statements.ts'

/** A run in the middle of a batch: its head as it will be, and what is added to its journal. */
export interface OpenRun {
  head: HeadCore
  /** The head as it is in its row. */
  readonly stored: HeadCore
  /** It has no rows yet. */
  readonly isNew: boolean
  touched: boolean
  readonly events: JournalEvent[]
  readonly rows: EventTable[]
  /** Large values of its new events. */
  readonly values: Map<string, string>
}

interface Context {
  readonly statements: WriteStatements
  readonly reads: Pick<ReadStatements, 'values' | 'nodes'>
}

const nothing: Before = { node: () => undefined, ask: () => undefined, plan: () => undefined }

export function* projectRuns(runs: readonly OpenRun[], context: Context): Steps<Changes[]> {
  const asked = runs.map((run) => (run.isNew ? [] : selects(run.head.runId, wanted(run.events), context)))
  const statements = asked.flat()
  if (statements.length === 0) return runs.map((run) => project(run.head, run.events, nothing))
  const answers = yield statements.map(({ statement }) => statement)
  const values = yield* loadValues(answers.flat(), context.reads)
  let next = 0
  return runs.map((run, index) => {
    const nodes = new Map<string, NodeTable>()
    const asks = new Map<string, AskTable>()
    let plan: string | undefined
    for (const { take } of asked[index] ?? []) {
      // The statement said which table it asks.
      const rows = (answers[next] ?? []) as readonly Row[]
      next += 1
      if (take === 'nodes') for (const row of rows as unknown as NodeTable[]) nodes.set(row.node_id, row)
      if (take === 'asks') for (const row of rows as unknown as AskTable[]) asks.set(row.request_id, row)
      if (take === 'plan') plan = rows[0]?.['plan'] as string | undefined
    }
    return project(run.head, run.events, {
      node: (nodeId) => mapped(nodes.get(nodeId), (row) => toStoredNode(row, values)),
      ask: (requestId) => mapped(asks.get(requestId), (row) => toAsk(row, values)),
      // What a snapshot wrote: a plan.
      plan: () => mapped(plan, (text) => decode(text, values) as unknown as PlanView),
    })
  })
}

interface Select {
  readonly take: 'nodes' | 'asks' | 'plan'
  readonly statement: Statement
}

function selects(runId: string, rows: Wanted, { statements, reads }: Context): Select[] {
  const found: Select[] = []
  if (rows.everything) {
    found.push({ take: 'nodes', statement: reads.nodes({ runId }) })
    found.push({ take: 'plan', statement: statements.plan({ runId }) })
  } else if (rows.nodeIds.size > 0) {
    found.push({ take: 'nodes', statement: statements.someNodes({ runId }, [...rows.nodeIds]) })
  }
  if (rows.requestIds.size > 0) {
    found.push({ take: 'asks', statement: statements.someAsks({ runId }, [...rows.requestIds]) })
  }
  return found
}

function mapped<A, B>(value: A | undefined, map: (value: A) => B): B | undefined {
  return value === undefined ? undefined : map(value)
}
