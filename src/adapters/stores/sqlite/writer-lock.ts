/**
 * Ensures one writing process per SQLite file. A lock file next to it is held by an open transaction; the operating system
 * releases the lock when the process ends.
 */
import { closeSync, openSync, realpathSync } from 'node:fs'
import { ProvisoError } from '../../../base/errors/error.ts'
import type { OpenSqlite } from './open-sqlite.ts'

/** Files that this process writes to, to distinguish a second store in this process from another process. */
const writing = new Set<string>()

/** Acquires the lock or throws; returns a function that releases it. */
export function lockWriter(path: string, open: OpenSqlite): () => void {
  const file = realFile(path)
  const lock = openLock(path, file, open)
  try {
    lock.execute('pragma busy_timeout = 0')
    lock.execute('begin exclusive')
  } catch (cause) {
    lock.close()
    if (!isBusy(cause)) throw noLock(path, file, cause)
    throw writing.has(file) ? heldHere(path, cause) : heldByOtherProcess(path, cause)
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

/** The lock is not held by another process: it cannot be used at all. */
function noLock(path: string, file: string, cause: unknown): ProvisoError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new ProvisoError('store/unavailable', `Cannot lock ${path} for writing: ${message}`, {
    hint: `Check ${lockOf(file)}: only the writing process uses it, and it may be removed while no process writes`,
    cause,
  })
}

function heldByOtherProcess(path: string, cause: unknown): ProvisoError {
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
 * Resolves the file behind links: SQLite follows links, and a lock next to each of them would let two processes write to one
 * file. The file is created if it is missing, because only then its location is certain.
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

/** Usually the folder does not exist. */
function cannotOpen(path: string, cause: unknown): ProvisoError {
  return new ProvisoError('store/unavailable', `Cannot open ${path} with SQLite`, {
    hint: 'Check that the folder exists and is writable',
    cause,
  })
}
