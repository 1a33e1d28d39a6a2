/** The statements that answer questions. Those without a fixed form are built each time. */
import { type Kysely, sql } from 'kysely'
import type { AskQuery, RunQuery, ThreadQuery } from '../../../../domain/ports/store.ts'
import { defaultLimits } from '../../shared/list-order.ts'
import type { Statement } from '../steps.ts'
import type { Tables } from '../tables.ts'
import type { Templates } from './templates.ts'

export type ReadStatements = ReturnType<typeof createReadStatements>

export function createReadStatements(db: Kysely<Tables>, templates: Templates) {
  const ofRun = (table: 'flex_plan_snapshots' | 'hitl_events') =>
    templates.query<{ runId: string }>((param) =>
      db.selectFrom(table).selectAll().where('run_id', '=', param('runId')).orderBy('seq'),
    )

  return {
    head: templates.one<{ runId: string }>((param) =>
      db.selectFrom('flex_runs').selectAll().where('run_id', '=', param('runId')),
    ),

    /**
     * Rows whose last event is after one and before another, and whose first is not after `until`: the rows behind may have
     * large values.
     */
    events: templates.query<{ runId: string; after: number; until: number; before: number }>((param) =>
      db
        .selectFrom('flex_events')
        .selectAll()
        .where('run_id', '=', param('runId'))
        .where('seq', '>', param('after'))
        .where('seq', '<', param('before'))
        .where(({ eb }) => eb(eb('seq', '-', eb.ref('events')), '<', param('until')))
        .orderBy('seq'),
    ),

    values: templates.list<object, string>((_, hashes) =>
      db.selectFrom('flex_values').selectAll().where('hash', 'in', hashes),
    ),

    ...createNodeStatements(db, templates),

    output: templates.one<{ runId: string }>((param) =>
      db.selectFrom('flex_run_outputs').selectAll().where('run_id', '=', param('runId')),
    ),

    ask: templates.one<{ requestId: string }>((param) =>
      db.selectFrom('hitl_requests').selectAll().where('request_id', '=', param('requestId')).limit(1),
    ),

    snapshots: ofRun('flex_plan_snapshots'),
    audit: ofRun('hitl_events'),

    /** The newest first. */
    messages: templates.query<{ runId: string; limit: number }>((param) =>
      db
        .selectFrom('agent_messages')
        .selectAll()
        .where('flex_run_id', '=', param('runId'))
        .orderBy('seq', 'desc')
        .limit(param('limit')),
    ),

    runs(given: RunQuery): Statement {
      const { tenant, status, threadId, search, limit = defaultLimits.runs, before, sort } = given
      const isByCost = sort === 'cost'
      let query = db.selectFrom('flex_runs').selectAll()
      if (tenant !== undefined) query = query.where('tenant', '=', tenant)
      if (threadId !== undefined) query = query.where('thread_id', '=', threadId)
      if (search !== undefined) {
        const pattern = `%${search.toLowerCase().replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`
        const contains = (column: string) =>
          sql<boolean>`lower(coalesce(${sql.ref(column)}, '')) like ${pattern} escape '\\'`
        query = query.where(({ or }) => or([contains('objective'), contains('pipeline'), contains('run_id')]))
      }
      // A literal, because a partial index is only used for the value that the statement itself names.
      if (status?.length === 1 && status[0] === 'quarantined')
        query = query.where('status', '=', sql.lit('quarantined'))
      // A list that names nothing matches nothing; SQL has no empty list.
      else if (status !== undefined) query = query.where('status', 'in', status.length > 0 ? status : [''])
      for (const condition of listConditions(given)) query = query.where(condition)
      if (before !== undefined && isByCost) {
        query = query.where(
          sql<boolean>`(${costOrZero}, created_at, run_id) < (select ${costOrZero}, created_at, run_id from flex_runs where run_id = ${before})`,
        )
      } else if (before !== undefined) {
        query = query.where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('created_at', 'run_id'),
            '<',
            selectFrom('flex_runs as last')
              .select(['last.created_at', 'last.run_id'])
              .where('last.run_id', '=', before)
              .$asTuple('created_at', 'run_id'),
          ),
        )
      }
      if (isByCost) query = query.orderBy(costOrZero, 'desc')
      return query.orderBy('created_at', 'desc').orderBy('run_id', 'desc').limit(limit).compile()
    },

    threads: (query: ThreadQuery): Statement => selectThreads(db, query),
    asks: (query: AskQuery): Statement => selectAsks(db, query),
  }
}

