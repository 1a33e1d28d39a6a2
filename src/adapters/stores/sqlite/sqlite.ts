/**
 * The SQLite store in one file: the default for one process. It uses a write-ahead log, synced before a write is
 * acknowledged; concurrent appends share one commit. One process writes, any number may read (`readOnly`).
 */
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { ProvisoError, toErrorMessage } from '../../../base/errors/error.ts'
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import type { Pace } from '../../../base/time/pace.ts'
import type { AnchorCheck, Store } from '../../../domain/ports/store.ts'
import { isProgrammingError } from '../shared/is-programming-error.ts'
import { createListeners } from '../shared/listeners.ts'
import { sqliteDialect } from '../sql/dialects/sqlite-dialect.ts'
import { createHotRuns } from '../sql/hot-runs.ts'
import { migrate } from '../sql/migrations/migrate.ts'
import type { SqlDriver } from '../sql/sql-driver.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import { ask, type Row, runSteps, type Steps } from '../sql/steps.ts'
import type { Tables } from '../sql/tables.ts'
import { openWith } from './drivers/drivers.ts'
import { type AnchorContent, readAnchor, toAnchorPath } from './files/anchor.ts'
import { createChainTable, probeStatement } from './files/commit-chain.ts'
import { type CommitGuard, guardCommits } from './files/commit-guard.ts'
import { compareAnchor, compareCounts } from './files/compare-anchor.ts'
import { probeDisk } from './files/probe-disk.ts'
import { type OpenSqlite, type SqliteConnection, sqliteBuilder } from './open-sqlite.ts'
import type { SqliteDriver } from './sqlite-address.ts'
import { createDurability, type Durability, type Work } from './sqlite-durability.ts'
import { getCode, rememberDamage, toOpenError, toStoreError } from './sqlite-errors.ts'
import { followFile } from './sqlite-follow.ts'

export interface SqliteStoreOptions {
  /** The file; it and its companions (`-wal`, `-shm`, `-writer`, `-anchor`) are made when they are missing. */
  readonly path: string
  /** Clock of leases and wake-ups. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
  /**
   * `FULL`: an acknowledged append survives a loss of power. `NORMAL`: it survives the death of the process, but the last
   * ones may be lost with the power; several times faster. Default `FULL`.
   */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /**
   * With `FULL`: appends that only start or end idempotent local functions (`canBeAhead`) are answered before they are on the
   * disk, which everything that leaves the process waits for. `false`: every append waits. Default true.
   */
  readonly ahead?: boolean
  /** Only follow what another process writes. Default false. */
  readonly readOnly?: boolean
  /** Keep a ledger of corrections (AROS-66), in a table of its own that is made with this. Default false. */
  readonly ledger?: boolean
  /** Schedules the answers to writes among the other work of an app, which passes its own. Default: one per store. */
  readonly pace?: Pace | undefined
  /**
   * The file that counts acknowledged commits, so that their loss is noticed; `false`: none. Default: the file `-anchor`
   * beside the database. On another disk it also survives the loss of this one.
   */
  readonly anchor?: string | false
  /** Opens a file that has lost acknowledged commits, and begins a new anchor. Default false. */
  readonly acceptLoss?: boolean
  /** How often a reader looks for changes while there are listeners, in milliseconds. Default 100. */
  readonly pollMs?: number
  /** `libsql` comes with the package; `node` is `node:sqlite` of Node 22.16 and newer. Default `libsql`. */
  readonly driver?: SqliteDriver
  /** Opens the file with a driver of your own. Default: by `driver`. */
  readonly open?: OpenSqlite
}

/** Cache size: SQLite's default of 2 MB is too small for some thousand runs. */
const cacheKiB = 16_384

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, readOnly = false, driver = 'libsql', open = openWith[driver] } = options
  if (path === '' || path.startsWith(':')) {
    throw new ProvisoError('option/invalid', `A SQLite store must have a file path, got "${path}"`, {
      hint: 'Use memory: for a store without a file',
    })
  }
  if (readOnly && !existsSync(path)) {
    throw new ProvisoError('store/unavailable', `Cannot read ${path}: the file does not exist`)
  }
  const unlock = readOnly ? () => {} : lockWriter(path, open)
  try {
    const connection = await openTables(options, open)
    try {
      return createStore(connection, options, unlock)
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    unlock()
    throw toOpenError(path, error)
  }
}

