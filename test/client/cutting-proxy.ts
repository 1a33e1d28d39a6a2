/** A TCP proxy that cuts connections after random numbers of bytes, by a fixed seed: in heads, in frames, between frames. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Random } from '../random.ts'

export interface CuttingProxy {
  readonly url: string
  /** Connections that were cut after the head of the response: in the middle of a stream. */
  readonly cuts: number
  /** From now on nothing is cut. */
  calm(): void
  close(): Promise<void>
}

export async function startCuttingProxy(target: string, seed: number): Promise<CuttingProxy> {
  const random = new Random(seed)
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let cuts = 0
  let isCalm = false
  // From a part of the head to about 60 kB, small ones most often: large frames get through now and then.
  const pickLength = () => Math.floor(60 * 2 ** (random.next() * 10))
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          open.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    client.pipe(upstream)
    let left = pickLength()
    let head = ''
    upstream.on('data', (bytes: Buffer) => {
      // Where the head of the response ends; the rest does not matter.
      if (!head.includes('\r\n\r\n')) head += bytes.subarray(0, Math.max(left, 0)).toString('latin1')
      if (isCalm || bytes.length < left) {
        left -= bytes.length
        client.write(bytes)
        return
      }
      if (head.includes('\r\n\r\n')) cuts++
      // Flushes the bytes before the cut, then resets the connection.
      client.write(bytes.subarray(0, left), () => client.resetAndDestroy())
      upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts
    },
    calm() {
      isCalm = true
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
