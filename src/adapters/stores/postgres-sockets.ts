/**
 * Every socket to a PostgreSQL server. A connection that is half open (a cable pulled, a firewall that forgot it) reports
 * no error for as long as the system likes; those on which nothing is heard can be cut here, so that nobody waits for them.
 */
import { Socket } from 'node:net'

export interface Sockets {
  /** Makes the socket of a new connection. */
  readonly stream: () => Socket
  /** Cuts the connections on which nothing has been heard for so many milliseconds. */
  cutSilent(ms: number): void
  /** Cuts whatever is left after so many milliseconds; keeps no process alive for it. */
  cutAllAfter(ms: number): void
}

export function createSockets(now: () => number = () => performance.now()): Sockets {
  /** When something was last heard on each. */
  const heard = new Map<Socket, number>()
  return {
    stream() {
      const socket = new Socket()
      heard.set(socket, now())
      socket.on('data', () => heard.set(socket, now()))
      socket.once('close', () => heard.delete(socket))
      return socket
    },
    cutSilent(ms) {
      const since = now() - ms
      for (const [socket, at] of heard) if (at <= since) socket.destroy()
    },
    cutAllAfter(ms) {
      const cut = () => {
        for (const socket of heard.keys()) socket.destroy()
      }
      setTimeout(cut, ms).unref()
    },
  }
}
