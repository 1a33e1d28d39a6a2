/** Serves a fetch handler with the HTTP server of Node. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toErrorMessage } from '../base/errors/error.ts'

interface ListenOptions {
  readonly port: number
  readonly host: string
  readonly onError: (cause: Error) => void
}

export interface Listening {
  readonly port: number
  /** Stops accepting connections. */
  close(): void
  /** Ends the connections that are still open. */
  end(): void
}

export async function listen(
  handle: (request: Request) => Promise<Response>,
  { port, host, onError }: ListenOptions,
): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch((cause: unknown) => {
      onError(new Error(`Cannot answer a request: ${toErrorMessage(cause)}`, { cause }))
      outgoing.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeIdleConnections()
    },
    end: () => server.closeAllConnections(),
  }
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const response = await handle(toRequest(incoming, gone.signal))
  if (outgoing.destroyed) return
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) return void outgoing.end()
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])
  // A broken stream or a closed connection destroys both sides; the handler has reported or counted it already.
  await pipeline(body, outgoing).catch(() => undefined)
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/' } = incoming
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(url, 'http://agent.invalid'), {
    method,
    headers,
    signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }),
  })
}
