/**
 * NOTIFY between processes: it only wakes, so nothing is lost when it is. What is to be told is gathered while one message
 * is under way and is sent outside of the appends' transactions, which it would slow down.
 */
import { Client, type ClientConfig, escapeIdentifier, type Pool } from 'pg'
import { createListeners, type Listeners } from './listeners.ts'

interface NotifyOptions {
  readonly config: ClientConfig
  readonly pool: Pool
  readonly channel: string
  /** Names this store among those that listen. */
  readonly self: string
  /** How often it is asked whether the connection still listens. */
  readonly answerMs: number
  /** It does not answer. */
  readonly onSilent: () => void
}

export interface Notifier extends Listeners {
  /** Runs, and the sequence numbers that they have grown to. */
  tellOthers(changed: ReadonlyMap<string, number>): void
  close(): Promise<void>
}

/** A message may have 8,000 bytes. */
const longestPayload = 7_000
const reconnectMs = { first: 50, most: 2_000 }
/** What may have changed a little before a connection was seen to be lost. */
const overlapMs = 5_000

export function createNotifier(options: NotifyOptions): Notifier {
  const { config, pool, channel, self } = options
  const listeners = createListeners()
  const waiting = new Map<string, number>()
  let sending: Promise<void> | undefined
  let client: Client | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let closed = false

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      const payload = JSON.stringify([self, ...take(waiting)])
      // Not worth a wait for the disk: a message that is lost with the power has nobody to wake.
      await pool
        .query(`select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`, [channel, payload])
        // Whoever is not woken looks for himself, later.
        .catch(() => {})
    }
    sending = undefined
  }

  /** `since`: when the connection before was lost, by the database's clock. */
  async function listen(since?: number): Promise<void> {
    const next = new Client(config)
    client = next
    let offset = 0
    let ready = false
    const lost = () => {
      // Until it is ready, whoever waits for it hears of the loss and tries again: twice would be one connection too many.
      if (client !== next || !ready) return
      client = undefined
      reconnect(Date.now() + offset - overlapMs, reconnectMs.first)
    }
    next.on('error', lost)
    next.on('end', lost)
    next.on('notification', ({ payload = '[]' }) => {
      const [from, ...changed] = JSON.parse(payload) as [string, ...[string, number][]]
      if (from !== self) for (const [runId, seq] of changed) listeners.tell(runId, seq)
    })
    await next.connect()
    await next.query(`listen ${escapeIdentifier(channel)}`)
    const { rows } = await next.query<{ now: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::double precision as now',
    )
    offset = (rows[0]?.now ?? Date.now()) - Date.now()
    if (since !== undefined) await tellMissed(next, since)
    ready = true
    keepAsking(next)
  }

  /** Whoever only listens would never hear that nobody speaks any more. */
  function keepAsking(listening: Client): void {
    const asking = setInterval(() => {
      if (client !== listening) return clearInterval(asking)
      listening.query('select 1').catch(options.onSilent)
    }, options.answerMs)
    asking.unref()
  }

  async function tellMissed(next: Client, since: number): Promise<void> {
    const missed = await next.query<{ run_id: string; seq: number }>(
      'select run_id, seq from flex_runs where updated_at >= $1 limit 10000',
      [since],
    )
    for (const { run_id, seq } of missed.rows) listeners.tell(run_id, seq)
  }

  function reconnect(since: number | undefined, delayMs: number): void {
    if (closed) return
    retry = setTimeout(() => {
      listen(since).catch(() => {
        client?.end().catch(() => {})
        client = undefined
        reconnect(since, Math.min(delayMs * 2, reconnectMs.most))
      })
    }, delayMs)
    retry.unref()
  }

  return {
    add(listener) {
      if (client === undefined && retry === undefined) reconnect(undefined, 0)
      return listeners.add(listener)
    },
    tell: listeners.tell,
    clear: listeners.clear,
    tellOthers(changed) {
      for (const [runId, seq] of changed) waiting.set(runId, seq)
      sending ??= send()
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

/** As many as fit into one message; what is too long for any is left out. */
function take(waiting: Map<string, number>): [runId: string, seq: number][] {
  const taken: [string, number][] = []
  let room = longestPayload
  for (const entry of waiting) {
    const length = Buffer.byteLength(JSON.stringify(entry)) + 1
    if (length > room && taken.length > 0) break
    waiting.delete(entry[0])
    if (length > room) continue
    room -= length
    taken.push(entry)
  }
  return taken
}
