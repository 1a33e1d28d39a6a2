/**
 * Streams the events of runs over SSE: limits the number of open streams and ends them all when the server stops. A stream
 * is a cursor on the journal: notifications only trigger a read, so late joiners, reconnects and writers in other processes
 * all see the same sequence. A slow client buffers at most one page; the rest is read again when the socket drains.
 */

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Pace } from '../../base/time/pace.ts'
import { waitingEvents } from '../../domain/event/event-table.ts'
import { type PartialFrame, toFrame, withProvenance } from '../../domain/event/frame.ts'
import type { EventType, JournalEvent } from '../../domain/event.ts'
import type { TurnPartial } from '../../domain/loop-facts.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { isTerminal, isWaiting } from '../../domain/status.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { EventStream } from '../route.ts'
import type { PartialSubscription, ServedApp } from '../served.ts'
import { createPlansInForce, type PlansInForce } from './event-page.ts'
import { commentText, frameText, partialText, retryText } from './frame-text.ts'
import { type ClientConnection, getWakeups, openConnection, type StreamStop } from './sse-connection.ts'

export interface Streams {
  readonly open: number
  /** Acquires a permit for one more stream, before any work is done for it; or returns why it is refused. */
  acquire(tenant: string): Permit | Refusal
  /** Writes the run's events to the reply until the run ends, the client disconnects or the server stops. */
  send(answer: EventStream, reply: FastifyReply, given: SendOptions): Promise<void>
  /** Resolves when no stream is open. To stop them, abort the stop passed to `send` first. */
  ended(): Promise<void>
}

interface Permit {
  /** Call it when the stream is over, or was not opened. */
  release(): void
}

interface SendOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly stop: StreamStop
}

interface StreamLimits {
  /** Maximum open streams. */
  readonly most: number
  /** Maximum open streams of one tenant. */
  readonly perTenant: number
}

export function createStreams(app: ServedApp, { most, perTenant }: StreamLimits, clock: Clock): Streams {
  const open = new Set<Promise<unknown>>()
  const byTenant = new Map<string, number>()
  let taken = 0
  const add = (tenant: string, change: 1 | -1) => {
    taken += change
    const count = (byTenant.get(tenant) ?? 0) + change
    if (count === 0) byTenant.delete(tenant)
    else byTenant.set(tenant, count)
  }
  return {
    get open() {
      return open.size
    },
    acquire(tenant) {
      if ((byTenant.get(tenant) ?? 0) >= perTenant)
        return refusal(
          'quota/streams',
          `The tenant has ${perTenant} open streams, the maximum (\`server.tenant_streams\`)`,
          { headers: { 'retry-after': '5' } },
        )
      if (taken < most) {
        add(tenant, 1)
        return { release: () => add(tenant, -1) }
      }
      return refusal('server/streams', `${most} streams are open, the maximum`, {
        hint: 'Retry later, or read the events page by page with "Accept: application/json"',
        headers: { 'retry-after': '5' },
      })
    },
    async send({ runId, after, until, partials, headers, ...known }, reply, given) {
      const correlationId = known.correlationId ?? (await app.store.head(runId))?.correlationId ?? runId
      const stream = streamEvents({
        store: app.shown ?? app.store,
        redactor: app.redactor,
        runId,
        correlationId,
        after,
        until,
        response: reply.raw,
        headers: { ...given.headers, ...headers },
        stop: given.stop,
        clock,
        pace: app.pace,
        maxStreams: most,
        ...(partials && {
          subscribeToPartials: (onChange: () => void) => app.subscribeToPartials(runId, onChange),
        }),
      })
      open.add(stream)
      // An error before the first write is answered like any other error.
      let answered = true
      try {
        await stream
      } catch (cause) {
        answered = reply.raw.headersSent
        throw cause
      } finally {
        open.delete(stream)
        if (answered) reply.hijack()
      }
    },
    async ended() {
      await Promise.allSettled(open)
    },
  }
}

/** Returns whether the caller asks for a stream. It must be named in `Accept`, because every client can read a page of JSON. */
export function acceptsStream(accept = ''): boolean {
  return accept.includes('text/event-stream')
}

/** One stream of one run. */
export interface StreamOptions {
  readonly store: Pick<Store, 'read' | 'readRecent' | 'head' | 'snapshots' | 'onChange'>
  readonly redactor: Redactor
  readonly runId: string
  readonly correlationId: string
  /** Events after this sequence number. */
  readonly after: number
  /** `over`: until the run ends. `waits`: also stops when the run waits for a person. */
  readonly until: 'over' | 'waits'
  /** Must be unwritten: the head is written here, after the store has answered. */
  readonly response: ServerResponse
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts when the connection closes or the server stops. */
  readonly stop: StreamStop
  readonly clock: Clock
  /** Streams yield to other work in between. */
  readonly pace: Pace
  /** Idle time before a comment is sent. Default 15 s. */
  readonly pingMs?: number
  /** How often the journal is polled in case a notification is lost. Default 5 s. */
  readonly pollMs?: number
  /** Maximum concurrent streams on this store. Default 10,000. */
  readonly maxStreams?: number
  /** If set, partial values are sent between events. */
  readonly subscribeToPartials?: (onChange: () => void) => PartialSubscription
}

