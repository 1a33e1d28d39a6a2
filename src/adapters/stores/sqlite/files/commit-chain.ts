/**
 * A hash chain of the commits of a SQLite file. Every commit of the journal has a link: its number, the runs and events that
 * the file has after it, and a hash over the previous hash and the names of what was written. The anchor (`anchor.ts`) keeps
 * the newest link outside of the file, so that commits that vanish from the file are noticed.
 *
 * The link is a column of the commit's last row of events: a table of its own would be one more page to write per commit. Commits
 * without events, which delete runs, are rows of `proviso_commits`.
 */
import { hash, randomBytes } from 'node:crypto'
import type { CommitChain, DeletedRun, WrittenEvents } from '../../sql/sql-driver.ts'
import type { Row, Statement } from '../../sql/steps.ts'
import type { SqliteConnection } from '../open-sqlite.ts'

/** One link of the chain. */
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

/** Commits that are compared with the anchor. One that was not synced before a power failure is younger than this. */
const comparedCommits = 10_000

const table = 'proviso_commits'
const insert = `insert into ${table} (n, at, runs, events, head) values (?, ?, ?, ?, ?)`

/** Creates the column, and the table with its first row, inside the transaction that opens the file. */
export function createChainTable(connection: Pick<SqliteConnection, 'execute'>, now: number): void {
  connection.execute(
    `create table if not exists ${table}
     (n integer primary key, at integer not null, runs integer not null, events integer not null, head text not null)`,
  )
  const columns = connection.execute(`select name from pragma_table_info('flex_events')`)
  if (!columns.some(({ name }) => name === 'link'))
    connection.execute('alter table flex_events add column link text')
  if (connection.execute(`select n from ${table} limit 1`).length > 0) return
  const { runs, events } = countAll(connection)
  connection.execute(
    `insert into ${table} (n, at, runs, events, head)
     values (0, ?, ?, ?, ?)`,
    [now, runs, events, randomBytes(32).toString('hex')],
  )
}

/** Counts runs and events in the file. A row of the journal has one event or several; files of earlier versions have one each. */
export function countAll({ execute }: Pick<SqliteConnection, 'execute'>): { runs: number; events: number } {
  const columns = execute(`select name from pragma_table_info('flex_events')`)
  const events = columns.some(({ name }) => name === 'events') ? 'coalesce(sum(events), 0)' : 'count(*)'
  const [row] = execute(
    `select (select count(*) from flex_runs) as runs, (select ${events} from flex_events) as events`,
  )
  return { runs: Number(row?.['runs']), events: Number(row?.['events']) }
}

export interface SqliteChain extends CommitChain {
  /** Reads where the chain ends unless it is known; call it before a transaction, which may delete the events with the newest links. */
  prepare(): void
  /** Returns the newest commit that was linked since the last call, if there is one. */
  takeLinked(): LinkedCommit | undefined
  /** Reads the chain anew: whether the last transaction was committed is unknown. */
  forget(): void
}

export function createChain(connection: Pick<SqliteConnection, 'execute'>, now: () => number): SqliteChain {
  let last: Commit | undefined
  const readLast = () => {
    last ??= readNewest(connection)
    return last
  }
  let next: LinkedCommit | undefined
  let linked: LinkedCommit | undefined
  return {
    prepare: readLast,
    linkEvents(created, rows) {
      next = addEvents(readLast(), created, rows, now())
      return toLink(next)
    },
    linkDeleted(deleted) {
      next = subtractRuns(readLast(), deleted, now())
      const { n, at, runs, events, head } = next
      return { sql: insert, parameters: [n, at, runs, events, head] }
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

function addEvents(last: Commit, created: number, rows: readonly WrittenEvents[], at: number): LinkedCommit {
  const changed: Record<string, number> = Object.create(null)
  let names = last.head
  let count = last.events
  for (const { run_id, seq, events, write_id } of rows) {
    // The name of a write is unique: two different commits never have the same names.
    if (changed[run_id] === undefined) names += `\n${seq} ${write_id} ${run_id}`
    changed[run_id] = seq
    count += events
  }
  return { n: last.n + 1, at, runs: last.runs + created, events: count, head: toHead(names), changed }
}

function subtractRuns(last: Commit, deleted: readonly DeletedRun[], at: number): LinkedCommit {
  const changed = Object.fromEntries(deleted.map(({ runId }) => [runId, 0]))
  const events = deleted.reduce((rest, { seq }) => rest - seq, last.events)
  const head = toHead(JSON.stringify([last.head, at, ...Object.keys(changed)]))
  return { n: last.n + 1, at, runs: last.runs - deleted.length, events, head, changed }
}

/** Half of the hash: enough to distinguish histories, and stored with every commit. */
function toHead(names: string): string {
  return hash('sha256', names).slice(0, 32)
}

function toLink({ n, at, runs, events, head }: Commit): string {
  return `${n} ${at} ${runs} ${events} ${head}`
}

function parseLink(link: unknown): Commit {
  const [n, at, runs, events, head = ''] = String(link).split(' ')
  return { n: Number(n), at: Number(at), runs: Number(runs), events: Number(events), head }
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
  const [first] = connection.execute(`select * from ${table} where n = 0`)
  return first && { storeId: toCommit(first).head, newest: readNewest(connection) }
}

/** Returns `undefined` if the commit is too old to be compared, or its events were deleted since. */
export function readCommit(
  connection: Pick<SqliteConnection, 'execute'>,
  n: number,
  newest: Commit,
): Commit | undefined {
  if (newest.n - n > comparedCommits) return undefined
  const [row] = connection.execute(`select * from ${table} where n = ?`, [n])
  return row ? toCommit(row) : readLinks(connection, newest.n - n + 1).find((commit) => commit.n === n)
}

function readNewest(connection: Pick<SqliteConnection, 'execute'>): Commit {
  const [row] = connection.execute(`select * from ${table} order by n desc limit 1`)
  if (row === undefined) throw new Error(`The table ${table} is empty`)
  const deletion = toCommit(row)
  const [written] = readLinks(connection, 1)
  return written !== undefined && written.n > deletion.n ? written : deletion
}

/** Commits of events, newest first: rows are numbered in the order in which they were written. */
function readLinks(connection: Pick<SqliteConnection, 'execute'>, limit: number): Commit[] {
  return connection
    .execute('select link from flex_events where link is not null order by rowid desc limit ?', [limit])
    .map(({ link }) => parseLink(link))
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
