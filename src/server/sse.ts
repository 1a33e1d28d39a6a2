/** A run's events as a stream: a cursor on the store that is woken by changes. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../base/clock.ts'
import { type Frame, frameOf } from '../domain/frame.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redact.ts'

export interface StreamOptions {
  readonly store: Pick<Store, 'read' | 'head' | 'onChange'>
  readonly redactor: Redactor
  readonly runId: string
  readonly correlationId: string
  /** Events after this sequence number. */
  readonly after: number
  /** `over`: until the run is over. `waits`: also when it waits for a person. */
  readonly until: 'over' | 'waits'
  /** Its head is written here. */
  readonly response: ServerResponse
  readonly headers?: Readonly<Record<string, string>>
  /** The connection is gone, or the server stops. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly pingMs?: number
  readonly pollMs?: number
}

const over: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])
const waits: ReadonlySet<string> = new Set(['awaiting_hitl', 'awaiting_human'])

/** Resolves when the stream is over; never rejects because of the reader. */
export async function streamEvents(options: StreamOptions): Promise<'over' | 'waits' | 'gone' | 'stopped'> {
  const { store, response, signal, runId, clock, pingMs = 15_000, pollMs = 1_000 } = options
  response.writeHead(200, { ...options.headers, 'content-type': 'text/event-stream; charset=utf-8' })
  response.write('retry: 1000\n\n')
  let { after } = options
  let pinged = clock.now()
  const end = (how: 'over' | 'waits' | 'gone' | 'stopped') => {
    response.end()
    return how
  }
  for (;;) {
    const news = nextChange(options, clock.now() + pollMs)
    const page = await store.read(runId, after, 200)
    for (const event of page) {
      after = event.seq
      const frame = frameOf(event, options.correlationId, options.redactor)
      const more = response.write(`event: ${frame.type}\nid: ${frame.id}\ndata: ${JSON.stringify(frame)}\n\n`)
      if (!more && !(await drained(response, signal))) break
      if (event.type === 'complete') return end('over')
    }
    if (response.destroyed) return end('gone')
    if (signal.aborted) return end('stopped')
    if (page.length > 0) continue
    const head = await store.head(runId)
    if (head === undefined) return end('over')
    if (after >= head.seq && over.has(head.status)) return end('over')
    if (after >= head.seq && options.until === 'waits' && waits.has(head.status)) return end('waits')
    if (clock.now() - pinged >= pingMs) {
      response.write(': ping\n\n')
      pinged = clock.now()
    }
    await news
  }
}

function nextChange({ store, runId, signal, clock }: StreamOptions, at: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      takeBack()
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const takeBack = clock.timer(at, done)
    const stop = store.onChange((changed) => changed === runId && done())
    if (signal.aborted) return done()
    signal.addEventListener('abort', done, { once: true })
  })
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      signal.removeEventListener('abort', done)
      resolve(!response.destroyed && !signal.aborted)
    }
    if (response.destroyed || signal.aborted) return done()
    response.once('drain', done).once('close', done)
    signal.addEventListener('abort', done, { once: true })
  })
}

export interface Page {
  readonly events: readonly Frame[]
  /** Ask for what comes after this; absent when the run is over and everything was read. */
  readonly next?: number
}
