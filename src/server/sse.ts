/**
 * A run's events as a stream: a cursor on the store and nothing else. News only wakes it, and what is sent is always read
 * from the journal after the last event that was sent; so it makes no difference who wrote an event, when the reader came
 * or how often he was cut off. A reader that takes nothing costs what one socket buffers: the rest of a page is dropped and
 * read again when he goes on.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../base/clock.ts'
import { ProvisoError } from '../base/error.ts'
import { eventLoop } from '../base/pace.ts'
import type { EventType, JournalEvent } from '../domain/event.ts'
import { frameOf } from '../domain/frame.ts'
import { withProvenance } from '../domain/frame-provenance.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redact.ts'
import { createPlansInForce, type PlansInForce } from './plans-in-force.ts'
import { isTerminal, isWaiting } from './run-end.ts'
import { type Line, openLine } from './sse-line.ts'
import { commentText, frameText, retryText } from './sse-text.ts'
import { wakeupsOf } from './wakeups.ts'

export interface StreamOptions {
  readonly store: Pick<Store, 'read' | 'head' | 'snapshots' | 'onChange'>
  readonly redactor: Redactor
  readonly runId: string
  readonly correlationId: string
  /** Events after this sequence number. */
  readonly after: number
  /** `over`: until the run is over. `waits`: also when it waits for a person. */
  readonly until: 'over' | 'waits'
  /** Nothing may be written to it yet: its head is written here, as soon as the store has answered. */
  readonly response: ServerResponse
  readonly headers?: Readonly<Record<string, string>>
  /** The connection is gone, or the server stops. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** A comment after so long without an event. Default 15 s. */
  readonly pingMs?: number
  /** A wake-up that never came costs at most this. Default 5 s. */
  readonly pollMs?: number
  /** Streams on this store at the same time. Default 10,000. */
  readonly maxStreams?: number
}

/** `gone`: the reader went; `stopped`: the signal came while he was there. */
export type StreamEnd = 'over' | 'waits' | 'gone' | 'stopped'

export const streamDefaults = { pingMs: 15_000, pollMs: 5_000, maxStreams: 10_000 } as const

/** As many events as one read may bring: few for a reader who takes few, more for one who takes all. */
const pageSize = { first: 8, least: 2, most: 256 } as const
/** Characters that are written at once, and beyond which the reader is looked at again. */
const pieceSize = 8_192
const retryMs = { usual: 1_000, stopped: 3_000 } as const

/**
 * Resolves when the stream is over and the response is ended; never rejects because of the reader, and never touches the
 * run. It rejects when the store fails, with `run/missing` where there is no such run, and with `stream/full` where too many
 * are open. If `response.headersSent` is still false then, nothing was written and the caller can answer with an error;
 * otherwise the connection is cut, so that nobody takes half a stream for a whole one.
 *
 * A reader who has seen the end already gets 204 without a body, which tells an `EventSource` not to come again.
 */
export async function streamEvents(options: StreamOptions): Promise<StreamEnd> {
  const { store, runId, response, signal, clock, maxStreams = streamDefaults.maxStreams } = options
  const plans = createPlansInForce(options.store, options.runId)
  const cursor = { at: Math.max(options.after, 0), told: 0, plans }
  const line = openLine(response, signal, clock)
  let stopListening = () => {}
  try {
    // Before the first read: what is appended after that read is told.
    const wake = (seq: number) => {
      cursor.told = Math.max(cursor.told, seq)
      line.stir()
    }
    stopListening = wakeupsOf(store).listen(runId, wake, maxStreams)
    const end = await follow(options, line, cursor)
    finish(options, end)
    return end
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  } finally {
    stopListening()
    line.close()
  }
}

interface Cursor {
  /** The last event that was sent. */
  at: number
  readonly plans: PlansInForce
  /** The highest sequence number that was heard of since the last read. */
  told: number
}

