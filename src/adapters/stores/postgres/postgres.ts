/**
 * The PostgreSQL store, for several processes. Every append locks the row of its run, so sequence numbers have no gaps and
 * one writer wins; leases use the database's clock and carry an epoch (fencing token). After a lost connection the store
 * reconnects and retries: every write has an id, by which it is found in the journal if only its answer was lost.
 */

import { randomBytes } from 'node:crypto'
import { Kysely, PostgresDialect } from 'kysely'
import type { ClientConfig, Pool } from 'pg'
import { ProvisoError } from '../../../base/errors/error.ts'
import type { Pace } from '../../../base/time/pace.ts'
import { backoffMs, type RetryPolicy } from '../../../base/time/retry.ts'
import type { Store } from '../../../domain/ports/store.ts'
import { isProgrammingError } from '../shared/is-programming-error.ts'
import { postgresDialect } from '../sql/dialects/postgres-dialect.ts'
import { createHotRuns } from '../sql/hot-runs.ts'
import { migrate } from '../sql/migrations/migrate.ts'
import type { SqlDriver } from '../sql/sql-driver.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import { ask, runStepsLater } from '../sql/steps.ts'
import type { Tables } from '../sql/tables.ts'
import { loadPg, quoteName } from './load-pg.ts'
import {
  createConnection,
  createSockets,
  fromRow,
  isLost,
  isOnesFault,
  isRace,
  isSilent,
  isStarting,
  type Sockets,
  toParameter,
} from './postgres-connection.ts'
import { createNotifier } from './postgres-notify.ts'

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. The database must be in UTF-8. */
  readonly url: string
  /** The schema that has the tables; made when it is missing. Default `public`. */
  readonly schema?: string
  /** Connections for lists and other queries; one more finds rows by their keys. Default 3. */
  readonly readers?: number
  /** Connections for writing; each has one transaction under way. Of several, one is for new runs. Default 3. */
  readonly writers?: number
  /** How long work is tried again while the server is away, in milliseconds. Default 30,000. */
  readonly retryMs?: number
  /**
   * Timeout of one answer of the server, in milliseconds. Default 10,000. The server cancels statements that take longer; a
   * connection that is silent beyond that is half open, and is replaced.
   */
  readonly answerMs?: number
  /** Reads only: creates and migrates no tables, and the server refuses changes. Default false. */
  readonly readOnly?: boolean
  /** Keep a ledger of corrections (AROS-66), in a table of its own that is made with this. Default false. */
  readonly ledger?: boolean
  /** Schedules the answers to writes among the other work of an app, which passes its own. Default: one per store. */
  readonly pace?: Pace | undefined
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, schema = 'public', readers = 3, retryMs = 30_000, answerMs = 10_000 } = options
  const { readOnly = false, ledger = false } = options
  const location = redactUrl(url)
  const sockets = createSockets()
  const config = toClientConfig({ url, schema, answerMs, readOnly, sockets })
  const pg = await loadPg()
  const pool = new pg.Pool({ ...config, max: readers })
  // An idle connection that is lost is replaced when it is needed; without a listener it would end the process.
  pool.on('error', () => {})
  const builder = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const retry = createRetry({ retryMs, answerMs, location, sockets })
  try {
    // Wait for a server that is starting up; an address that does not answer is a configuration error.
    await retry.run(
      () =>
        prepareTables(builder as unknown as Kysely<unknown>, {
          // Other processes may migrate first, one after the other.
          config: { ...config, statement_timeout: retryMs, query_timeout: retryMs },
          schema,
          location,
          readOnly,
          ledger,
        }),
      isStarting,
    )
  } catch (error) {
    await pool.end()
    throw error
  }
  const driver = createDriver({ options, pg, config, pool, builder, sockets, retry })
  return { ...createSqlStore(driver), probe: () => driver.run(() => ask(writeProbe)).then(() => {}) }
}

/** Writes a name that has expired already, and is deleted with the others. */
const writeProbe = {
  sql: `insert into once_names (name_hash, name, body, take_id, taken_at, expires_at) values ('probe', '', 'null', '', 0, 0)
    on conflict (name_hash) do update set taken_at = once_names.taken_at + 1`,
  parameters: [],
}

interface ConfigParts {
  readonly url: string
  readonly schema: string
  readonly answerMs: number
  readonly readOnly: boolean
  readonly sockets: Sockets
}

