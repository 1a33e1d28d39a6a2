/** A connection that pipelines statements and reconnects after a loss. */

import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { Client, ClientConfig } from 'pg'
import { fromColumn, toColumn } from '../shared/column-text.ts'
import { isProgrammingError } from '../shared/is-programming-error.ts'
import type { Row, Statement } from '../sql/steps.ts'
import { loadPg } from './load-pg.ts'

type Execute = (statements: readonly Statement[]) => Promise<readonly (readonly Row[])[]>

interface PostgresConnection {
  /**
   * Runs work that begins and commits a transaction. All of it goes to one session: when that is lost, the rest of the work
   * fails instead of continuing in a new one, outside of the transaction. After a failure the next work gets a new session.
   */
  transaction<T>(work: (execute: Execute) => Promise<T>): Promise<T>
  end(): Promise<void>
}

/** Part of every client, and not of its types. */
interface Wired {
  readonly connection: { readonly stream: Pick<Writable, 'cork' | 'uncork'> }
}

/**
 * `gathers`: what different callers send within one turn of the event loop leaves together, which costs a fraction of the
 * calls to the system; for single statements.
 */
export function createConnection(
  config: ClientConfig,
  { gathers = false }: { readonly gathers?: boolean } = {},
): PostgresConnection {
  const send = gathers ? sendGathered : sendTogether
  let session: Promise<Client> | undefined

  function open(): Promise<Client> {
    const opening = connect(config, () => forget(opening))
    return opening
  }

  /** A session ends later than it is replaced: its end must not take the new one away in the middle of a transaction. */
  function forget(old: Promise<Client>): void {
    if (session === old) session = undefined
  }

  return {
    async transaction(work) {
      session ??= open()
      const used = session
      try {
        const client = await used
        return await work((statements) => send(client, statements))
      } catch (error) {
        // The server rolls back when the session ends, and a new session has nothing left over.
        forget(used)
        // It is broken or in an unknown state: how it ends does not matter.
        used.then((client) => client.end()).catch(() => {})
        throw error
      }
    },
    async end() {
      const last = session
      session = undefined
      await last?.then((client) => client.end()).catch(() => {})
    },
  }
}

/** Sends all at once; returns the rows of each, or throws the first error when all have come back. */
function sendTogether(client: Client, statements: readonly Statement[]): ReturnType<Execute> {
  // The driver writes each statement by itself; held back, they leave in one piece.
  const { stream } = (client as unknown as Wired).connection
  stream.cork()
  const answers = statements.map((statement) => query(client, statement))
  stream.uncork()
  return receiveAll(answers)
}

/** The same, together with what else is sent in this turn of the event loop. */
function sendGathered(client: Client, statements: readonly Statement[]): ReturnType<Execute> {
  const { stream } = (client as unknown as Wired).connection
  stream.cork()
  setImmediate(() => stream.uncork())
  return receiveAll(statements.map((statement) => query(client, statement)))
}

async function receiveAll(answers: readonly Promise<readonly Row[]>[]): ReturnType<Execute> {
  const settled = await Promise.allSettled(answers)
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

async function connect(config: ClientConfig, onLost: () => void): Promise<Client> {
  const { Client: PgClient } = await loadPg()
  // `pipeline` is newer than its types.
  const client = new PgClient({ ...config, pipeline: true } as ClientConfig)
  // Without a listener a lost connection would end the process; the driver rejects the pending queries.
  client.on('error', onLost)
  client.on('end', onLost)
  try {
    await client.connect()
    return client
  } catch (error) {
    onLost()
    throw error
  }
}

async function query(client: Client, { sql, name, parameters }: Statement): Promise<readonly Row[]> {
  const values = parameters.map(toParameter)
  const result = await client.query<Row>({ text: sql, values, ...(name !== undefined && { name }) })
  // A transaction in which something failed answers a commit with a rollback.
  if (sql === 'commit' && result.command !== 'COMMIT') throw new Error('The transaction was rolled back')
  return result.rows.map(fromRow)
}

export function toParameter(value: unknown): unknown {
  return typeof value === 'string' ? toColumn(value) : value
}

export function fromRow(row: Row): Row {
  const own = row as Record<string, unknown>
  for (const column in own) {
    const value = own[column]
    if (typeof value === 'string') own[column] = fromColumn(value)
  }
  return row
}

/**
 * Tracks every socket to a PostgreSQL server. A half-open connection (a pulled cable, a firewall timeout) reports no error for
 * a long time; connections that receive nothing can be closed here, so that callers do not wait for them.
 */
export interface Sockets {
  /** Makes the socket of a new connection. */
  readonly stream: () => Socket
  /** Cuts the connections on which nothing has been heard for so many milliseconds. */
  cutSilent(ms: number): void
  /** Closes all remaining connections after this many milliseconds; the timer does not keep the process alive. */
  cutAllAfter(ms: number): void
}

export function createSockets(now: () => number = () => performance.now()): Sockets {
  /** Time of the last data received, per socket. */
  const lastReceived = new Map<Socket, number>()
  return {
    stream() {
      const socket = new Socket()
      lastReceived.set(socket, now())
      socket.on('data', () => lastReceived.set(socket, now()))
      socket.once('close', () => lastReceived.delete(socket))
      return socket
    },
    cutSilent(ms) {
      const since = now() - ms
      for (const [socket, at] of lastReceived) if (at <= since) socket.destroy()
    },
    cutAllAfter(ms) {
      const cut = () => {
        for (const socket of lastReceived.keys()) socket.destroy()
      }
      setTimeout(cut, ms).unref()
    },
  }
}

// Classifies PostgreSQL errors: connection lost, conflict, or invalid data.

/** SQLSTATE, or the code of a system error. */
function getCode(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

const lostCodes =
  /^(08...|57P0[1-5]|57014|25P03|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOENT|EAI_AGAIN)$/
/** Errors of the driver itself have no code. */
const lostMessages =
  /Connection terminated|connection error and is not queryable|Client was closed|read timeout|timeout exceeded when trying to connect|timeout expired/

/** The connection is lost: it is unknown whether the statement took effect. */
export function isLost(error: unknown): boolean {
  return lostCodes.test(getCode(error)) || (error instanceof Error && lostMessages.test(error.message))
}

/** The server did not answer in time. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && /read timeout/.test(error.message)
}

/** The server is starting up. */
export function isStarting(error: unknown): boolean {
  return getCode(error) === '57P03'
}

/** A deadlock or a serialization failure: nothing took effect, a retry may succeed. */
export function isRace(error: unknown): boolean {
  return /^40(001|P01)$/.test(getCode(error))
}

/** The values are at fault, not the server: data, constraint, limit. */
export function isOnesFault(error: unknown): boolean {
  if (isProgrammingError(error)) return true
  return /^(22|23|54)...$/.test(getCode((error as { cause?: unknown }).cause))
}