async function openTables(
  { path, synchronous = 'FULL', readOnly = false, ledger = false, clock = systemClock }: SqliteStoreOptions,
  open: OpenSqlite,
): Promise<SqliteConnection> {
  const connection = open(path)
  const bringUpToDate = () =>
    migrate(sqliteBuilder<unknown>(connection), { dialect: sqliteDialect, location: path, readOnly, ledger })
  try {
    if (readOnly) connection.execute('pragma query_only = on')
    else connection.execute('pragma journal_mode = wal')
    connection.execute(`pragma cache_size = -${cacheKiB}`)
    // Four times SQLite's default: pages that many commits change are written back once.
    connection.execute('pragma wal_autocheckpoint = 4000')
    connection.execute(`pragma synchronous = ${synchronous === 'NORMAL' ? 'normal' : 'full'}`)
    if (readOnly) await bringUpToDate()
    else {
      // In one transaction: kysely migrates SQLite table by table, and a process may die in between.
      connection.execute('begin immediate')
      await bringUpToDate()
      freeHeldRuns(connection)
      createChainTable(connection, clock.now())
      connection.execute('commit')
      // From here on the log is synced outside of SQLite.
      if (connection.sync && connection.syncNow) connection.execute('pragma synchronous = normal')
    }
    return connection
  } catch (error) {
    // Closing alone would keep the file locked until the connection is collected.
    if (connection.inTransaction) connection.execute('rollback')
    connection.close()
    throw error
  }
}

/**
 * Releases all leases on open: only one process writes, so the previous holder is gone and its leases need not expire.
 * Every such run becomes due, because it was in progress.
 */
function freeHeldRuns(connection: SqliteConnection): void {
  connection.execute(
    `update flex_runs set lease_owner = null, lease_until = null, due_at = case when due_at is null then null else 0 end
     where lease_owner is not null`,
  )
}

function createStore(connection: SqliteConnection, options: SqliteStoreOptions, unlock: () => void): Store {
  const {
    path,
    clock = systemClock,
    readOnly = false,
    pollMs = 100,
    ledger = false,
    ahead = true,
    pace,
  } = options
  const anchorPath = getAnchorPath(options)
  const guard = readOnly ? undefined : guardCommits(connection, { ...options, anchorPath })
  const durability = getDurability(connection, options, guard)
  const listeners = readOnly ? followFile(connection, pollMs) : createListeners()
  let closed = false
  const { toError, assertIntact } = rememberDamage(path)

  function run<T>(steps: Steps<T>): T {
    if (closed) throw closedError()
    try {
      return runSteps(steps, ({ sql, parameters, single }) => connection.execute(sql, parameters, single))
    } catch (error) {
      if (error instanceof ProvisoError || isProgrammingError(error)) throw error
      throw readOnly && getCode(error).startsWith('SQLITE_READONLY') ? onlyRead(path) : toError(error)
    }
  }

  const { onDisk, transaction, transactionAhead } = createWork({
    ...{ connection, guard, durability, run, toError },
    isClosed: () => closed,
  })

  const store = createSqlStore({
    dialect: sqliteDialect,
    builder: sqliteBuilder<Tables>(connection),
    listeners,
    group: { lanes: 1, most: 64, isOnesFault, pace },
    now: () => clock.now(),
    ledger,
    ...(!readOnly && { hot: createHotRuns() }),
    ...(guard && { chain: guard.chain }),
    run: (steps) => onDisk(() => run(steps(false))),
    transaction: (steps) => transaction(steps(false)),
    ...(ahead && transactionAhead && { transactionAhead }),
    purge: () => onDisk(() => purgeFile(connection, path), { writes: true }),
    // Readers in other processes poll the file.
    notifyOthers: () => {},
    async close() {
      closed = true
      await durability?.settled()
      guard?.close()
      connection.close()
      unlock()
    },
  })
  return {
    ...store,
    async checkAnchor() {
      // The anchor first: commits that come meanwhile are then in the file alone.
      const content = anchorPath === undefined ? undefined : readAnchor(anchorPath)
      return onDisk(() => checkAnchor(connection, content))
    },
    keyFile: `${path}-secret-key`,
    ...(guard && {
      probe: shareRunning(async () => {
        assertIntact()
        guard.checkFiles('now')
        await transaction(ask<Row>(probeStatement(clock.now())))
        await probeDisk(path).catch((cause: unknown) => {
          throw toStoreError(path, cause)
        })
      }),
    }),
  }
}

interface WorkParts {
  readonly connection: SqliteConnection
  readonly guard: CommitGuard | undefined
  readonly durability: Durability | undefined
  readonly run: <T>(steps: Steps<T>) => T
  readonly toError: (cause: unknown) => ProvisoError
  readonly isClosed: () => boolean
}

