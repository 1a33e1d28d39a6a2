/**
 * Decides when commits are brought to the disk, and holds back what depends on them. With `synchronous=FULL` SQLite waits
 * for the disk inside a commit and blocks the whole process. Here SQLite commits with `NORMAL`, and the write-ahead log is
 * synced outside of it: before a writer is answered, before a reader gets what it has read, and before listeners are
 * notified, so that nothing is shown that a power failure could undo.
 *
 * A writer may continue before that ("output commit", also "external synchrony"): its commit is in the log, so the death of
 * the process loses nothing, and it is synced with the next commit or read that waits for the disk, or after `aheadMs`. One
 * sync covers all commits before it. A fast disk is synced on this thread while a caller waits, which is cheaper than a thread
 * switch; a slow disk is synced on another thread, and the process continues.
 */
import type { SqliteConnection } from './open-sqlite.ts'

export interface Work {
  /** Whether the work certainly writes. */
  readonly writes: boolean
}

/** Work that is committed, and may not be on the disk yet. */
export interface Committed<T> {
  readonly result: T
  /** Resolves when it is on the disk; rejects if the disk fails, or the commit cannot be acknowledged. */
  whenDurable(): Promise<void>
}

/** Called when a commit is on the disk, in the order of the commits; with an error if it cannot be acknowledged. */
export type OnDurable<T> = (result: T, refusal: unknown) => void

export interface Durability {
  /** Does the work; resolves when what it wrote, or has read, is on the disk. */
  whenDurable<T>(work: () => T, about?: Work): Promise<T>
  /**
   * Does work that writes; resolves when it is committed. `onDurable` is called when it is on the disk, also if that takes
   * several tries.
   */
  commit<T>(work: () => T, onDurable?: OnDurable<T>): Promise<Committed<T>>
  /** Resolves when everything that was committed is on the disk, or the disk has failed. */
  settled(): Promise<void>
}

type Syncing = Pick<SqliteConnection, 'execute'> & Required<Pick<SqliteConnection, 'sync' | 'syncNow'>>

/** Maximum sync time of a fast disk. */
const quickMs = 1
/** Smoothing factor of the average sync time: one slow sync among many has little weight. */
const weight = 0.1
/** Longest time until a sync begins for a commit that no caller waits for; its listeners are notified after that sync. */
const aheadMs = 10

interface DurabilityOptions {
  readonly now?: () => number
  /** Called after work that wrote; the function that it returns is called when that is on the disk, and may refuse to acknowledge it. */
  readonly onCommit?: () => () => void
  /** Called after a checkpoint outside of a commit. */
  readonly onCheckpoint?: () => void
}

export function createDurability(connection: Syncing, options: DurabilityOptions = {}): Durability {
  const { onCommit } = options
  const queue = createCommitQueue()
  const syncs = createSyncs(connection, queue, options)
  /** Rows changed so far, as long as only reading was done since they were counted. */
  let changes: number | undefined

  /** Counts a commit, and holds back what follows from it. */
  function hold<T>(result: T, onDurable?: OnDurable<T>): Committed<T> {
    const acknowledge = onCommit?.()
    let refusal: unknown
    const commit = queue.add(() => {
      try {
        acknowledge?.()
      } catch (error) {
        refusal = error
      }
      onDurable?.(result, refusal)
    })
    return {
      result,
      async whenDurable() {
        await syncs.untilDurable(commit)
        if (refusal !== undefined) throw refusal
      },
    }
  }

  return {
    settled: syncs.settled,
    async whenDurable(work, { writes } = { writes: false }) {
      if (syncs.isOwed()) await syncs.untilIntact()
      if (writes) changes = undefined
      else changes ??= totalChanges(connection)
      const result = work()
      if (!writes) {
        const total = totalChanges(connection)
        if (total === changes) {
          // What it has read may be ahead of the disk.
          if (queue.isAhead()) await syncs.untilDurable(queue.commits())
          return result
        }
        changes = total
      }
      await hold(result).whenDurable()
      return result
    },
    async commit(work, onDurable) {
      if (syncs.isOwed()) await syncs.untilIntact()
      changes = undefined
      const committed = hold(work(), onDurable)
      syncs.syncSoon()
      return committed
    },
  }
}