async function follow(options: StreamOptions, line: Line, cursor: Cursor): Promise<StreamEnd> {
  let size: number = pageSize.first
  let seen: EventType | undefined
  for (;;) {
    const { found, sent, last } = await sendPage(options, line, { cursor, size })
    if (last === 'complete') return 'over'
    if (last) seen = last
    while (line.full() && !line.ended()) await line.pause()
    const ended = line.ended()
    if (ended) return ended
    if (sent < found || found === size) {
      size = sent < found ? Math.max(sent, pageSize.least) : Math.min(size * 2, pageSize.most)
      // A reader who takes everything at once must not keep the others waiting.
      await eventLoop.turn()
      continue
    }
    const end = mayHaveEnded(seen, options.until) ? await standing(options, cursor) : undefined
    if (end) return end
    const beginning = begin(options)
    if (beginning !== '') line.send(beginning)
    await news(options, line, cursor)
    // One commit brings news of many runs.
    await eventLoop.turn()
  }
}

/**
 * Reads a page and sends what the socket takes of it; the cursor stands behind that. A function of its own, so that no page
 * lives while its reader is waited for.
 */
async function sendPage(
  options: StreamOptions,
  line: Line,
  { cursor, size }: { cursor: Cursor; size: number },
) {
  const { store, runId, correlationId, redactor } = options
  cursor.told = 0
  const page = await store.read(runId, cursor.at, size)
  await cursor.plans.prepare(page)
  let sent = 0
  while (sent < page.length && !line.full() && !line.ended()) {
    let text = begin(options)
    // Several small ones in one piece: each costs the socket the same as a large one.
    for (; sent < page.length && text.length < pieceSize; sent++) {
      const event = page[sent] as JournalEvent
      if (event.seq !== cursor.at + 1)
        throw new ProvisoError(
          'store/corrupt',
          `Event ${event.seq} of run "${runId}" follows event ${cursor.at} in the store`,
        )
      const frame = frameOf(event, correlationId, redactor)
      text += frameText(withProvenance(frame, cursor.plans.planOf(event.planVersion)))
      cursor.at = event.seq
    }
    line.send(text)
  }
  return { found: page.length, sent, last: page[sent - 1]?.type }
}

/**
 * The end is an event, and whoever has seen events without it is not there yet; only waiting has to be asked for, and not
 * after an attempt has begun: its own end will be told.
 */
function mayHaveEnded(seen: EventType | undefined, until: StreamOptions['until']): boolean {
  return seen === undefined || (until === 'waits' && seen !== 'attempt_start')
}

/** Whether the run stands where this stream ends, and everything before was sent. */
async function standing({ store, runId, until }: StreamOptions, cursor: Cursor) {
  const head = await store.head(runId)
  if (!head) throw new ProvisoError('run/missing', `There is no run "${runId}" in this store`)
  if (cursor.at < head.seq) return undefined
  if (isTerminal(head.status)) return 'over'
  return until === 'waits' && isWaiting(head.status) ? 'waits' : undefined
}

/** Until something was told that was not sent yet, or it is time to look without; pings meanwhile. */
async function news(options: StreamOptions, line: Line, cursor: Cursor): Promise<void> {
  const { clock, pingMs = streamDefaults.pingMs, pollMs = streamDefaults.pollMs } = options
  const pollAt = clock.now() + pollMs
  while (cursor.told <= cursor.at && clock.now() < pollAt && !line.ended()) {
    const pingAt = line.lastSent() + pingMs
    await line.pause(Math.min(pollAt, pingAt))
    // Not to a full socket: pings that nobody takes would be kept.
    if (clock.now() >= pingAt && !line.full() && !line.ended()) line.send(commentText('ping'))
  }
}

/** Writes the head, if that has not happened, and gives the text that comes first. */
function begin({ response, headers }: StreamOptions): string {
  if (response.headersSent) return ''
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Proxies that gather answers would make a stream of it that comes all at once.
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
