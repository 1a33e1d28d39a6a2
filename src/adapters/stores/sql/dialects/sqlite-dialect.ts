/** SQLite: one writer, so no row locks, and the clock of the process. */
import { sql } from 'kysely'
import type { SqlDialect } from './sql-dialect.ts'

export const sqliteDialect: SqlDialect = {
  name: 'sqlite',
  begin: 'begin immediate',
  hasClock: false,
  columns: {
    key: 'text',
    // One tree instead of two: a commit writes half as many pages.
    clusterByKey: (table) => table.modifyEnd(sql`without rowid`),
    storeGenerated: (column) => column,
    pickCovering: (columns) => columns,
    // SQLite cannot change a key: the table is copied.
    async replacePrimaryKey(db, { table, createCopy }) {
      const copy = `${table}_copy`
      await createCopy(copy)
      await sql`insert into ${sql.table(copy)} select * from ${sql.table(table)}`.execute(db)
      await db.schema.dropTable(table).execute()
      await db.schema.alterTable(copy).renameTo(table).execute()
    },
  },
  locks: {
    forUpdate: (query) => query,
    forUpdateSkipLocked: (query) => query,
    forKeyShare: (query) => query,
    keepExistingValue: (conflict) => conflict.column('hash').doNothing(),
  },
  sampling: {
    // The plus keeps SQLite from reading the spans run by run, which takes far longer for a large tenant.
    runId: sql<string>`+spans.run_id`,
    toWholeNumber: (value) => sql<number>`cast(${value} as integer)`,
    readUsage: (name) => sql<number>`json_extract(flex_events.payload, ${sql.lit(`$.usage.${name}`)})`,
  },
  now: (param) => sql<number>`${param('now')}`,
  isMissingTable: (error) => /no such table/.test(String(error)),
}