function toClientConfig({ url, schema, answerMs, readOnly, sockets }: ConfigParts): ClientConfig {
  return {
    connectionString: url,
    application_name: 'proviso',
    stream: sockets.stream,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    // A healthy server cancels a statement that takes too long; a connection that is silent even then is lost.
    statement_timeout: answerMs,
    query_timeout: answerMs + answerGraceMs,
    // A transaction whose client is gone must not hold its locks, and the server must notice that it is.
    idle_in_transaction_session_timeout: 10_000,
    options: `-c search_path=${escapeOption(quoteName(schema))} -c synchronous_commit=on ${readOnly ? '-c default_transaction_read_only=on ' : ''}${keepAlives}`,
  }
}

/** Repeats within `retryMs`; the number of tries is not limited. */
const reconnectPolicy: RetryPolicy = {
  max: Number.POSITIVE_INFINITY,
  baseMs: 20,
  factor: 2,
  capMs: 500,
  jitter: 'none',
}

interface Retry {
  /** Repeats work while the server is away; `again` is true when an earlier try may have succeeded without an answer. */
  run<T>(work: (again: boolean) => Promise<T>, isAway?: (error: unknown) => boolean): Promise<T>
  /** Shortens retries while closing: do not wait long for an unavailable server. */
  shorten(): void
}

interface RetryParts {
  readonly retryMs: number
  readonly answerMs: number
  readonly location: string
  readonly sockets: Sockets
}

function createRetry({ retryMs, answerMs, location, sockets }: RetryParts): Retry {
  let closesAt = Number.POSITIVE_INFINITY
  return {
    async run(work, isAway = isLost) {
      const until = Date.now() + retryMs
      for (let again = false, failures = 1; ; failures++) {
        try {
          return await work(again)
        } catch (error) {
          if (error instanceof ProvisoError || isProgrammingError(error)) throw error
          const last = Math.min(until, closesAt)
          const delay = backoffMs(reconnectPolicy, failures)
          if (!(isAway(error) || isRace(error)) || Date.now() + delay > last)
            throw unavailable(location, error)
          again ||= isLost(error)
          if (isSilent(error)) sockets.cutSilent(answerMs)
          await new Promise((resolve) => setTimeout(resolve, delay))
        }
      }
    },
    shorten() {
      closesAt = Math.min(closesAt, Date.now() + goodbyeMs)
    },
  }
}

/** PostgreSQL overwrites the space of deleted rows when it needs it; rewriting the tables would block all runs. */
const postgresResidue =
  'PostgreSQL overwrites the bytes of deleted rows later. To remove them now, run VACUUM FULL on the tables while no process uses them; archived WAL and replicas keep them as long as they are kept'

interface DriverParts {
  readonly options: PostgresStoreOptions
  readonly pg: typeof import('pg')
  readonly config: ClientConfig
  /** Connections for reading. */
  readonly pool: Pool
  readonly builder: Kysely<Tables>
  readonly sockets: Sockets
  readonly retry: Retry
}

function createDriver({ options, pg, config, pool, builder, sockets, retry }: DriverParts): SqlDriver {
  const { schema = 'public', writers = 3, answerMs = 10_000, ledger = false, pace } = options
  const byKey = { ...config, options: `${config.options} ${indexesOnly}` }
  const lanes = Array.from({ length: writers }, () => createConnection(byKey))
  const lookups = createConnection(byKey, { gathers: true })
  const notifier = createNotifier({
    pg,
    config,
    send: (statement) => lookups.transaction((execute) => execute([statement])),
    channel: `proviso_${schema}`,
    self: randomBytes(9).toString('base64url'),
    answerMs,
    onSilent: () => sockets.cutSilent(answerMs),
  })
  let closed = false

  return {
    dialect: postgresDialect,
    builder,
    listeners: notifier,
    group: { lanes: writers, most: 128, isOnesFault, pace },
    recent: createHotRuns(),
    isShared: true,
    // The database has its own clock.
    now: () => 0,
    ledger,
    run: (steps) =>
      retry.run((again) => {
        if (closed) throw new ProvisoError('store/closed', 'The store is closed')
        return runStepsLater(steps(again), (statements) =>
          Promise.all(
            statements.map(async ({ sql, name, parameters }) => {
              const values = parameters.map(toParameter)
              const { rows } = await pool.query({ text: sql, values, ...(name !== undefined && { name }) })
              return rows.map(fromRow)
            }),
          ),
        )
      }),
    runByKey: (steps) =>
      retry.run((again) => {
        if (closed) throw new ProvisoError('store/closed', 'The store is closed')
        return lookups.transaction((execute) => runStepsLater(steps(again), execute))
      }),
    async transaction(steps) {
      const lane = lanes.pop() ?? createConnection(config)
      try {
        return await retry.run((again) => lane.transaction((execute) => runStepsLater(steps(again), execute)))
      } finally {
        lanes.push(lane)
      }
    },
    purge: async () => [postgresResidue],
    notifyOthers: notifier.notifyOthers,
    recordNews: notifier.records,
    closing: retry.shorten,
    async close() {
      closed = true
      // A half-open connection does not answer a goodbye.
      sockets.cutAllAfter(goodbyeMs)
      await notifier.close()
      await Promise.all([lookups, ...lanes].map((connection) => connection.end()))
      await pool.end()
    },
  }
}

