/** Tracks open streams: limits their number and ends them all when the server stops. */
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../base/time/clock.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { EventStream } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { streamEvents } from './sse.ts'

export interface Streams {
  readonly open: number
  /** Acquires a permit for one more stream, before any work is done for it; or returns why there is none. */
  acquire(): Permit | Refusal
  /** Writes the run's events to the reply until the run ends, the client disconnects or the server stops. */
  send(answer: EventStream, reply: FastifyReply, given: SendOptions): Promise<void>
  /** Resolves when no stream is open. To stop them, abort the signal passed to `send` first. */
  ended(): Promise<void>
}

interface Permit {
  /** Call it when the stream is over, or was not opened. */
  release(): void
}

interface SendOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export function createStreams(app: ServedApp, most: number, clock: Clock): Streams {
  const open = new Set<Promise<unknown>>()
  let taken = 0
  return {
    get open() {
      return open.size
    },
    acquire() {
      if (taken < most) {
        taken++
        return { release: () => void taken-- }
      }
      return refusal('server/streams', `${most} streams are open, the maximum`, {
        hint: 'Retry later, or read the events page by page with "Accept: application/json"',
        headers: { 'retry-after': '5' },
      })
    },
    async send({ runId, after, until, headers, ...known }, reply, given) {
      const correlationId = known.correlationId ?? (await app.store.head(runId))?.correlationId ?? runId
      const stream = streamEvents({
        store: app.store,
        redactor: app.redactor,
        runId,
        correlationId,
        after,
        until,
        response: reply.raw,
        headers: { ...given.headers, ...headers },
        signal: given.signal,
        clock,
        pace: app.pace,
        maxStreams: most,
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