/** `gone`: the client disconnected; `stopped`: the server stopped while it was connected. */
export type StreamEnd = 'over' | 'waits' | 'gone' | 'stopped'

export const streamDefaults = { pingMs: 15_000, pollMs: 5_000, maxStreams: 10_000 } as const

/** Number of events per read: it starts small and grows while the client keeps up. */
const pageSize = { first: 8, least: 2, most: 256 } as const
/** Number of characters per write, after which the state of the socket is checked. */
const chunkSize = 8_192
const retryMs = { usual: 1_000, stopped: 3_000 } as const

/**
 * Resolves when the stream is over and the response is ended. It never rejects because of the client and never affects the
 * run. It rejects when the store fails, with `run/missing` if the run does not exist, and with `stream/full` if too many
 * streams are open. If `response.headersSent` is still false then, nothing was written and the caller can answer with an
 * error; otherwise the connection is destroyed, so that clients do not take a partial stream for a complete one.
 *
 * A client that has already seen the last event gets 204 without a body, which stops an `EventSource` from reconnecting.
 */
export async function streamEvents(options: StreamOptions): Promise<StreamEnd> {
  const { store, runId, response, stop, clock, maxStreams = streamDefaults.maxStreams } = options
  const plans = createPlansInForce(options.store, options.runId)
  const connection = openConnection(response, stop, clock)
  const partials = options.subscribeToPartials?.(connection.wake)
  const cursor: Cursor = {
    at: Math.max(options.after, 0),
    notified: 0,
    plans,
    mayWait: options.after > 0,
    ...(partials && { partials: { ...partials, sent: new Map(), nextAt: 0 } }),
  }
  let stopListening = () => {}
  try {
    // Subscribe before the first read: events appended after that read trigger a notification.
    const wake = (seq: number) => {
      cursor.notified = Math.max(cursor.notified, seq)
      connection.wake()
    }
    stopListening = getWakeups(store).listen(runId, wake, maxStreams)
    const end = await follow(options, connection, cursor)
    finish(options, end)
    return end
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  } finally {
    stopListening()
    partials?.close()
    connection.close()
  }
}

interface Cursor {
  /** The last event that was sent. */
  at: number
  readonly plans: PlansInForce
  /** The highest sequence number notified since the last read. */
  notified: number
  /** Whether the run may wait for a person, by the events that were sent; of earlier ones nothing is known. */
  mayWait: boolean
  readonly partials?: PartialCursor
}

interface PartialCursor extends PartialSubscription {
  /** The last text of each node: a value that looks the same is not sent again. */
  readonly sent: Map<string, string>
  /** When the next values may be sent. */
  nextAt: number
}

async function follow(
  options: StreamOptions,
  connection: ClientConnection,
  cursor: Cursor,
): Promise<StreamEnd> {
  let size: number = pageSize.first
  let seen: EventType | undefined
  for (;;) {
    const { found, sent, last } = await sendPage(options, connection, { cursor, size })
    if (last === 'complete') return 'over'
    if (last) seen = last
    while (connection.full() && !connection.ended()) await connection.pause()
    const ended = connection.ended()
    if (ended) return ended
    if (sent < found || found === size) {
      size = sent < found ? Math.max(sent, pageSize.least) : Math.min(size * 2, pageSize.most)
      // Yield, so that a fast client does not starve the others.
      await options.pace.turn()
      continue
    }
    const end = mayHaveEnded(seen, options, cursor) ? await findEnd(options, cursor) : undefined
    if (end) return end
    const beginning = begin(options)
    if (beginning !== '') connection.send(beginning)
    await waitForEvents(options, connection, cursor)
    // One commit may wake many streams: yield between them.
    await options.pace.turn()
  }
}

/**
 * Reads a page and sends as much as the socket accepts; the cursor points behind the last event sent. It is a separate
 * function, so that the page can be collected while the stream waits for the socket.
 */
async function sendPage(
  options: StreamOptions,
  connection: ClientConnection,
  { cursor, size }: { cursor: Cursor; size: number },
) {
  const { store, runId, correlationId, redactor } = options
  cursor.notified = 0
  const page = store.readRecent?.(runId, cursor.at, size) ?? (await store.read(runId, cursor.at, size))
  await cursor.plans.prepare(page)
  let sent = 0
  while (sent < page.length && !connection.full() && !connection.ended()) {
    let text = begin(options)
    // Join small frames into one chunk: each write to the socket has the same fixed cost.
    for (; sent < page.length && text.length < chunkSize; sent++) {
      const event = page[sent] as JournalEvent
      if (event.seq !== cursor.at + 1)
        throw new ProvisoError(
          'store/corrupt',
          `Event ${event.seq} of run "${runId}" follows event ${cursor.at} in the store`,
        )
      const frame = toFrame(event, correlationId, redactor)
      text += frameText(withProvenance(frame, cursor.plans.findPlan(event.planVersion)))
      cursor.at = event.seq
      cursor.mayWait ||= waitingEvents.has(event.type)
      if (cursor.partials) dropEnded(cursor.partials, event)
    }
    connection.send(text)
  }
  return { found: page.length, sent, last: page[sent - 1]?.type }
}

