/** The streams that are open: how many there may be, and how all of them end when the server stops. */
import type { FastifyReply } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { type Refusal, refusal } from './problem.ts'
import type { EventStream } from './route.ts'
import type { ServedApp } from './served.ts'
import { streamEvents } from './sse.ts'

export interface Streams {
  readonly open: number
  /** A place for one more, from before anything is begun for it; or why there is none. */
  take(): Place | Refusal
  /** Writes the run's events to the reply until they are over, the reader is gone or the server stops. */
  send(answer: EventStream, reply: FastifyReply, given: SendOptions): Promise<void>
  /** Resolves when none is open any more; whoever stops aborts the signal of `send` first. */
  ended(): Promise<void>
}

export interface Place {
  /** The stream is over, or there was none. */
  leave(): void
}

export interface SendOptions {
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
    take() {
      if (taken < most) {
        taken++
        return { leave: () => void taken-- }
      }
      return refusal('server/streams', `${most} streams are open, which is the most there may be`, {
        hint: 'Try again later, or read the events page by page with "Accept: application/json"',
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
        maxStreams: most,
      })
      open.add(stream)
      // What fails before anything was written is answered like every other error.
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
