/** What a database brings to a SQL store: a connection that runs steps, and how it differs from the other. */
import type { Kysely } from 'kysely'
import type { Listeners } from '../shared/listeners.ts'
import type { SqlDialect } from './dialects/sql-dialect.ts'
import type { GroupCommitOptions } from './group-commit.ts'
import type { HotRuns } from './hot-runs.ts'
import type { Statement, Steps } from './steps.ts'
import type { EventTable, Tables } from './tables.ts'
import type { Write, WriteResult } from './writes.ts'

export interface SqlDriver {
  readonly dialect: SqlDialect
  /** Only builds queries. */
  readonly builder: Kysely<Tables>
  readonly listeners: Listeners
  readonly group: Pick<GroupCommitOptions<Write, WriteResult>, 'lanes' | 'most' | 'isOnesFault' | 'pace'>
  now(): number
  /** Runs single statements; `again` is true when an earlier try may have succeeded without an answer. */
  run<T>(steps: (again: boolean) => Steps<T>): Promise<T>
  /**
   * As `run`, for statements that find their rows by keys and do not wait for locks: those of many callers share a connection.
   * Default: `run`.
   */
  runByKey?<T>(steps: (again: boolean) => Steps<T>): Promise<T>
  /** Runs steps that begin and commit a transaction, and rolls back when they fail; `again` as above. */
  transaction<T>(steps: (again: boolean) => Steps<T>): Promise<T>
  /**
   * As `transaction`, but resolves when the transaction is committed. `onDurable` is called when it is on the disk, in the order
   * of the transactions, with an error if it cannot be acknowledged. Absent: `transaction` resolves when it is on the disk, or
   * the database decides.
   */
  transactionAhead?<T>(
    steps: (again: boolean) => Steps<T>,
    onDurable: (result: T, refusal: unknown) => void,
  ): Promise<CommittedTransaction<T>>
  /** The ledger of corrections was switched on, and its table is there. */
  readonly ledger?: boolean
  /** Only for databases with a single writer. */
  readonly hot?: HotRuns
  /** Only for databases with several writers: their rows are used if no process has written the run since. */
  readonly recent?: HotRuns
  /** Removes the bytes of deleted rows from the files; returns where some may remain, and what to do about it. */
  purge(): Promise<readonly string[]>
  /** Several processes use the database, so runs can be taken over. */
  readonly isShared?: boolean
  /** Only for databases with a single writer. */
  readonly chain?: CommitChain
  /** Called after a commit: notifies other processes, if possible. */
  notifyOthers(changed: ReadonlyMap<string, RunChange>): void
  /** Only for databases with several writers: notifies other processes of changed records, and subscribes to theirs. */
  readonly recordNews?: RecordNews
  /** Nothing more comes; what is under way need not be tried for long. */
  closing?(): void
  close(): Promise<void>
}

/** `whenDurable` resolves when it is on the disk and acknowledged; the database may delay that until it is called. */
interface CommittedTransaction<T> {
  readonly result: T
  whenDurable(): Promise<void>
}

export interface RecordNews {
  notifyOthers(): void
  add(listener: () => void): () => void
}

/** What a commit did to a run. `isFree`: no process has it, and it may be due. */
export interface RunChange {
  readonly seq: number
  readonly isFree: boolean
  readonly isSettled: boolean
}

export type WrittenEvents = Pick<EventTable, 'run_id' | 'seq' | 'events' | 'write_id'>

/** A deleted run, with the number of its events. */
export interface DeletedRun {
  readonly runId: string
  readonly seq: number
}

/** Counts commits in a hash chain, which is kept in the database. */
export interface CommitChain {
  /** Returns the link of a commit that adds events and so many runs; the last row of events carries it. */
  linkEvents(created: number, rows: readonly WrittenEvents[]): string
  /** Returns the statement that records a commit that deletes runs, to be sent right before it. */
  linkDeleted(deleted: readonly DeletedRun[]): Statement
  /** The commit has happened. */
  linked(): void
}
