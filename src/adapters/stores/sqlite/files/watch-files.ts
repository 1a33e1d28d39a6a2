/**
 * Notices that the files of a database were deleted, replaced or overwritten while they are open. SQLite keeps writing to
 * files without a name, and everything acknowledged from then on would be gone with the process. Of an overwritten file it
 * keeps the pages in its cache and in the log.
 *
 * The database itself is written by checkpoints only, which run inside of commits. So a time or size that differs from the one
 * after the last commit of this process comes from another program.
 *
 * As long as the folder is unchanged, so are the names in it, and the files themselves are left alone: on systems with exact
 * times, asking for the times of a file makes its next write record a new time, which costs a third of a commit.
 */
import { realpathSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ProvisoError } from '../../../../base/errors/error.ts'
import { type Clock, systemClock } from '../../../../base/time/clock.ts'

interface WatchedFiles {
  /** Throws `store/replaced` unless the names still lead to the files that were open at the start. */
  check(): void
  /** The same whatever the time of the folder says: every `intervalMs`, and after a failure every time until it passes. */
  checkNowAndThen(): void
  /** Throws `store/replaced` if the database is another file, or another program has written to it. Call it right before work of this process. */
  checkContent(): void
  /** Call it after everything that may write to the database. */
  remember(): void
}

/** Longest time until an operation that writes nothing notices. */
const intervalMs = 100
/** A folder that changed this recently may change again without a new time: the clock of a file system ticks every 10 ms. */
const coarseMs = 50

/** Call it while the files are open. `-wal` is the log, which holds the newest commits. */
export function watchFiles(path: string, clock: Pick<Clock, 'now'> = systemClock): WatchedFiles {
  // Behind links: SQLite puts the log beside the file itself.
  const real = realpathSync(path)
  const files = [real, `${real}-wal`]
    .map((file) => ({ file, found: find(file) }))
    .filter(({ found }) => found)
  const folder = dirname(real)
  /** The folder as it was when the files were last found in it; `undefined` if it had just changed. */
  let unchanged: Stats | undefined
  let checkedAt = performance.now()
  /** Whether the last check failed: then every operation checks first, so that nothing refused is written. */
  let isBroken = false
  /** The database after the last commit. */
  let content = find(real)

  const checkFiles = () => {
    checkedAt = performance.now()
    isBroken = true
    for (const { file, found } of files) {
      const now = find(file)
      // Programs that copy files back can set the time of modification, but not this one.
      if (now === undefined) throw replaced(path, `${file} was deleted`)
      if (!isSame(now, found)) throw replaced(path, `${file} was replaced`)
    }
    isBroken = false
  }
  const check = () => {
    // Before the files are checked: a change in between is then noticed the next time.
    const now = find(folder)
    // Programs that copy files back can set the time of modification, but not this one.
    if (now === undefined || !isSame(now, unchanged) || now.ctimeMs !== unchanged?.ctimeMs) {
      checkFiles()
      unchanged = now && clock.now() - now.ctimeMs > coarseMs ? now : undefined
    }
  }
  return {
    check,
    checkNowAndThen() {
      if (isBroken || performance.now() - checkedAt >= intervalMs) checkFiles()
    },
    checkContent() {
      const now = find(real)
      if (!now || !isSame(now, files[0]?.found)) return checkFiles()
      if (now.mtimeMs !== content?.mtimeMs || now.size !== content.size)
        throw replaced(path, `${real} was changed by another program`)
    },
    remember() {
      const now = find(real)
      // Another file with this name is found by the next check.
      if (now && isSame(now, files[0]?.found)) content = now
    },
  }
}

function find(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

function isSame(one: Stats, other: Stats | undefined): boolean {
  return one.ino === other?.ino && one.dev === other.dev
}

function replaced(path: string, reason: string): ProvisoError {
  return new ProvisoError(
    'store/replaced',
    `Cannot use the store at ${path}: ${reason} while it was open. Nothing is acknowledged until this is fixed`,
  )
}
