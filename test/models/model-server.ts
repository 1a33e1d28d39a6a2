/** A real HTTP server on loopback that stands for a maker of models: hears requests, replies in order, sees clients go away. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
  /** The body as it came. */
  readonly text: string
}

export interface ModelServer {
  readonly url: string
  readonly seen: readonly Seen[]
  /** Resolves when a client has gone away before it was answered. */
  readonly gone: Promise<void>
  /** Resolves when a request has arrived. */
  readonly arrived: Promise<void>
  close(): Promise<void>
}

/** What every maker can say: no. */
export interface StatusReply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

/** Replies in order; the last one repeats. A function decides by the request. */
export type Replies<R> = readonly (R | StatusReply)[] | ((seen: Seen, index: number) => R | StatusReply)

/** `send` says a reply in the maker's own words. */
export async function modelServer<R extends object>(
  replies: Replies<R>,
  send: (reply: R, seen: Seen, response: ServerResponse) => void,
): Promise<ModelServer> {
  const seen: Seen[] = []
  let [resolveGone, resolveArrived] = [() => {}, () => {}]
  const gone = new Promise<void>((resolve) => {
    resolveGone = resolve
  })
  const arrived = new Promise<void>((resolve) => {
    resolveArrived = resolve
  })
  const server = createServer(async (request, response) => {
    const text = await textOf(request)
    const body = text === '' ? {} : JSON.parse(text)
    const one = { path: request.url ?? '', headers: request.headers, body, text }
    const reply =
      typeof replies === 'function'
        ? replies(one, seen.length)
        : replies[Math.min(seen.length, replies.length - 1)]
    seen.push(one)
    response.on('close', () => {
      if (!response.writableFinished) resolveGone()
    })
    resolveArrived()
    if (reply === undefined) return
    if (isStatus(reply)) sendStatus(reply, response)
    else send(reply, one, response)
  })
  // A connection that is closed while a slow client begins a request would look like a failure of the model.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    gone,
    arrived,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Data of server-sent events; one with a `type` is named by it, as Anthropic does. */
export interface Streamed {
  readonly events: readonly object[]
  /** How the stream ends. Default: in order. */
  readonly end?: StreamEnd
}

type StreamEnd = 'whole' | 'cut' | 'open'

/** Streams events as Anthropic and Google do. */
export function streamServer(replies: Replies<Streamed>): Promise<ModelServer> {
  return modelServer<Streamed>(replies, ({ events, end }, _, response) =>
    sendEvents(response, events, { named: true, ...(end && { end }) }),
  )
}

/** Server-sent events; one with a `type` can be `named` by it. A cut stream breaks the socket, as a dying server does. */
export function sendEvents(
  response: ServerResponse,
  events: readonly (object | string)[],
  { named = false, end = 'whole' }: { named?: boolean; end?: StreamEnd } = {},
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const name = named && typeof event === 'object' && 'type' in event ? `event: ${event.type}\n` : ''
    response.write(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
  if (end === 'cut') response.socket?.end()
  else if (end === 'whole') response.end()
}

function isStatus(reply: object): reply is StatusReply {
  return 'status' in reply
}

function sendStatus({ status, headers, body }: StatusReply, response: ServerResponse): void {
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(json)
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
