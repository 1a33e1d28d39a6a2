/** Checks that a server can listen on an address, before anything is done that only a listening server may do. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { ProvisoError } from '../../base/errors/error.ts'
import { isLoopbackAddress } from './read-request.ts'

interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Throws if the address is used or not allowed here. Listens for a moment: another process may still take it later. */
export async function requireFreeAddress({ host, port }: ListenAddress): Promise<void> {
  const server = createServer()
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw toListenError(cause, { host, port })
  }
  server.close()
  await once(server, 'close')
}

/** Development mode needs no token, so it does not listen on addresses that others can reach. */
export function requireLoopback(host: string): void {
  if (isLoopbackAddress(host)) return
  throw new ProvisoError('option/invalid', `Development mode needs no token and does not listen on ${host}`, {
    hint: 'Listen on 127.0.0.1, or configure tokens',
  })
}

export function toListenError(cause: unknown, { host, port }: ListenAddress): unknown {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new ProvisoError(
      'option/invalid',
      `Cannot listen on ${host}: port ${port} is used by another process`,
      {
        hint: 'Choose another port with --port, or stop that process',
        cause,
      },
    )
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return new ProvisoError('option/invalid', `Cannot listen on ${host} port ${port}: ${code}`, { cause })
  return cause
}
