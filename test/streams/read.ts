/** A reader of streams as clients have one: a request, and `eventsource-parser` over what comes. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { createParser, type EventSourceMessage } from 'eventsource-parser'

export interface StreamReader {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly comments: readonly string[]
  readonly retries: readonly number[]
  /** The next event; `undefined` when the stream was ended in order. Throws when it was cut. */
  next(): Promise<EventSourceMessage | undefined>
  /** All that come until the end. */
  rest(): Promise<EventSourceMessage[]>
  /** The next comment that says this. */
  comment(words: string): Promise<void>
  /** The connection is cut at once. */
  close(): void
}

export async function openStream(url: string, lastEventId?: number): Promise<StreamReader> {
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
  }
  let asked: ClientRequest | undefined
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked = request(url, { headers, agent: false }, resolve).on('error', reject).end()
  })
  const found: EventSourceMessage[] = []
  const comments: string[] = []
  const retries: number[] = []
  let state: 'open' | 'ended' | 'cut' = 'open'
  let stir = () => {}
  const parser = createParser({
    onEvent: (event) => found.push(event),
    onComment: (comment) => comments.push(comment),
    onRetry: (ms) => retries.push(ms),
  })
  const become = (next: 'ended' | 'cut') => {
    if (state === 'open') state = next
    stir()
  }
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    parser.feed(text)
    stir()
    // A reader takes no more than it is asked for: what is not read stays with the sender.
    if (found.length > 100) response.pause()
  })
  response.on('end', () => become('ended'))
  for (const event of ['error', 'aborted', 'close']) response.on(event, () => become('cut'))

  const changed = () =>
    new Promise<void>((resolve) => {
      stir = resolve
    })

  async function next(): Promise<EventSourceMessage | undefined> {
    for (;;) {
      const event = found.shift()
      if (event) return event
      if (state === 'ended') return undefined
      if (state === 'cut') throw new Error('The stream was cut')
      response.resume()
      await changed()
    }
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    comments,
    retries,
    next,
    async rest() {
      const events: EventSourceMessage[] = []
      for (let event = await next(); event; event = await next()) events.push(event)
      return events
    },
    async comment(words) {
      while (!comments.includes(words)) {
        if (state !== 'open') throw new Error(`The stream ended without ": ${words}"`)
        await changed()
      }
    },
    close: () => void asked?.destroy(),
  }
}
