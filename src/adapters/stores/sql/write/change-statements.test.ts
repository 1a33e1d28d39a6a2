/** Promises about what an append costs: a table that an event does not concern is not touched. */
import { afterAll, expect, it } from 'vitest'
import { numbered } from '../../../../domain/event/numbered.ts'
import type { NewEvent } from '../../../../domain/event.ts'
import { newRun, planEvent, sampleAsk, sampleEvent, startEvent } from '../../../../testing/stores/sample.ts'
import { firstHead } from '../../projections/heads.ts'
import { listNodeChanges, project } from '../../projections/projections.ts'
import { openLibsql } from '../../sqlite/drivers/libsql.ts'
import { sqliteBuilder } from '../../sqlite/open-sqlite.ts'
import { sqliteDialect } from '../dialects/sqlite-dialect.ts'
import { createWriteStatements } from '../statements/write-statements.ts'
import type { Tables } from '../tables.ts'
import { changeStatements } from './change-statements.ts'

const connection = openLibsql(':memory:')
afterAll(() => connection.close())

/** The tables that an append of these events writes. */
function written(events: readonly NewEvent[]): string[] {
  const head = firstHead(newRun('r', { events }), 1)
  const journal = numbered('r', 0, events)
  const none = { node: () => undefined, ask: () => undefined, plan: () => undefined }
  const changes = project(head, journal, none)
  const run = {
    head,
    stored: head,
    begins: true,
    touched: true,
    events: journal,
    rows: [],
    values: new Map(),
    documents: [],
    nodes: listNodeChanges(changes),
    nodesSeq: undefined,
  }
  const statements = createWriteStatements(sqliteBuilder<Tables>(connection), sqliteDialect)
  const commit = { sql: 'commit', parameters: [] }
  const steps = changeStatements([run], [changes], { statements, commit })
  const step = steps.next()
  if (step.done) throw new Error('Nothing was written')
  return step.value.flatMap(({ sql }) => /insert into "(\w+)"/.exec(sql)?.[1] ?? [])
}

const audit = { prev: '', subjectHash: 'v', hash: 'h' }

it('writes no message for a run without asks', () => {
  const events = [startEvent(), planEvent(), sampleEvent('complete', { status: 'completed', output: 1 })]
  expect(written(events)).toEqual(['flex_plan_nodes', 'flex_plan_snapshots', 'flex_run_outputs', 'spans'])
})

it('writes an ask, its audit and its message together', () => {
  const ask = sampleEvent('hitl_request', { ...sampleAsk('q'), audit })
  expect(written([startEvent(), ask])).toEqual(['hitl_requests', 'hitl_events', 'agent_messages'])
})
