/** A real HTTP server on loopback that streams server-sent events as Anthropic and Google do, and breaks off on cue. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type StreamReply =
  /** Data of the events; one with a `type` is named by it, as Anthropic does. */
  | { readonly events: readonly object[]; readonly cut?: boolean; readonly hang?: boolean }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body: unknown }

export interface StreamServer {
  readonly url: string
  readonly seen: readonly { readonly url: string; readonly body: Record<string, unknown> }[]
  /** Resolves when a client has gone away before it was answered. */
  readonly gone: Promise<void>
  close(): Promise<void>
}

/** Replies in order; the last one repeats. */
export async function sseServer(replies: readonly StreamReply[]): Promise<StreamServer> {
  const seen: { url: string; body: Record<string, unknown> }[] = []
  let tellGone = () => {}
  const gone = new Promise<void>((resolve) => {
    tellGone = resolve
  })
  const server = createServer(async (request, response) => {
    const reply = replies[Math.min(seen.length, replies.length - 1)]
    seen.push({ url: request.url ?? '', body: await bodyOf(request) })
    response.on('close', () => {
      if (!response.writableFinished) tellGone()
    })
    if (reply === undefined) return
    if ('status' in reply) {
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      response.end(JSON.stringify(reply.body))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of reply.events) {
      const name = 'type' in event ? `event: ${event.type}\n` : ''
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
    }
    // A cut stream breaks the socket, as a dying server does.
    if (reply.cut) response.socket?.end()
    else if (!reply.hang) response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    gone,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return JSON.parse(text)
}

export function pieces(text: string, size = 4): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
}
