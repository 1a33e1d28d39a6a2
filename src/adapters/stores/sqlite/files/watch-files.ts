/**
 * Notices that the files of a database were deleted or replaced while they are open. SQLite keeps writing to files without a
 * name, and everything acknowledged from then on would be gone with the process.
 */
import { statSync } from 'node:fs'
import { ProvisoError } from '../../../../base/errors/error.ts'

export interface WatchedFiles {
  /** Throws `store/replaced` unless the names still lead to the files that were open at the start. */
  check(): void
  /** The same, at most every `intervalMs`. */
  checkNowAndThen(): void
}

/** Longest time until an operation that writes nothing notices. */
const intervalMs = 100

interface Identity {
  readonly path: string
  readonly device: number
  readonly inode: number
}

/** Call it while the files are open. `-wal` is the log, which holds the newest commits. */
export function watchFiles(path: string): WatchedFiles {
  const files = [path, `${path}-wal`].map(identify).filter((file) => file !== undefined)
  let checkedAt = performance.now()
  const check = () => {
    for (const file of files) {
      const now = identify(file.path)
      if (now === undefined) throw replaced(path, `${file.path} was deleted`)
      if (now.inode !== file.inode || now.device !== file.device)
        throw replaced(path, `${file.path} was replaced`)
    }
    checkedAt = performance.now()
  }
  return {
    check,
    checkNowAndThen() {
      if (performance.now() - checkedAt >= intervalMs) check()
    },
  }
}

function identify(path: string): Identity | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && { path, device: found.dev, inode: found.ino }
}

function replaced(path: string, reason: string): ProvisoError {
  return new ProvisoError(
    'store/replaced',
    `Cannot use the store at ${path}: ${reason} while it was open. Nothing is acknowledged until this is fixed`,
  )
}
