/** A load balancer for TCP in front of workers: connections go to its targets in turn; a target that refuses is skipped. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Balancer {
  readonly url: string
  add(port: number): void
  /** As after a failed health check: no new connections. */
  remove(port: number): void
  /** Cuts the connections to a target, as a network does that breaks. */
  cut(port: number): void
  close(): Promise<void>
}

export async function startBalancer(): Promise<Balancer> {
  const targets: number[] = []
  const open = new Map<Socket, number>()
  let turn = 0

  const forward = (client: Socket, left: readonly number[]) => {
    const [port, ...others] = left
    if (port === undefined) {
      client.destroy()
      return
    }
    const target = connect(port, '127.0.0.1')
    let isConnected = false
    target.on('connect', () => {
      isConnected = true
      open.set(client, port)
      client.pipe(target).pipe(client)
    })
    target.on('error', () => isConnected || forward(client, others))
    target.on('close', () => isConnected && client.destroy())
    client.on('close', () => {
      open.delete(client)
      target.destroy()
    })
  }

  const server = createServer((client) => {
    client.on('error', () => {})
    turn += 1
    const first = targets.length === 0 ? 0 : turn % targets.length
    forward(client, [...targets.slice(first), ...targets.slice(0, first)])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (port) => void targets.push(port),
    remove(port) {
      const at = targets.indexOf(port)
      if (at >= 0) targets.splice(at, 1)
    },
    cut(port) {
      for (const [client, to] of open) if (to === port) client.destroy()
    },
    async close() {
      for (const client of open.keys()) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
