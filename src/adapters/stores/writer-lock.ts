/**
 * One writing process per SQLite file. A file beside it is locked by a transaction that never ends; the system gives the
 * lock back when the process ends, however it ends.
 */
import { realpathSync } from 'node:fs'
import { ProvisoError } from '../../base/error.ts'
import type { OpenSqlite } from './open-sqlite.ts'

/** Files that this process writes to: whoever comes second should be told so, and not look for another process. */
const writing = new Set<string>()

/** Takes the lock or throws; returns the way to give it back. */
export function lockWriter(path: string, open: OpenSqlite): () => void {
  const lock = openLock(path, open)
  try {
    lock.execute('pragma busy_timeout = 0')
    lock.execute('begin exclusive')
  } catch (cause) {
    lock.close()
    throw writing.has(realPath(path)) ? heldHere(path, cause) : heldElsewhere(path, cause)
  }
  const held = realPath(path)
  writing.add(held)
  return () => {
    writing.delete(held)
    lock.execute('rollback')
    lock.close()
  }
}

function heldElsewhere(path: string, cause: unknown): ProvisoError {
  return new ProvisoError('store/locked', `Another process is writing to ${path}`, { cause })
}

function heldHere(path: string, cause: unknown): ProvisoError {
  return new ProvisoError('store/locked', `This process is writing to ${path} already`, {
    hint: 'Share the store that is open, close it first, or open this one with readOnly',
    cause,
  })
}

/** The lock is there now, whatever way leads to it. */
function realPath(path: string): string {
  return realpathSync(`${path}-writer`)
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
