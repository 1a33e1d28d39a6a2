/**
 * Makes commits durable before they are acknowledged. With `synchronous=FULL` SQLite waits for the disk inside a commit and
 * blocks the whole process. Here SQLite commits with `NORMAL`, then the write-ahead log is synced, and then the writer is
 * answered; reads wait as well, so that no data is shown that a power failure could undo. A fast disk is synced on this
 * thread, which is cheaper than a thread switch; a slow disk is synced on another thread, and the process continues.
 */
import type { SqliteConnection } from './open-sqlite.ts'

export interface Work {
  /** Whether the work certainly writes. */
  readonly writes: boolean
}

export interface Durability {
  /** Does the work when nothing is on its way to the disk; resolves when what it wrote is there. */
  whenDurable<T>(work: () => T, about?: Work): Promise<T>
  /** Resolves when nothing is on its way to the disk. */
  settled(): Promise<void>
}

type Syncing = Pick<SqliteConnection, 'execute'> & Required<Pick<SqliteConnection, 'sync' | 'syncNow'>>

/** Maximum sync time of a fast disk. */
const quickMs = 1
/** Smoothing factor of the average sync time: one slow sync among many has little weight. */
const weight = 0.1

interface DurabilityOptions {
  readonly now?: () => number
  /** Called after work that wrote; the function that it returns is called when that is on the disk, and may refuse to acknowledge it. */
  readonly onCommit?: () => () => void
  /** Called after a checkpoint outside of a commit. */
  readonly onCheckpoint?: () => void
}

export function createDurability(
  connection: Syncing,
  { now = () => performance.now(), onCommit, onCheckpoint }: DurabilityOptions = {},
): Durability {
  /** Average duration of a sync; unknown at first. */
  let usualMs = 2 * quickMs
  let underWay: Promise<void> | undefined
  /** Whether a sync failed: commits may be lost in a power failure until they are made durable in another way. */
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
        // After a failed sync the system drops dirty pages and reports the next sync as a success. A checkpoint writes the data again.
        owed = true
      }
    }
    checkpoint(connection)
    onCheckpoint?.()
    owed = false
  }

  /** Whether what was written is on the disk already. */
  const syncOnThread = (): boolean => {
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
      // Checked again after every wait: another writer may have come first.
      while (underWay || owed) await (underWay ? underWay.catch(() => {}) : start())
      if (writes) changes = undefined
      else changes ??= totalChanges(connection)
      const result = work()
      if (!writes) {
        const total = totalChanges(connection)
        if (total === changes) return result
        changes = total
      }
      const acknowledge = onCommit?.()
      if (!syncOnThread()) await start()
      acknowledge?.()
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
  if (row?.['busy'] !== 0) throw new Error('Cannot checkpoint the log: it is being read')
}
