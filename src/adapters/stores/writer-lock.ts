/**
 * One writing process per SQLite file. A file beside it is locked by a transaction that never ends; the system gives the
 * lock back when the process ends, however it ends.
 */
import { ProvisoError } from '../../base/error.ts'
import type { OpenSqlite } from './open-sqlite.ts'

/** Takes the lock or throws; returns the way to give it back. */
export function lockWriter(path: string, open: OpenSqlite): () => void {
  const lock = openLock(path, open)
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

/** Where even the lock cannot be made, the store cannot be opened: mostly a folder that is not there. */
function openLock(path: string, open: OpenSqlite): ReturnType<OpenSqlite> {
  try {
    return open(`${path}-writer`)
  } catch (cause) {
    throw new ProvisoError('store/unavailable', `SQLite cannot open ${path}`, {
      hint: 'See that the folder exists and may be written to',
      cause,
    })
  }
}
