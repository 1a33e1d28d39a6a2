/**
 * A hash chain of the commits of a SQLite file. Every commit of events adds a row: its number, the runs and events that the
 * file has after it, and a hash over the previous hash and the new events. The anchor (`anchor.ts`) keeps the newest row
 * outside of the file, so that commits that vanish from the file are noticed.
 */
import { hash, randomBytes } from 'node:crypto'
import type { CommitChain, CommitChange } from '../../sql/sql-driver.ts'
import type { Row, Statement } from '../../sql/steps.ts'
import type { SqliteConnection } from '../open-sqlite.ts'

/** One row of the chain. */
export interface Commit {
  /** Counts from 1; commit 0 is the creation of the chain, and its hash identifies the file. */
  readonly n: number
  readonly at: number
  /** Runs and events in the file after this commit. */
  readonly runs: number
  readonly events: number
  readonly head: string
}

/** A commit, and the runs that it changed with their last sequence number; 0 if it deleted the run. */
export interface LinkedCommit extends Commit {
  readonly changed: Readonly<Record<string, number>>
}

/** Older rows are deleted. An anchor that was not synced before a power failure is younger than this. */
const keptCommits = 10_000
const trimEvery = 64

const table = 'proviso_commits'
const insert = `insert into ${table} (n, at, runs, events, head) values (?, ?, ?, ?, ?)`

/** Creates the table with its first row, inside the transaction that opens the file. */
export function createChainTable(connection: Pick<SqliteConnection, 'execute'>, now: number): void {
  connection.execute(
    `create table if not exists ${table}
     (n integer primary key, at integer not null, runs integer not null, events integer not null, head text not null)`,
  )
  if (connection.execute(`select n from ${table} limit 1`).length > 0) return
  connection.execute(
    `insert into ${table} (n, at, runs, events, head)
     values (0, ?, (select count(*) from flex_runs), (select count(*) from flex_events), ?)`,
    [now, randomBytes(32).toString('hex')],
  )
}

export interface SqliteChain extends CommitChain {
  /** Returns the newest commit that was linked since the last call, if there is one. */
  takeLinked(): LinkedCommit | undefined
  /** Reads the chain anew: whether the last transaction was committed is unknown. */
  forget(): void
}

export function createChain(connection: Pick<SqliteConnection, 'execute'>, now: () => number): SqliteChain {
  let last: Commit | undefined
  let next: LinkedCommit | undefined
  let linked: LinkedCommit | undefined
  return {
    link(change) {
      last ??= readNewest(connection)
      next = nextCommit(last, change, now())
      const { n, at, runs, events, head } = next
      const added: Statement = { sql: insert, parameters: [n, at, runs, events, head] }
      return n % trimEvery === 0 ? [added, trim(n)] : [added]
    },
    linked() {
      if (next === undefined) return
      last = next
      linked = next
      next = undefined
    },
    takeLinked() {
      const taken = linked
      linked = undefined
      return taken
    },
    forget() {
      last = undefined
      next = undefined
      linked = undefined
    },
  }
}

function trim(n: number): Statement {
  return { sql: `delete from ${table} where n > 0 and n < ?`, parameters: [n - keptCommits] }
}

function nextCommit(last: Commit, { created, deleted, rows }: CommitChange, at: number): LinkedCommit {
  const parts = [last.head]
  const changed: Record<string, number> = Object.create(null)
  for (const { run_id, seq, type, payload } of rows) {
    parts.push(run_id, String(seq), type, payload)
    changed[run_id] = seq
  }
  let events = last.events + rows.length
  for (const { runId, seq } of deleted) {
    parts.push(runId, 'deleted')
    changed[runId] = 0
    events -= seq
  }
  return {
    n: last.n + 1,
    at,
    runs: last.runs + created - deleted.length,
    events,
    // JSON separates the parts unambiguously.
    head: hash('sha256', JSON.stringify(parts)),
    changed,
  }
}

/** The chain as it is in the file. */
export interface StoredChain {
  /** Identifies the file: the hash of the row with which the chain began. */
  readonly storeId: string
  readonly newest: Commit
}

/** Returns `undefined` for a file of a version that kept no chain. */
export function readChain(connection: Pick<SqliteConnection, 'execute'>): StoredChain | undefined {
  if (connection.execute(`select name from sqlite_master where name = '${table}'`).length === 0)
    return undefined
  const first = readCommit(connection, 0)
  return first && { storeId: first.head, newest: readNewest(connection) }
}

export function readCommit(connection: Pick<SqliteConnection, 'execute'>, n: number): Commit | undefined {
  const [row] = connection.execute(`select * from ${table} where n = ?`, [n])
  return row && toCommit(row)
}

function readNewest(connection: Pick<SqliteConnection, 'execute'>): Commit {
  const [row] = connection.execute(`select * from ${table} order by n desc limit 1`)
  if (row === undefined) throw new Error(`The table ${table} is empty`)
  return toCommit(row)
}

function toCommit(row: Row): Commit {
  return {
    n: Number(row['n']),
    at: Number(row['at']),
    runs: Number(row['runs']),
    events: Number(row['events']),
    head: String(row['head']),
  }
}

/** Writes to the first row, which changes nothing that is read. */
export function probeStatement(now: number): Statement {
  return { sql: `update ${table} set at = ? where n = 0`, parameters: [now] }
}
