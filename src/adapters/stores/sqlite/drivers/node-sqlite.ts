/**
 * The SQLite driver that is part of Node 22.16 and newer (`node:sqlite`): nothing to install, and a statement costs less
 * than with libsql. Node calls it experimental and prints a warning, so it is used only where it is asked for.
 */
import { ProvisoError } from '../../../../base/errors/error.ts'
import { busyTimeoutMs, createConnection, type OpenSqlite } from '../open-sqlite.ts'

/** What is used of `node:sqlite`; the types of Node 20 do not have it. */
interface Statement {
  columns(): readonly { readonly name: string }[]
  setReturnArrays(enabled: boolean): void
  all(...parameters: readonly unknown[]): readonly (readonly unknown[])[]
  get(...parameters: readonly unknown[]): readonly unknown[] | undefined
  run(...parameters: readonly unknown[]): unknown
}

interface Database {
  prepare(sql: string): Statement
  readonly isTransaction: boolean
  close(): void
}

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { timeout: number }) => Database
  readonly StatementSync: { readonly prototype: Partial<Statement> }
}

/** Throws `option/invalid` where this Node has no `node:sqlite`, or one without the functions that are used. */
function loadNodeSqlite(): NodeSqlite {
  // Not an import: bundlers and Node 20 would fail to resolve it.
  const found = process.getBuiltinModule?.('node:sqlite') as unknown as NodeSqlite | undefined
  if (found?.StatementSync.prototype.setReturnArrays === undefined)
    throw new ProvisoError(
      'option/invalid',
      `Cannot open a SQLite store with node:sqlite: Node ${process.versions.node} does not have it`,
      { hint: 'Use Node 22.16 or newer, or sqlite:PATH for the driver that comes with Proviso' },
    )
  return found
}

export const openNodeSqlite: OpenSqlite = (path) => {
  const { DatabaseSync } = loadNodeSqlite()
  const database = withCodes(() => new DatabaseSync(path, { timeout: busyTimeoutMs }))
  return createConnection(path, {
    prepare(sql) {
      const statement = withCodes(() => database.prepare(sql))
      const columns = statement.columns().map(({ name }) => name)
      statement.setReturnArrays(true)
      return {
        columns: columns.length === 0 ? undefined : columns,
        all: (values) => withCodes(() => statement.all(...values)),
        get: (values) => withCodes(() => statement.get(...values)),
        run: (values) => withCodes(() => statement.run(...values)),
      }
    },
    get inTransaction() {
      return database.isTransaction
    },
    close: () => database.close(),
  })
}

/** Names of SQLite's result codes that the store distinguishes. */
const codeNames: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  25: 'SQLITE_RANGE',
  26: 'SQLITE_NOTADB',
}

/** Gives errors the code that other drivers give them: `node:sqlite` has one code for all, and the number apart. */
function withCodes<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { errcode } = error as { errcode?: unknown }
    // The lowest byte is the primary code.
    const name = typeof errcode === 'number' ? codeNames[errcode & 0xff] : undefined
    if (name !== undefined) Object.assign(error as Error, { code: name })
    throw error
  }
}
