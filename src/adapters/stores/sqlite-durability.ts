/**
 * When what was committed is on the disk. Commits of `synchronous=FULL` wait for it inside SQLite, and the whole process with
 * them. Here SQLite commits without (`NORMAL`), the log is synced on another thread, and whoever wrote is answered after that;
 * nobody reads in between, so that nothing is seen that a loss of power could take back.
 */
import type { SqliteConnection } from './open-sqlite.ts'

export interface Durability {
  /** Does the work when nothing is on its way to the disk; resolves when what it wrote is there. */
  whenDurable<T>(work: () => T): Promise<T>
  /** Resolves when nothing is on its way to the disk. */
  settled(): Promise<void>
}

type Syncing = Pick<SqliteConnection, 'execute'> & { sync(): Promise<void> }

export function createDurability(connection: Syncing): Durability {
  let underWay: Promise<void> | undefined
  /** A sync has failed: what was committed may be lost with the power until it is brought to the disk in another way. */
  let owed = false
  let changes = totalChanges(connection)

  const start = () => {
    underWay = bringToDisk().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  async function bringToDisk(): Promise<void> {
    if (!owed) {
      try {
        return await connection.sync()
      } catch {
        // The system forgets what it could not write, and calls the next sync a success. A checkpoint writes it anew, elsewhere.
        owed = true
      }
    }
    checkpoint(connection)
    owed = false
  }

  return {
    async settled() {
      while (underWay) await underWay.catch(() => {})
    },
    async whenDurable(work) {
      // Looked at again after every wait: somebody else may have come first.
      while (underWay || owed) await (underWay ? underWay.catch(() => {}) : start())
      const result = work()
      const now = totalChanges(connection)
      if (now === changes) return result
      changes = now
      await start()
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
  if (row?.['busy'] !== 0) throw new Error('The log could not be written back: somebody reads from it')
}