/**
 * A statement that is prepared while a table is small is planned for a small table: it would then read the whole table
 * for every write, until the statistics of the server change. What finds its rows by keys always takes the index instead; the
 * compiler is off because a plan without an index would count as expensive.
 */
const indexesOnly = ['seqscan', 'hashjoin', 'mergejoin']
  .map((name) => `-c enable_${name}=off`)
  .concat('-c jit=off')
  .join(' ')

const answerGraceMs = 1_000
const goodbyeMs = 2_000
/** The server's side: a client that has vanished is noticed after about 25 seconds. */
const keepAlives = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

interface Preparing {
  readonly config: ClientConfig
  readonly schema: string
  readonly location: string
  readonly readOnly: boolean
  readonly ledger: boolean
}

/**
 * Prepares the tables under an advisory lock: one process migrates, the others wait and find them ready. A reader only checks
 * them: a command of another version must not migrate the store of a running fleet.
 */
async function prepareTables(
  db: Kysely<unknown>,
  { config, schema, location, readOnly, ledger }: Preparing,
): Promise<void> {
  if (readOnly) return migrate(db, { dialect: postgresDialect, location, schema, readOnly, ledger })
  const pg = await loadPg()
  const lock = new pg.Client(config)
  lock.on('error', () => {})
  await lock.connect()
  try {
    const { rows } = await lock.query<{ encoding: string }>(
      `select current_setting('server_encoding') as encoding, pg_advisory_lock(hashtext('proviso migrations'))`,
    )
    if (rows[0]?.encoding !== 'UTF8') {
      throw new ProvisoError(
        'option/invalid',
        `The database at ${location} is in ${rows[0]?.encoding}, not in UTF8`,
        {
          hint: `Create it with: create database … encoding 'UTF8' template template0`,
        },
      )
    }
    await lock.query(`create schema if not exists ${quoteName(schema)}`)
    await migrate(db, { dialect: postgresDialect, location, schema, ledger })
  } finally {
    await lock.end()
  }
}

/** The address without the password. */
function redactUrl(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `postgres://${host}${pathname}`
  } catch {
    throw new ProvisoError('option/invalid', 'The address of a PostgreSQL store must be a URL', {
      hint: 'Write postgres://user:password@host:5432/database',
    })
  }
}

/** Spaces and backslashes in an option of the start-up message. */
function escapeOption(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll(' ', '\\ ')
}

const correctAccount = 'Correct the user and the password in the address, or create the role'

/** What to do about an error of the server or the network, by its code. */
const hints: Readonly<Record<string, string>> = {
  '28000': correctAccount,
  '28P01': correctAccount,
  '3D000': 'Create the database, or correct its name in the address',
  '42501': 'Grant the user the rights on the database and its schema',
  ECONNREFUSED: 'Check host and port of the address, and that the PostgreSQL server runs',
  ENOTFOUND: 'Correct the host in the address',
}

function unavailable(location: string, cause: unknown): ProvisoError {
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = (cause as { code?: unknown } | undefined)?.code
  const hint = typeof code === 'string' && Object.hasOwn(hints, code) ? hints[code] : undefined
  return new ProvisoError('store/unavailable', `Cannot use PostgreSQL at ${location}: ${message}`, {
    ...(hint !== undefined && { hint }),
    cause,
  })
}