/** Statements on the rows of nodes. */
function createNodeStatements(db: Kysely<Tables>, templates: Templates) {
  return {
    nodes: templates.query<{ runId: string }>((param) =>
      db
        .selectFrom('flex_plan_nodes')
        .selectAll()
        .where('run_id', '=', param('runId'))
        .orderBy('position')
        .orderBy('node_id'),
    ),

    /** The run with each of its nodes, read at one moment; a run without rows of nodes is one row. */
    nodesOfRun: templates.query<{ runId: string }>((param) =>
      db
        .selectFrom('flex_runs')
        .leftJoin('flex_plan_nodes', 'flex_plan_nodes.run_id', 'flex_runs.run_id')
        .selectAll('flex_plan_nodes')
        .select([
          'flex_runs.run_id as id',
          'flex_runs.tenant',
          'flex_runs.created_at',
          'flex_runs.schema_hash',
          'flex_runs.nodes_seq',
        ])
        .where('flex_runs.run_id', '=', param('runId'))
        .orderBy('flex_plan_nodes.position')
        .orderBy('flex_plan_nodes.node_id'),
    ),
  }
}

/** What a run has cost, and which models were called in it. */
function listConditions(given: RunQuery) {
  const { minCostUsd, maxCostUsd, nodeId, model } = given
  return [
    ...(minCostUsd === undefined ? [] : [sql<boolean>`${costOrZero} >= ${minCostUsd}`]),
    ...(maxCostUsd === undefined ? [] : [sql<boolean>`${costOrZero} <= ${maxCostUsd}`]),
    ...(nodeId === undefined && model === undefined ? [] : [calledModel(given)]),
  ]
}

/** Whether an attempt of the run has called a model: at a node, one model, or both. */
function calledModel({ nodeId, model }: Pick<RunQuery, 'nodeId' | 'model'>) {
  const conditions = [
    sql`spans.run_id = flex_runs.run_id`,
    sql`spans.signals is not null`,
    ...(nodeId === undefined ? [] : [sql`spans.node_id = ${nodeId}`]),
    ...(model === undefined ? [] : [sql`spans.model_id = ${model}`]),
  ]
  return sql<boolean>`exists (select 1 from spans where ${sql.join(conditions, sql` and `)})`
}

/** The threads of a tenant, last changed first, after the one that is named. */
function selectThreads(
  db: Kysely<Tables>,
  { tenant, before, limit = defaultLimits.threads }: ThreadQuery,
): Statement {
  const changed = sql<number>`max(updated_at)`
  let query = db
    .selectFrom('flex_runs')
    .select(({ fn }) => [
      'thread_id',
      fn.countAll().as('runs'),
      sql<number>`min(created_at)`.as('created_at'),
      changed.as('updated_at'),
    ])
    .where('tenant', '=', tenant)
    .where('thread_id', 'is not', null)
    .groupBy('thread_id')
  if (before)
    query = query.having(
      sql<boolean>`(max(updated_at) < ${before.updatedAt} or (max(updated_at) = ${before.updatedAt} and thread_id < ${before.threadId}))`,
    )
  return query.orderBy(changed, 'desc').orderBy('thread_id', 'desc').limit(limit).compile()
}

/** As in the index `flex_runs_cost`, which answers queries with this expression only. */
const costOrZero = sql<number>`coalesce(cost_usd, 0)`

/** Asks, oldest first, after the one that is named. */
function selectAsks(
  db: Kysely<Tables>,
  { tenant, runId, status, limit = defaultLimits.asks, after }: AskQuery,
): Statement {
  let query = db.selectFrom('hitl_requests').selectAll()
  if (tenant !== undefined) query = query.where('tenant', '=', tenant)
  if (runId !== undefined) query = query.where('run_id', '=', runId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (after !== undefined) {
    query = query.where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('created_at', 'request_id'),
        '>',
        selectFrom('hitl_requests as last')
          .select(['last.created_at', 'last.request_id'])
          .where('last.request_id', '=', after)
          .limit(1)
          .$asTuple('created_at', 'request_id'),
      ),
    )
  }
  return query.orderBy('created_at').orderBy('request_id').limit(limit).compile()
}
