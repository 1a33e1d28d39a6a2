/** The SQLite drivers by name. */
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ProvisoError } from '../../../../base/errors/error.ts'
import type { OpenSqlite } from '../open-sqlite.ts'
import type { SqliteDriver } from '../sqlite-address.ts'
import { openLibsql } from './libsql.ts'
import { openNodeSqlite } from './node-sqlite.ts'

export const openWith: Readonly<Record<SqliteDriver, OpenSqlite>> = {
  libsql: (path) => openOnly(path, 'libsql', openLibsql),
  node: (path) => openOnly(path, 'node', openNodeSqlite),
}

/** The driver that this process has used for a file. */
const used = new Map<string, SqliteDriver>()

/**
 * Refuses a second driver for a file in one process: each brings a SQLite of its own, file locks belong to the process, and
 * one of them would take the log of the other for its own and delete it.
 */
function openOnly(path: string, driver: SqliteDriver, open: OpenSqlite): ReturnType<OpenSqlite> {
  const before = existsSync(path) ? used.get(realpathSync(path)) : undefined
  if (before !== undefined && before !== driver)
    throw new ProvisoError(
      'option/invalid',
      `Cannot open ${path} with the driver ${driver}: this process has opened it with ${before}`,
      { hint: 'Use one driver for a file in a process' },
    )
  const connection = open(path)
  if (existsSync(path)) used.set(realpathSync(path), driver)
  return connection
}

/** The module to load, and the member with the constructor, in a thread that has no file of its own in the package. */
export function getThreadDriver(driver: SqliteDriver): { readonly module: string; readonly member?: string } {
  return driver === 'node'
    ? { module: 'node:sqlite', member: 'DatabaseSync' }
    : { module: createRequire(import.meta.url).resolve('libsql') }
}
