/** Statements for pruning: find runs that are over, delete them with their rows, find unused values. */
import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { Prune } from '../../../../domain/ports/store.ts'
import { terminalStatuses } from '../../../../domain/status.ts'
import type { SqlDialect } from '../dialects/sql-dialect.ts'
import type { Statement } from '../steps.ts'
import type { RunTable, Tables } from '../tables.ts'
import { createTemplates, type Templates } from './templates.ts'

export type PruneStatements = ReturnType<typeof createPruneStatements>

/** Cursor over the runs in the order of their creation, which is indexed. */
export type Walker = Pick<RunTable, 'created_at' | 'run_id'>
export type SeenRun = Walker & Pick<RunTable, 'seq' | 'status' | 'updated_at'>

/** What belongs to a run besides its head. */
const parts = [
  ['flex_events', 'run_id'],
  ['flex_plan_nodes', 'run_id'],
  ['flex_plan_snapshots', 'run_id'],
  ['flex_run_outputs', 'run_id'],
  ['flex_value_uses', 'run_id'],
  ['hitl_requests', 'run_id'],
  ['hitl_events', 'run_id'],
  ['spans', 'run_id'],
  ['traces', 'run_id'],
  ['agent_messages', 'flex_run_id'],
] as const satisfies readonly (readonly [keyof Tables, string])[]

export function createPruneStatements(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  templates: Templates = createTemplates('p'),
) {
  const deletes = parts.map(([table, column]) =>
    templates.list<object, string>((_, runIds) =>
      db.deleteFrom(table).where(sql.ref(column), 'in', runIds as never),
    ),
  )

  return {
    /** Runs that were created before a time: one that was last changed before it was created before it. */
    runsAfter({ before, tenant }: Prune, after: Walker | undefined, limit: number): Statement {
      let query = db
        .selectFrom('flex_runs')
        .select(['run_id', 'created_at', 'seq', 'status', 'updated_at'])
        .where('created_at', '<', before)
      if (tenant !== undefined) query = query.where('tenant', '=', tenant)
      if (after !== undefined) {
        query = query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('created_at', 'run_id'), '>', tuple(after.created_at, after.run_id)),
        )
      }
      return query.orderBy('created_at').orderBy('run_id').limit(limit).compile()
    },

    /** Deletes the head first: a concurrent append waits for its row, and then finds none. */
    deleteHeads: templates.list<object, string>((_, runIds) =>
      db.deleteFrom('flex_runs').where('run_id', 'in', runIds).returning(['run_id', 'seq']),
    ),

    deleteParts: (runIds: readonly string[]): Statement[] => deletes.map((make) => make({}, runIds)),

    /** Unused values, ordered by hash. A value that is locked by an append is skipped. */
    unusedValues: templates.query<{ after: string; limit: number }>((param) => {
      const query = db
        .selectFrom('flex_values')
        .select('flex_values.hash')
        .where('flex_values.hash', '>', param('after'))
        .where(({ not, exists }) => not(exists(usesOf(db).select('flex_value_uses.hash'))))
        .orderBy('flex_values.hash')
        .limit(param('limit'))
      return dialect.locks.forUpdateSkipLocked(query, 'flex_values')
    }),

    usedAmong: templates.list<object, string>((_, hashes) =>
      db.selectFrom('flex_value_uses').select('hash').where('hash', 'in', hashes),
    ),

    deleteValues: templates.list<object, string>((_, hashes) =>
      db.deleteFrom('flex_values').where('hash', 'in', hashes),
    ),

    /** Counts values that are unused, or only used by runs that would be deleted. */
    countUnused({ before, tenant }: Prune): Statement {
      const stays = (eb: ExpressionBuilder<Tables, 'flex_runs'>) =>
        eb.or([
          eb('flex_runs.run_id', 'is', null),
          eb('flex_runs.status', 'not in', terminalStatuses),
          eb('flex_runs.updated_at', '>=', before),
          ...(tenant === undefined ? [] : [eb('flex_runs.tenant', '!=', tenant)]),
        ])
      return db
        .selectFrom('flex_values')
        .select((eb) => eb.fn.countAll().as('count'))
        .where(({ not, exists }) =>
          not(
            exists(
              usesOf(db)
                .leftJoin('flex_runs', 'flex_runs.run_id', 'flex_value_uses.run_id')
                .select('flex_value_uses.hash')
                .where((eb) => stays(eb as never)),
            ),
          ),
        )
        .compile()
    },
  }
}

/** The uses of the value that the query around is about. */
function usesOf(db: Kysely<Tables>) {
  return db
    .selectFrom('flex_value_uses')
    .where('flex_value_uses.hash', '=', sql.ref<string>('flex_values.hash'))
}
