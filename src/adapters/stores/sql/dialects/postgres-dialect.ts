/** PostgreSQL: several writers, so row locks, and the clock of the server. */
import { sql } from 'kysely'
import { toNumberArray, toTextArray } from './postgres-arrays.ts'
import type { SqlDialect } from './sql-dialect.ts'

export const postgresDialect: SqlDialect = {
  name: 'postgres',
  begin: 'begin isolation level read committed',
  hasClock: true,
  columns: {
    key: sql`text collate "C"`,
    clusterByKey: (table) => table,
    storeGenerated: (column) => column.stored(),
    // The size of an index entry is limited.
    pickCovering: () => [],
    async replacePrimaryKey(db, { table, columns }) {
      await db.schema.alterTable(table).dropConstraint(`${table}_key`).execute()
      await db.schema
        .alterTable(table)
        .addPrimaryKeyConstraint(`${table}_key`, [...columns] as never[])
        .execute()
    },
  },
  locks: {
    forUpdate: (query) => query.forUpdate(),
    forUpdateSkipLocked: (query, table) => query.forUpdate(table as never).skipLocked(),
    forKeyShare: (query) => query.forKeyShare(),
    // Another process has just written it: an update without a change locks the row like a read.
    keepExistingValue: (conflict) =>
      conflict.column('hash').doUpdateSet((eb) => ({ hash: eb.ref('excluded.hash') })),
  },
  sampling: {
    runId: sql.ref<string>('spans.run_id'),
    toWholeNumber: (value) => sql<number>`floor(${value})`,
    readUsage: (name) =>
      sql<number>`(flex_events.payload::json -> 'usage' ->> ${sql.lit(name)})::double precision`,
  },
  lists: {
    text: { type: 'text[]', encode: toTextArray },
    number: { type: 'double precision[]', encode: toNumberArray },
  },
  // The start of the statement and not the moment of evaluation: only with that one can an index be used.
  now: () => sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::double precision`,
  // Code of an undefined table.
  isMissingTable: (error) => (error as { code?: unknown }).code === '42P01',
}