/** Commits in order: how many there are, how many are on the disk, and what is held back until they are. */
interface CommitQueue {
  commits(): number
  durable(): number
  /** Whether there are commits that are not on the disk. */
  isAhead(): boolean
  /** Counts a commit, and returns its number; `publish` is called when it is on the disk. */
  add(publish: () => void): number
  /** So many commits are on the disk. */
  advance(covers: number): void
}

function createCommitQueue(): CommitQueue {
  let commits = 0
  let durable = 0
  let published = 0
  const held: (() => void)[] = []
  return {
    commits: () => commits,
    durable: () => durable,
    isAhead: () => durable < commits,
    add(publish) {
      held.push(publish)
      commits += 1
      return commits
    },
    advance(covers) {
      durable = Math.max(durable, covers)
      // One at a time: what is published may read, and so bring more commits to the disk.
      while (published < durable) {
        published += 1
        held.shift()?.()
      }
    },
  }
}

/** A sync on another thread. `covers`: the number of commits before it. */
interface Sync {
  readonly covers: number
  readonly done: Promise<void>
}

/** Syncs of the log. */
function createSyncs(
  connection: Syncing,
  queue: CommitQueue,
  { now = () => performance.now(), onCheckpoint }: DurabilityOptions,
) {
  const duration = createAverage()
  /** One at a time: the system reports a failure to one of two concurrent syncs only, and the other one succeeds. */
  let underWay: Sync | undefined
  /** Whether a sync failed: commits may be lost in a power failure until they are made durable in another way. */
  let owed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const cancelTimer = () => {
    clearTimeout(timer)
    timer = undefined
  }

  /** Schedules a sync for commits that no caller waits for. */
  const syncSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      // A failure is reported to the next caller.
      if (queue.isAhead() && !underWay && !owed) start().done.catch(() => {})
    }, aheadMs)
  }

  const start = (): Sync => {
    cancelTimer()
    const covers = queue.commits()
    const done = bringToDisk(covers).finally(() => {
      underWay = undefined
      if (queue.isAhead() && !owed) syncSoon()
    })
    underWay = { covers, done }
    return underWay
  }

  async function bringToDisk(covers: number): Promise<void> {
    if (!owed) {
      const began = now()
      try {
        await connection.sync()
        duration.add(now() - began)
        return queue.advance(covers)
      } catch {
        // After a failed sync the system drops dirty pages and reports the next sync as a success. A checkpoint writes the data again.
        owed = true
      }
    }
    checkpoint(connection)
    onCheckpoint?.()
    owed = false
    queue.advance(queue.commits())
  }

  /** Whether everything that was committed is on the disk now. */
  const syncOnThread = (): boolean => {
    if (duration.usualMs() > quickMs || owed) return false
    cancelTimer()
    const began = now()
    try {
      connection.syncNow()
    } catch {
      owed = true
      return false
    }
    duration.add(now() - began)
    queue.advance(queue.commits())
    return true
  }

  async function untilDurable(commit: number): Promise<void> {
    while (queue.durable() < commit) {
      if (underWay === undefined && syncOnThread()) return
      const { covers, done } = underWay ?? start()
      if (covers >= commit) await done
      // It began before this commit: another one follows, even if this one fails.
      else await done.catch(() => {})
    }
  }

  return {
    syncSoon,
    /** Resolves when so many commits are on the disk; rejects if a sync that covers them fails. */
    untilDurable,
    isOwed: () => owed,
    /** After a failed sync nothing is written or shown until everything is on the disk. */
    async untilIntact(): Promise<void> {
      // Checked again after every wait: another caller may have come first.
      while (owed) await (underWay ? underWay.done.catch(() => {}) : start().done)
    },
    async settled() {
      await untilDurable(queue.commits()).catch(() => {})
      // Others may have started one since.
      while (underWay) await underWay.done.catch(() => {})
      cancelTimer()
    },
  }
}

/** Average duration of a sync; long until it is known. */
function createAverage() {
  let usualMs = 2 * quickMs
  return {
    usualMs: () => usualMs,
    add(ms: number) {
      usualMs += weight * (ms - usualMs)
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