/** Work on the connection: single statements and transactions, checked before and acknowledged after they are on the disk. */
function createWork({ connection, guard, durability, run, toError, isClosed }: WorkParts) {
  /** Work that is done only while the files are the ones that were opened; errors are those of the store. */
  async function guarded<T, R>(work: () => T, perform: (checked: () => T) => R | Promise<R>): Promise<R> {
    if (isClosed()) throw closedError()
    try {
      guard?.checkFiles()
      return await perform(() => {
        guard?.checkContent()
        return work()
      })
    } catch (error) {
      throw explain(error)
    }
  }

  function explain(error: unknown): unknown {
    if (error instanceof ProvisoError || isProgrammingError(error)) return error
    return isClosed() ? closedError() : toError(error)
  }

  /** What the work wrote is on the disk, in the file with this name, and in the anchor when this resolves. */
  const onDisk = <T>(work: () => T, about?: Work) =>
    guarded(work, (checked) => {
      if (durability) return durability.whenDurable(checked, about)
      const result = checked()
      // SQLite itself has synced, unless `synchronous` is NORMAL. Single statements may write too.
      guard?.takeCommit()()
      return result
    })

  /** Runs the steps of a transaction, or undoes them. */
  function commit<T>(steps: Steps<T>): T {
    try {
      guard?.chain.prepare()
      return run(steps)
    } catch (error) {
      guard?.chain.forget()
      // What failed is undone, so that nothing of it is seen and the next write finds a clean connection.
      if (!isClosed() && connection.inTransaction) connection.execute('rollback')
      throw error
    }
  }

  const transaction = <T>(steps: Steps<T>) => onDisk(() => commit(steps), { writes: true })

  const transactionAhead: SqlDriver['transactionAhead'] =
    durability &&
    (async (steps, onDurable) => {
      const { result, whenDurable } = await guarded(
        () => commit(steps(false)),
        (checked) => durability.commit(checked, onDurable),
      )
      return { result, whenDurable: () => whenDurable().catch((error) => Promise.reject(explain(error))) }
    })

  return { onDisk, transaction, transactionAhead }
}

/** Calls that come while one is running get its result. */
function shareRunning<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}

/** All of one moment: what is written in between would be missing on one side. */
function checkAnchor(connection: SqliteConnection, content: AnchorContent | undefined): AnchorCheck {
  connection.execute('begin')
  try {
    const check = compareAnchor(content, connection)
    const problems = [...check.problems, ...compareCounts(connection)]
    return { ...check, ...(problems.length > 0 && { state: 'lost' }), problems }
  } finally {
    connection.execute('commit')
  }
}

/** Rewrites the file without the space of deleted rows, which still has their bytes, and empties the log, which does too. */
function purgeFile(connection: SqliteConnection, path: string): readonly string[] {
  connection.execute('vacuum')
  const [row] = connection.execute('pragma wal_checkpoint(truncate)')
  if (row?.['busy'] === 0) return []
  return [`${path}-wal still has them: another process is reading the store. Close it, then erase again`]
}

function getDurability(
  { sync, syncNow, execute }: SqliteConnection,
  { synchronous = 'FULL', readOnly = false }: SqliteStoreOptions,
  guard: CommitGuard | undefined,
): Durability | undefined {
  const canSync = sync && syncNow && synchronous === 'FULL' && !readOnly
  return canSync
    ? createDurability(
        { sync, syncNow, execute },
        guard && { onCommit: () => guard.takeCommit(), onCheckpoint: () => guard.rememberContent() },
      )
    : undefined
}

function getAnchorPath({ anchor, path }: SqliteStoreOptions): string | undefined {
  if (anchor === false) return undefined
  return anchor ?? toAnchorPath(realpathSync(path))
}

function closedError(): ProvisoError {
  return new ProvisoError('store/closed', 'The store is closed')
}

/** Errors of the values and not of the file. */
function isOnesFault(error: unknown): boolean {
  if (isProgrammingError(error)) return true
  return /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/.test(getCode((error as { cause?: unknown }).cause))
}

function onlyRead(path: string): ProvisoError {
  return new ProvisoError(
    'store/unavailable',
    `Cannot write to the store at ${path}: it is open for reading only`,
    {
      hint: 'Open it without readOnly to write',
    },
  )
}

/** Files that this process writes to, to distinguish a second store in this process from another process. */
const writing = new Set<string>()

/**
 * Ensures one writing process per file: acquires a lock or throws, and returns a function that releases it. A lock file next
 * to the database is held by an open transaction; the operating system releases the lock when the process ends.
 */
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
    hint: `Check ${getLock(file)}: only the writing process uses it, and it may be removed while no process writes`,
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

const getLock = (file: string) => `${file}-writer`

/**
 * Resolves the file behind links: SQLite follows links, and a lock next to each of them would let two processes write to one
 * file. The file is created if it is missing, because only then its location is certain.
 */
function realFile(path: string): string {
  try {
    // Not opened if it exists: closing any handle of a file releases the locks that this process has on it.
    // Readable by its owner alone; the log and the anchor get the mode of the file.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
    return realpathSync(path)
  } catch (cause) {
    throw cannotOpen(path, cause)
  }
}

function openLock(path: string, file: string, open: OpenSqlite): ReturnType<OpenSqlite> {
  try {
    return open(getLock(file))
  } catch (cause) {
    // A missing driver says what to install.
    throw cause instanceof ProvisoError ? cause : cannotOpen(path, cause)
  }
}

/** Usually the folder does not exist. */
function cannotOpen(path: string, cause: unknown): ProvisoError {
  return new ProvisoError('store/unavailable', `Cannot open ${path} with SQLite: ${toErrorMessage(cause)}`, {
    hint: 'Check that the folder exists, and that this account may write to it',
    cause,
  })
}

export type { OpenSqlite, SqliteConnection, SqliteDriver }
