/** A server on loopback that answers HTTP by hand, so that it can also do what no HTTP library would. */
import { createServer, type Server, type Socket } from 'node:net'

/** What it does with one call. */
export type Act =
  | {
      readonly status?: number
      readonly type?: string
      readonly headers?: { readonly [name: string]: string }
      readonly body: string
      /** Milliseconds that really pass before the answer. */
      readonly afterMs?: number
      /** The whole answer comes a second time on the same connection. */
      readonly twice?: true
    }
  /** Says nothing. */
  | 'hang'
  /** Resets the connection without an answer. */
  | 'reset'
  /** Announces more than it sends, and closes the connection in the middle. */
  | { readonly cut: string }
  /** Sends this many bytes without an end in sight. */
  | { readonly flood: number }

/** By the number of the call, from 0 on. `body` is what was sent. */
export type Script = (call: number, body: string) => Act

export interface HostileServer {
  readonly url: string
  /** Whole requests that have arrived. */
  readonly calls: () => number
  close(): Promise<void>
}

export async function hostileServer(script: Script): Promise<HostileServer> {
  let calls = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A client that goes away is what some of the scripts are about.
    socket.on('error', () => {})
    readRequests(socket, (body) => perform(socket, script(calls++, body)))
  })
  await listen(server)
  const { port } = server.address() as { readonly port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    calls: () => calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** An address at which nothing listens. */
export async function closedAddress(): Promise<string> {
  const server = createServer()
  await listen(server)
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

/** Calls back with the body of every request, which must say its length. */
function readRequests(socket: Socket, onBody: (body: string) => void): void {
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/^content-length: *(\d+)/im.exec(received.toString('latin1', 0, end))?.[1] ?? 0)
      if (received.length < end + 4 + length) return
      const body = received.toString('utf8', end + 4, end + 4 + length)
      received = received.subarray(end + 4 + length)
      onBody(body)
    }
  })
}

function perform(socket: Socket, act: Act): void {
  if (act === 'hang') return
  if (act === 'reset') return void socket.resetAndDestroy()
  if ('cut' in act) {
    const half = act.cut.slice(0, Math.ceil(act.cut.length / 2))
    socket.write(head({ 'content-length': String(act.cut.length + 100) }) + half, () => socket.destroy())
    return
  }
  if ('flood' in act) {
    flood(socket, act.flood)
    return
  }
  const { status = 200, type = 'application/json', headers = {}, body, afterMs = 0, twice } = act
  const length = String(Buffer.byteLength(body))
  const whole = head({ 'content-type': type, 'content-length': length, ...headers }, status) + body
  const send = () => socket.write(twice ? whole + whole : whole)
  if (afterMs > 0) setTimeout(send, afterMs)
  else send()
}

function head(headers: { readonly [name: string]: string }, status = 200): string {
  const lines = Object.entries({ 'content-type': 'application/json', ...headers })
  return `HTTP/1.1 ${status} Reply\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

const chunkBytes = 1 << 20

function flood(socket: Socket, bytes: number): void {
  socket.write(head({ 'content-length': String(bytes) }))
  const chunk = Buffer.alloc(chunkBytes, 'x')
  let left = bytes
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      left -= chunkBytes
      if (!socket.write(chunk)) return void socket.once('drain', more)
    }
  }
  more()
}
