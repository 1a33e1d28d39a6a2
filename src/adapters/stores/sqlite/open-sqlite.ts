/**
 * The one file that knows a SQLite driver. `libsql` has its binary in the registry package; another driver (`node:sqlite`,
 * `better-sqlite3`) needs only the few functions of `SqliteConnection`.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Kysely, SqliteDialect } from 'kysely'
import { missingPackage } from '../../../base/errors/missing-package.ts'
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

/** What is used of libsql; its own types describe better-sqlite3. */
interface Statement {
  readonly reader: boolean
  raw(): Statement
  columns(): readonly { readonly name: string }[]
  all(parameters: readonly unknown[]): Cells[]
  get(parameters: readonly unknown[]): Cells | undefined
  run(parameters: readonly unknown[]): unknown
}

type Cells = readonly unknown[]

interface Prepared {
  readonly statement: Statement
  /** Absent: it returns no rows. */
  readonly columns: readonly string[] | undefined
}

interface Libsql {
  new (
    path: string,
    options: { timeout: number },
  ): { prepare(sql: string): Statement; readonly inTransaction: boolean; close(): void }
}

/** Throws `option/invalid` with the install command where the binary of this platform was not installed. */
function loadLibsql(): Libsql {
  try {
    return createRequire(import.meta.url)('libsql')
  } catch (cause) {
    throw missingPackage({ name: 'libsql', version: '0.5', purpose: 'open a SQLite store' }, cause)
  }
}

/** Other processes may hold the file for the moment of a checkpoint or of opening it. */
const busyTimeoutMs = 5_000

export const openLibsql: OpenSqlite = (path) => {
  // Loaded when a file is opened: the package is CommonJS and brings a binary.
  const Database = loadLibsql()
  const database = new Database(path, { timeout: busyTimeoutMs })
  // Apart, because a statement that has returned all rows keeps their values for `get`.
  const statements = { one: new Map<string, Prepared>(), all: new Map<string, Prepared>() }
  // Opened with the first sync: the log is made with the first write.
  let log: DiskSync | undefined
  const logFile = () => {
    log ??= syncFile(`${path}-wal`)
    return log
  }

  function prepared(sql: string, known: Map<string, Prepared>): Prepared {
    let found = known.get(sql)
    if (found === undefined) {
      const statement = database.prepare(sql)
      // Rows as lists: the driver takes twice as long to make objects.
      const columns = statement.reader ? statement.columns().map(({ name }) => name) : undefined
      found = { statement: columns === undefined ? statement : statement.raw(), columns }
      // Built queries have few forms, but a cache without a limit is a leak.
      if (known.size >= 500) known.clear()
      known.set(sql, found)
    }
    return found
  }

  return {
    execute(sql, parameters = [], single = false) {
      const { columns, statement } = prepared(sql, single ? statements.one : statements.all)
      const values = parameters.map((value) => (typeof value === 'string' ? toColumn(value) : value))
      if (columns === undefined) {
        statement.run(values)
        return []
      }
      if (!single) return statement.all(values).map((cells) => toRow(cells, columns))
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
