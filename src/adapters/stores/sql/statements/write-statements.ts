/** Statements of an append: lock the heads, read the rows that will change, write. */
import { type Insertable, type Kysely, sql } from 'kysely'
import type { SqlDialect, Timed } from '../dialects/sql-dialect.ts'
import type { RunTable, Tables } from '../tables.ts'
import { alike, columns, keys } from './columns.ts'
import { createDocumentStatements } from './document-statements.ts'
import { createTemplates, type Templates } from './templates.ts'

export type WriteStatements = ReturnType<typeof createWriteStatements>

type HeadChange = Pick<RunTable, (typeof changingColumns)[number] | 'run_id'>

/** The columns of a head that every append changes, or may. */
const progressColumns = [
  'seq',
  'status',
  'plan_version',
  'wake_at',
  'updated_at',
  'satisfaction_score',
  'observed_satisfaction',
  'cost_usd',
  'tokens',
  'nodes_seq',
] as const satisfies readonly (keyof RunTable)[]

/** The columns of a head that an append can change. */
const changingColumns = [
  ...progressColumns,
  'lease_owner',
  'lease_until',
  'due_at',
] as const satisfies readonly (keyof RunTable)[]

/** The columns of a head that judging and projecting read. */
const lockedColumns = [
  'run_id',
  'tenant',
  'created_at',
  'schema_hash',
  'lease_epoch',
  ...changingColumns,
] as const satisfies readonly (keyof RunTable)[]

export type LockedRow = Pick<RunTable, (typeof lockedColumns)[number]> & Timed

export function createWriteStatements(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  templates: Templates = createTemplates('w', dialect.lists),
) {
  return {
    ...createHeadStatements(db, dialect, templates),
    ...createJournalStatements(db, dialect, templates),
    ...createProjectionStatements(db, templates),
    addDocument: createDocumentStatements(db, dialect, templates).add,
  }
}

/** Statements on the heads of runs: lock, insert, update. */
function createHeadStatements(db: Kysely<Tables>, dialect: SqlDialect, templates: Templates) {
  const buildUpdate = (names: readonly (typeof changingColumns)[number][]) =>
    templates.each<HeadChange>((param) =>
      db
        .updateTable('flex_runs')
        .set(Object.fromEntries(names.map((name) => [name, param(name)])))
        .where('run_id', '=', param('run_id')),
    )

  return {
    /** Whether the database has its own clock. */
    hasClock: dialect.hasClock,

    now: templates.one<Timed>((param) => db.selectNoFrom(dialect.now(param).as('now'))),

    /** Locks rows in the order of their ids, so that two batches never wait for each other (no deadlock). */
    lockHeads: templates.list<Timed, string>((param, runIds) => {
      const query = db
        .selectFrom('flex_runs')
        .select(lockedColumns)
        .select(dialect.now(param).as('now'))
        .where('run_id', 'in', runIds)
        .orderBy('run_id')
      return dialect.locks.forUpdate(query)
    }),

    /** Returns the inserted runs; an id that exists is not returned. */
    insertHeads: templates.rows<RunTable>(columns.flex_runs, alike.flex_runs, (placeholders) =>
      db
        .insertInto('flex_runs')
        .values(placeholders as unknown as RunTable[])
        .onConflict((conflict) => conflict.column('run_id').doNothing())
        .returning('run_id'),
    ),

    updateHeads: buildUpdate(changingColumns),

    /** For appends that change neither lease nor due time: setting them would make SQLite write their indexes again. */
    updateProgress: buildUpdate(progressColumns),

    /** No column of the other updates: it changes once in the life of a few runs. */
    removePlacement: templates.each<Pick<RunTable, 'run_id'>>((param) =>
      db
        .updateTable('flex_runs')
        .set({ placement: sql<null>`null` })
        .where('run_id', '=', param('run_id'))
        .where('placement', 'is not', null),
    ),
  }
}

/** Statements on events and on the large values that they refer to. */
function createJournalStatements(db: Kysely<Tables>, dialect: SqlDialect, templates: Templates) {
  return {
    /** Returns the id of the append that wrote an event: whether an append without an answer has happened. The event may not be the last of its row. */
    writeIdAt: templates.one<{ runId: string; seq: number }>((param) =>
      db
        .selectFrom('flex_events')
        .select('write_id')
        .where('run_id', '=', param('runId'))
        .where('seq', '>=', param('seq'))
        .orderBy('seq')
        .limit(1),
    ),

    insertEvents: templates.rows(columns.flex_events, alike.flex_events, (placeholders) =>
      db.insertInto('flex_events').values(placeholders as unknown as Tables['flex_events'][]),
    ),

    /** Keeps the values until the commit: a value that is about to be used must not be pruned (`prune.ts`). */
    knownValues: templates.list<object, string>((_, hashes) => {
      const query = db.selectFrom('flex_values').select('hash').where('hash', 'in', hashes)
      return dialect.locks.forKeyShare(query)
    }),

    insertValues: templates.rows(columns.flex_values, [], (placeholders) =>
      db
        .insertInto('flex_values')
        .values(placeholders as unknown as Tables['flex_values'][])
        .onConflict(dialect.locks.keepExistingValue),
    ),

    insertUses: templates.rows(columns.flex_value_uses, ['run_id'], (placeholders) =>
      db
        .insertInto('flex_value_uses')
        .values(placeholders as unknown as Tables['flex_value_uses'][])
        .onConflict((conflict) => conflict.columns(['hash', 'run_id']).doNothing()),
    ),
  }
}

/** Statements on the rows that are derived from events: read the rows that will change, upsert them. */
function createProjectionStatements(db: Kysely<Tables>, templates: Templates) {
  /** Upserts rows. Keys are not set again: SQLite would rewrite their index. */
  const upsert = <T extends keyof typeof keys>(table: T) =>
    templates.rows(columns[table], alike[table], (placeholders) =>
      db
        .insertInto(table)
        // Placeholders of all columns, in their order, pass for complete rows.
        .values(placeholders as unknown as Insertable<Tables[T]>[])
        .onConflict((conflict) =>
          conflict
            .columns([...keys[table]] as never)
            .doUpdateSet(
              () =>
                Object.fromEntries(
                  columns[table]
                    .filter((name) => !(keys[table] as readonly string[]).includes(name))
                    .map((name) => [name, sql.ref(`excluded.${name}`)]),
                ) as never,
            ),
        ),
    )

  return {
    someNodes: templates.list<{ runId: string }, string>((param, nodeIds) =>
      db
        .selectFrom('flex_plan_nodes')
        .selectAll()
        .where('run_id', '=', param('runId'))
        .where('node_id', 'in', nodeIds),
    ),

    someAsks: templates.list<{ runId: string }, string>((param, requestIds) =>
      db
        .selectFrom('hitl_requests')
        .selectAll()
        .where('run_id', '=', param('runId'))
        .where('request_id', 'in', requestIds),
    ),

    plan: templates.one<{ runId: string }>((param) =>
      db
        .selectFrom('flex_plan_snapshots')
        .select('plan')
        .where('run_id', '=', param('runId'))
        .orderBy('seq', 'desc')
        .limit(1),
    ),

    upsertNodes: upsert('flex_plan_nodes'),
    upsertSnapshots: upsert('flex_plan_snapshots'),
    upsertOutputs: upsert('flex_run_outputs'),
    upsertAsks: upsert('hitl_requests'),
    upsertAudit: upsert('hitl_events'),
    upsertMessages: upsert('agent_messages'),
    upsertSpans: upsert('spans'),
    upsertCorrections: upsert('correction_ledger'),
  }
}
