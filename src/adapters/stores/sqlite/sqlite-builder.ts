/** SQLite for kysely: its own dialect over our connection. It builds queries and runs migrations. */
import { Kysely, SqliteDialect } from 'kysely'
import type { SqliteConnection } from './open-sqlite.ts'

export function sqliteBuilder<T>(connection: SqliteConnection): Kysely<T> {
  return new Kysely<T>({
    dialect: new SqliteDialect({
      database: {
        prepare: (sql) => ({
          // Every statement may have rows, as far as kysely is concerned: those without give none.
          reader: true,
          // A transaction that begins by reading can fail when it comes to write; kysely knows only that kind.
          all: (parameters) => [...connection.execute(sql === 'begin' ? 'begin immediate' : sql, parameters)],
          run: () => ({ changes: 0, lastInsertRowid: 0 }),
          iterate: (parameters) => connection.execute(sql, parameters)[Symbol.iterator](),
        }),
        // The store closes the connection.
        close: () => {},
      },
    }),
  })
}
