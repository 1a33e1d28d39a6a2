/** A small TCP proxy that misbehaves: it cuts connections, stops forwarding and says nothing, or reports an end late. */
import { connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  readonly port: number
  /** Connections that are there now end with a reset. */
  cut(): void
  /** Connections that are there now stay open, and nothing goes through them any more; new ones work. */
  freeze(): void
  /** From now on a client hears that its connection has ended only so many milliseconds later. */
  delayEnds(ms: number): void
  /** Connections that are open here, frozen ones included. */
  readonly open: number
  close(): Promise<void>
}

export async function tcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let endsAfterMs = 0
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(target.port, target.host)
    const pair = [client, upstream] as const
    pairs.add(pair)
    client.pipe(upstream)
    upstream.pipe(client, { end: false })
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        setTimeout(() => {
          pairs.delete(pair)
          for (const either of pair) either.destroy()
        }, endsAfterMs)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port')
  return {
    port: address.port,
    get open() {
      return pairs.size
    },
    cut() {
      for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
    },
    freeze() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause()
        upstream.unpipe(client).pause()
      }
    },
    delayEnds(ms) {
      endsAfterMs = ms
    },
    close: () =>
      new Promise((resolve) => {
        for (const pair of pairs) for (const socket of pair) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
