/**
 * When what was committed is on the disk. Commits of `synchronous=FULL` wait for it inside SQLite, and the whole process with
 * them. Here SQLite commits without (`NORMAL`), the log is synced afterwards, and whoever wrote is answered after that; nobody
 * reads in between, so that nothing is seen that a loss of power could take back. A disk that is quick is waited for in place,
 * which costs less than the way to another thread and back; a slow one is waited for there, and the process goes on.
 */
import type { SqliteConnection } from './open-sqlite.ts'

export interface Work {
  /** It does not only read, that is certain. */
  readonly writes: boolean
}

export interface Durability {
  /** Does the work when nothing is on its way to the disk; resolves when what it wrote is there. */
  whenDurable<T>(work: () => T, about?: Work): Promise<T>
  /** Resolves when nothing is on its way to the disk. */
  settled(): Promise<void>
}

type Syncing = Pick<SqliteConnection, 'execute'> & Required<Pick<SqliteConnection, 'sync' | 'syncNow'>>

/** A disk that syncs within this time is quick. */
const quickMs = 1
/** How much of what is known of the disk each sync changes: one slow sync among many says nothing. */
const weight = 0.1

export function createDurability(
  connection: Syncing,
  now: () => number = () => performance.now(),
): Durability {
  /** How long a sync takes, on average; nobody knows at first. */
  let usualMs = 2 * quickMs
  let underWay: Promise<void> | undefined
  /** A sync has failed: what was committed may be lost with the power until it is brought to the disk in another way. */
  let owed = false
  /** Rows changed so far, as long as only reading was done since they were counted. */
  let changes: number | undefined

  const start = () => {
    underWay = bringToDisk().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  const timed = (began: number) => {
    usualMs += weight * (now() - began - usualMs)
  }

  async function bringToDisk(): Promise<void> {
    if (!owed) {
      const began = now()
      try {
        await connection.sync()
        return timed(began)
      } catch {
        // The system forgets what it could not write, and calls the next sync a success. A checkpoint writes it anew, elsewhere.
        owed = true
      }
    }
    checkpoint(connection)
    owed = false
  }

  /** Whether what was written is on the disk already. */
  const syncInPlace = (): boolean => {
    if (usualMs > quickMs) return false
    const began = now()
    try {
      connection.syncNow()
    } catch {
      owed = true
      return false
    }
    timed(began)
    return true
  }

  return {
    async settled() {
      while (underWay) await underWay.catch(() => {})
    },
    async whenDurable(work, { writes } = { writes: false }) {
      // Looked at again after every wait: somebody else may have come first.
      while (underWay || owed) await (underWay ? underWay.catch(() => {}) : start())
      if (writes) changes = undefined
      else changes ??= totalChanges(connection)
      const result = work()
      if (!writes) {
        const total = totalChanges(connection)
        if (total === changes) return result
        changes = total
      }
      if (!syncInPlace()) await start()
      return result
    },
  }
}

/** Rows that this connection has changed since it was opened; transactions that were rolled back count too, which is harmless. */
function totalChanges(connection: Syncing): number {
  return Number(connection.execute('select total_changes() as n', [], true)[0]?.['n'])
}

/** The log is written back into the database, which is synced by SQLite itself. */
function checkpoint(connection: Syncing): void {
  const [row] = connection.execute('pragma wal_checkpoint(truncate)')
  if (row?.['busy'] !== 0) throw new Error('The log could not be written back: it is being read')
}
