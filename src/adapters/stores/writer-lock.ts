/**
 * One writing process per SQLite file. A file beside it is locked by a transaction that never ends; the system gives the
 * lock back when the process ends, however it ends.
 */
import { closeSync, openSync, realpathSync } from 'node:fs'
import { ProvisoError } from '../../base/error.ts'
import type { OpenSqlite } from './open-sqlite.ts'

/** Files that this process writes to: whoever comes second should be told so, and not look for another process. */
const writing = new Set<string>()

/** Takes the lock or throws; returns the way to give it back. */
export function lockWriter(path: string, open: OpenSqlite): () => void {
  const file = realFile(path)
  const lock = openLock(path, file, open)
  try {
    lock.execute('pragma busy_timeout = 0')
    lock.execute('begin exclusive')
  } catch (cause) {
    lock.close()
    if (!isBusy(cause)) throw noLock(path, file, cause)
    throw writing.has(file) ? heldHere(path, cause) : heldElsewhere(path, cause)
  }
  writing.add(file)
  return () => {
    writing.delete(file)
    lock.execute('rollback')
    lock.close()
  }
}

function isBusy(cause: unknown): boolean {
  return String((cause as { code?: unknown }).code).startsWith('SQLITE_BUSY')
}

/** Not held by anybody: it cannot be used at all. */
function noLock(path: string, file: string, cause: unknown): ProvisoError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new ProvisoError('store/unavailable', `${path} cannot be locked for writing: ${message}`, {
    hint: `Look at ${lockOf(file)}: it is made and used by the process that writes alone, and may be removed while none does`,
    cause,
  })
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

const lockOf = (file: string) => `${file}-writer`

/**
 * The file itself, whatever way leads to it: SQLite follows links, and a lock beside each of them would let two processes
 * write to one file. It is made if it is missing, for only then is it certain where it is.
 */
function realFile(path: string): string {
  try {
    closeSync(openSync(path, 'a'))
    return realpathSync(path)
  } catch (cause) {
    throw cannotOpen(path, cause)
  }
}

function openLock(path: string, file: string, open: OpenSqlite): ReturnType<OpenSqlite> {
  try {
    return open(lockOf(file))
  } catch (cause) {
    throw cannotOpen(path, cause)
  }
}

/** Mostly a folder that is not there. */
function cannotOpen(path: string, cause: unknown): ProvisoError {
  return new ProvisoError('store/unavailable', `SQLite cannot open ${path}`, {
    hint: 'See that the folder exists and may be written to',
    cause,
  })
}
