/**
 * One writing process per SQLite file. A file beside it is locked by a transaction that never ends; the system gives the
 * lock back when the process ends, however it ends.
 */
import { ProvisoError } from '../../base/error.ts'
import type { OpenSqlite } from './open-sqlite.ts'

/** Takes the lock or throws; returns the way to give it back. */
export function lockWriter(path: string, open: OpenSqlite): () => void {
  const lock = open(`${path}-writer`)
  try {
    lock.execute('pragma busy_timeout = 0')
    lock.execute('begin exclusive')
  } catch (cause) {
    lock.close()
    throw new ProvisoError('store/locked', `Another process is writing to ${path}`, { cause })
  }
  return () => {
    lock.execute('rollback')
    lock.close()
  }
}
