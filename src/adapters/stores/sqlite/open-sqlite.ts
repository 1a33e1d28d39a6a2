/**
 * The connection to a SQLite file, whatever the driver: `drivers/libsql.ts` has its binary in the registry package,
 * `drivers/node-sqlite.ts` is part of newer versions of Node. Another one needs only the few functions of `DriverDatabase`.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { Kysely, SqliteDialect } from 'kysely'
import { fromColumn, toColumn } from '../shared/column-text.ts'
import type { Row } from '../sql/steps.ts'

/** One connection that answers at once. Statements are prepared once and kept. */
export interface SqliteConnection {
  /** Runs one statement and gives its rows, if it has any; `single` promises that there is one at most. */
  execute(sql: string, parameters?: readonly unknown[], single?: boolean): readonly Row[]
  readonly inTransaction: boolean
  /**
   * Brings what was committed without a sync (`synchronous=NORMAL`) to the disk, off this thread. Absent: a connection that
   * cannot, and syncs with every commit instead.
   */
  sync?(): Promise<void>
  /** The same on this thread. */
  syncNow?(): void
  close(): void
}

export type OpenSqlite = (path: string) => SqliteConnection

/** A prepared statement of a driver. Rows are lists of cells in the order of `columns`. */
export interface DriverStatement {
  /** Absent: it returns no rows. */
  readonly columns: readonly string[] | undefined
  all(parameters: readonly unknown[]): Iterable<Cells>
  /** The first row. */
  get(parameters: readonly unknown[]): Cells | undefined
  run(parameters: readonly unknown[]): unknown
}

type Cells = readonly unknown[]

/** A database that a driver has opened. */
export interface DriverDatabase {
  prepare(sql: string): DriverStatement
  readonly inTransaction: boolean
  close(): void
}

/** Other processes may hold the file for the moment of a checkpoint or of opening it. */
export const busyTimeoutMs = 5_000

/** The connection on a database that a driver has opened: keeps statements, escapes texts, syncs the log. */
export function createConnection(path: string, database: DriverDatabase): SqliteConnection {
  // Apart, because a statement that has returned all rows keeps their values for `get`.
  const statements = { one: new Map<string, DriverStatement>(), all: new Map<string, DriverStatement>() }
  // Opened with the first sync: the log is made with the first write.
  let log: DiskSync | undefined
  const logFile = () => {
    log ??= syncFile(`${path}-wal`)
    return log
  }

  function prepared(sql: string, known: Map<string, DriverStatement>): DriverStatement {
    let found = known.get(sql)
    if (found === undefined) {
      found = database.prepare(sql)
      // Built queries have few forms, but a cache without a limit is a leak.
      if (known.size >= 500) known.clear()
      known.set(sql, found)
    }
    return found
  }

  return {
    execute(sql, parameters = [], single = false) {
      const statement = prepared(sql, single ? statements.one : statements.all)
      const { columns } = statement
      const values = parameters.map((value) => (typeof value === 'string' ? toColumn(value) : value))
      if (columns === undefined) {
        statement.run(values)
        return []
      }
      if (!single) return Array.from(statement.all(values), (cells) => toRow(cells, columns))
      const cells = statement.get(values)
      return cells === undefined ? [] : [toRow(cells, columns)]
    },
    get inTransaction() {
      return database.inTransaction
    },
    sync: () => logFile().sync(),
    syncNow: () => logFile().syncNow(),
    close() {
      statements.one.clear()
      statements.all.clear()
      log?.close()
      database.close()
    },
  }
}

function toRow(cells: Cells, columns: readonly string[]): Row {
  const row: Record<string, unknown> = {}
  for (let index = 0; index < columns.length; index++) {
    const cell = cells[index]
    row[columns[index] as string] = typeof cell === 'string' ? fromColumn(cell) : cell
  }
  return row
}

/** Syncs a file to the disk with its own handle. */
interface DiskSync {
  /** Resolves when everything written to the file before the call is on the disk; runs on another thread. */
  sync(): Promise<void>
  /** The same, blocking this thread. */
  syncNow(): void
  close(): void
}

function syncFile(path: string): DiskSync {
  // Not for writing; but some systems sync only what may be written to.
  const file = openSync(path, 'r+')
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(file, (error) => {
          if (error) reject(error)
          else resolve()
        })
      }),
    syncNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  }
}

/** SQLite for kysely: its own dialect over our connection. It builds queries and runs migrations. */
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
