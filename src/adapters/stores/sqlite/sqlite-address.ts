/** Addresses of SQLite files: `sqlite:PATH` (libsql) and `sqlite+node:PATH` (`node:sqlite`). Loads no driver. */

export type SqliteDriver = 'libsql' | 'node'

export interface SqliteFile {
  readonly path: string
  readonly driver: SqliteDriver
}

/** Returns the file and the driver of an address; `undefined` for stores of another kind. */
export function parseSqliteAddress(address: string): SqliteFile | undefined {
  const [, node, path] = /^sqlite(\+node)?:(.+)$/s.exec(address) ?? []
  return path === undefined ? undefined : { path, driver: node === undefined ? 'libsql' : 'node' }
}