/**
 * Returns whether the run may have reached the end of this stream. The end of a run is an event, so a stream that has seen
 * other events is not at the end. Only waiting needs a check of the head, and not after `attempt_start`: its end is notified.
 */
function mayHaveEnded(
  seen: EventType | undefined,
  { until }: Pick<StreamOptions, 'until'>,
  { mayWait }: Cursor,
): boolean {
  return seen === undefined || (until === 'waits' && mayWait && seen !== 'attempt_start')
}

/** Returns how the stream ends, if the run has reached that status and all earlier events were sent. */
async function findEnd({ store, runId, until }: StreamOptions, cursor: Cursor) {
  const head = await store.head(runId)
  if (!head) throw new ProvisoError('run/missing', `Run "${runId}" not found`)
  if (cursor.at < head.seq) return undefined
  if (isTerminal(head.status)) return 'over'
  return until === 'waits' && isWaiting(head.status) ? 'waits' : undefined
}

/** Waits until an unsent event is notified or the poll interval is over. Sends pings meanwhile. */
async function waitForEvents(
  options: StreamOptions,
  connection: ClientConnection,
  cursor: Cursor,
): Promise<void> {
  const { clock, pingMs = streamDefaults.pingMs, pollMs = streamDefaults.pollMs } = options
  const pollAt = clock.now() + pollMs
  while (cursor.notified <= cursor.at && clock.now() < pollAt && !connection.ended()) {
    const partialsAt = sendPartials(options, connection, cursor.partials)
    const pingAt = connection.lastSent() + pingMs
    await connection.pause(Math.min(pollAt, pingAt, partialsAt))
    // No ping to a full socket: it would be buffered.
    if (clock.now() >= pingAt && !connection.full() && !connection.ended())
      connection.send(commentText('ping'))
  }
}

/** Least time between partial values, and how much more for each character: at most about 1 MB per second and stream. */
const partialPace = { leastMs: 50, msPerCharacter: 0.001 } as const

/**
 * Sends the newest partial values and returns when to try again. It is called only when all events were sent, so events go
 * first. Values for a full socket, or too early, are not buffered: newer ones take their place.
 */
function sendPartials(
  { clock, redactor, runId, correlationId }: StreamOptions,
  connection: ClientConnection,
  partials: PartialCursor | undefined,
): number {
  if (!partials?.hasNew() || connection.full()) return Number.POSITIVE_INFINITY
  const now = clock.now()
  if (now < partials.nextAt) return partials.nextAt
  let text = ''
  for (const { nodeId, attempt, value, finished, turn } of partials.take()) {
    const payload = {
      attempt,
      value: value === undefined ? null : redactor.partial(value, finished),
      ...(turn && { turn: redactTurn(turn, redactor) }),
    }
    const frame: PartialFrame = { type: 'partial', payload, runId, nodeId, correlationId }
    const next = partialText(frame)
    if (partials.sent.get(nodeId) === next) continue
    partials.sent.set(nodeId, next)
    text += next
  }
  if (text !== '') connection.send(text)
  partials.nextAt = now + partialPace.leastMs + text.length * partialPace.msPerCharacter
  return Number.POSITIVE_INFINITY
}

const noneFinished: ReadonlySet<Pointer> = new Set()

/** Texts and arguments may still be written. */
function redactTurn({ turn, text, calls }: TurnPartial, redactor: Redactor): TurnPartial {
  return {
    turn,
    text: redactor.partial(text, noneFinished) as string,
    calls: calls.map((call) => ({
      tool: redactor.text(call.tool),
      arguments: redactor.partial(call.arguments, noneFinished),
    })),
  }
}

/** A partial value does not follow the end of its attempt. */
function dropEnded({ drop, sent }: PartialCursor, { type, nodeId, payload }: JournalEvent): void {
  if ((type !== 'attempt_end' && type !== 'attempt_settled') || nodeId === undefined) return
  drop(nodeId, payload.attempt)
  sent.delete(nodeId)
}

/** Writes the response head once and returns the first text of the stream. */
function begin({ response, headers }: StreamOptions): string {
  if (response.headersSent) return ''
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Stops proxies from buffering the stream.
    'x-accel-buffering': 'no',
    ...headers,
  })
  return retryText(retryMs.usual)
}

function finish(options: StreamOptions, end: StreamEnd): void {
  const { response, headers } = options
  if (end === 'gone') return
  if (end === 'over' && !response.headersSent) {
    response.writeHead(204, { 'cache-control': 'no-store', ...headers }).end()
    return
  }
  const beginning = begin(options)
  response.end(beginning + (end === 'stopped' ? retryText(retryMs.stopped) : '') + commentText(end))
}
