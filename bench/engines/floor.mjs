/** No engine: one row per run committed to SQLite, to show what the disk itself takes. */
import { createRequire } from 'node:module'
import { join } from 'node:path'

export async function openFloor(folder) {
  const Database = createRequire(import.meta.url)('libsql')
  const db = new Database(join(folder, 'floor.sqlite'))
  db.exec('pragma journal_mode = wal; pragma synchronous = full; create table t (x text)')
  const insert = db.prepare('insert into t values (?)')
  return {
    name: 'one commit of one row',
    settings: 'SQLite (libsql), WAL, synchronous=FULL',
    run: async () => void insert.run(['x'.repeat(200)]),
    close: async () => db.close(),
  }
}
