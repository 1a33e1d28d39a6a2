/**
 * Notifies other processes with NOTIFY. A notification only wakes readers, so a lost one loses no data. Changes are batched
 * while one message is in flight and are sent outside of the appends' transactions, which it would slow down.
 */

import type { Client, ClientConfig } from 'pg'
import { backoffMs, type RetryPolicy } from '../../../base/time/retry.ts'
import { createListeners, type Listeners } from '../shared/listeners.ts'
import type { RecordNews, RunChange } from '../sql/sql-driver.ts'
import type { Statement } from '../sql/steps.ts'
import { quoteName } from './load-pg.ts'

interface NotifyOptions {
  /** The driver. */
  readonly pg: typeof import('pg')
  readonly config: ClientConfig
  /** Sends one statement, which is its own transaction. */
  readonly send: (statement: Statement) => Promise<unknown>
  readonly channel: string
  /** Identifies this store, to ignore its own notifications. */
  readonly self: string
  /** Interval of the check that the connection is alive. */
  readonly answerMs: number
  /** Called when the connection does not answer. */
  readonly onSilent: () => void
}

interface Notifier extends Listeners {
  notifyOthers(changed: ReadonlyMap<string, RunChange>): void
  /** Changes of registrations, facets, webhooks and tokens. */
  readonly records: RecordNews
  close(): Promise<void>
}

/**
 * A run in a message, with the sum of `FREE` and `SETTLED`; older processes send only 1 or nothing. No run has the id '':
 * that entry says that records have changed.
 */
type Entry = [runId: string, seq: number, state?: number]

const FREE = 1
const SETTLED = 2

/** A message may have 8,000 bytes. */
const longestPayload = 7_000
const recordsId = ''
const reconnectPolicy: RetryPolicy = {
  max: Number.POSITIVE_INFINITY,
  baseMs: 50,
  factor: 2,
  capMs: 2_000,
  jitter: 'none',
}
/** What may have changed a little before a connection was seen to be lost. */
const overlapMs = 5_000

const notifyStatement = {
  name: 'proviso_notify',
  sql: `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`,
}

export function createNotifier(options: NotifyOptions): Notifier {
  const { config, channel, self } = options
  const listeners = createListeners()
  const recordListeners = createListeners()
  const notifyRecords = () => recordListeners.notify(recordsId, 0)
  const waiting = new Map<string, RunChange>()
  let sending: Promise<void> | undefined
  let client: Client | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let closed = false

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      const payload = JSON.stringify([self, ...take(waiting)])
      // Sent without waiting for the disk: a notification that is lost in a power failure has no reader to wake.
      await options
        .send({ ...notifyStatement, parameters: [channel, payload] })
        // A reader that misses a notification polls later.
        .catch(() => {})
    }
    sending = undefined
  }

  /** `since`: when the connection before was lost, by the database's clock. */
  async function listen(since?: number): Promise<void> {
    const next = new options.pg.Client(config)
    client = next
    let offset = 0
    let ready = false
    const lost = () => {
      // Until it is ready, the caller of `listen` handles a loss: reconnecting here as well would open two connections.
      if (client !== next || !ready) return
      client = undefined
      reconnect(Date.now() + offset - overlapMs)
    }
    next.on('error', lost)
    next.on('end', lost)
    next.on('notification', ({ payload = '[]' }) => {
      const [from, ...changed] = JSON.parse(payload) as [string, ...Entry[]]
      if (from !== self) notifyAll(changed, { listeners, notifyRecords })
    })
    await next.connect()
    await next.query(`listen ${quoteName(channel)}`)
    const { rows } = await next.query<{ now: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::double precision as now',
    )
    offset = (rows[0]?.now ?? Date.now()) - Date.now()
    if (since !== undefined) await notifyMissed(next, since, listeners)
    // Changes before it listened, too: the listeners compare the version.
    notifyRecords()
    ready = true
    keepPinging(next, () => client === next, options)
  }

  function reconnect(since: number | undefined, failures = 1): void {
    if (closed) return
    const connect = () =>
      listen(since).catch(() => {
        client?.end().catch(() => {})
        client = undefined
        reconnect(since, failures + 1)
      })
    // The first connection is opened at once.
    retry = setTimeout(connect, failures === 0 ? 0 : backoffMs(reconnectPolicy, failures))
    retry.unref()
  }

  const addTo =
    ({ add }: Listeners): Listeners['add'] =>
    (listener) => {
      if (client === undefined && retry === undefined) reconnect(undefined, 0)
      return add(listener)
    }
  const notifyOthers: Notifier['notifyOthers'] = (changed) => {
    addChanges(waiting, changed)
    sending ??= send()
  }
  return {
    add: addTo(listeners),
    notify: listeners.notify,
    clear() {
      listeners.clear()
      recordListeners.clear()
    },
    notifyOthers,
    records: {
      add: addTo(recordListeners),
      notifyOthers: () => notifyOthers(new Map([[recordsId, { seq: 0, isFree: false, isSettled: false }]])),
    },
    async close() {
      closed = true
      clearTimeout(retry)
      await sending
      const last = client
      client = undefined
      await last?.end().catch(() => {})
    },
  }
}

function addChanges(waiting: Map<string, RunChange>, changed: ReadonlyMap<string, RunChange>): void {
  for (const [runId, { seq, isFree, isSettled }] of changed) {
    const before = waiting.get(runId)
    waiting.set(runId, {
      seq: Math.max(seq, before?.seq ?? 0),
      isFree,
      isSettled: isSettled || before?.isSettled === true,
    })
  }
}

/** Pings the connection: a listener that only waits would not notice a dead peer. */
function keepPinging(
  listening: Client,
  isCurrent: () => boolean,
  { answerMs, onSilent }: Pick<NotifyOptions, 'answerMs' | 'onSilent'>,
): void {
  const asking = setInterval(() => {
    if (!isCurrent()) return clearInterval(asking)
    listening.query('select 1').catch(onSilent)
  }, answerMs)
  asking.unref()
}

interface Notified {
  readonly listeners: Listeners
  readonly notifyRecords: () => void
}

function notifyAll(changed: readonly Entry[], { listeners, notifyRecords }: Notified): void {
  for (const [runId, seq, state] of changed) {
    if (runId === recordsId) notifyRecords()
    else if (state === undefined) listeners.notify(runId, seq, false)
    else listeners.notify(runId, seq, (state & FREE) > 0, (state & SETTLED) > 0)
  }
}

/** Notifies of the runs that changed while no connection listened. */
async function notifyMissed(client: Client, since: number, listeners: Listeners): Promise<void> {
  const missed = await client.query<{ run_id: string; seq: number }>(
    'select run_id, seq from flex_runs where updated_at >= $1 limit 10000',
    [since],
  )
  // Any of them may be free.
  for (const { run_id, seq } of missed.rows) listeners.notify(run_id, seq, true)
}

/** Takes as many entries as fit into one message; an entry that is too long for any message is skipped. */
function take(waiting: Map<string, RunChange>): Entry[] {
  const taken: Entry[] = []
  let available = longestPayload
  for (const [runId, { seq, isFree, isSettled }] of waiting) {
    const entry: Entry = [runId, seq, (isFree ? FREE : 0) + (isSettled ? SETTLED : 0)]
    const length = Buffer.byteLength(JSON.stringify(entry)) + 1
    if (length > available && taken.length > 0) break
    waiting.delete(runId)
    if (length > available) continue
    available -= length
    taken.push(entry)
  }
  return taken
}
