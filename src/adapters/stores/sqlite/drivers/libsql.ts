/** The default SQLite driver. Its binary comes with the registry package: no compiler, no download. */
import { createRequire } from 'node:module'
import { missingPackage } from '../../../../base/errors/missing-package.ts'
import { busyTimeoutMs, createConnection, type DriverStatement, type OpenSqlite } from '../open-sqlite.ts'

/** What is used of libsql; its own types describe better-sqlite3. */
interface Statement extends Omit<DriverStatement, 'columns'> {
  readonly reader: boolean
  raw(): Statement
  columns(): readonly { readonly name: string }[]
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

export const openLibsql: OpenSqlite = (path) => {
  // Loaded when a file is opened: the package is CommonJS and brings a binary.
  const Database = loadLibsql()
  const database = new Database(path, { timeout: busyTimeoutMs })
  return createConnection(path, {
    prepare(sql) {
      const statement = database.prepare(sql)
      if (!statement.reader)
        return { columns: undefined, all: noRows, get: noRow, run: (values) => statement.run(values) }
      // Rows as lists: the driver takes twice as long to make objects.
      const reader = statement.raw()
      return {
        columns: statement.columns().map(({ name }) => name),
        all: (values) => reader.all(values),
        get: (values) => reader.get(values),
        run: (values) => reader.run(values),
      }
    },
    get inTransaction() {
      return database.inTransaction
    },
    close: () => database.close(),
  })
}

const noRows = () => []
const noRow = () => undefined
