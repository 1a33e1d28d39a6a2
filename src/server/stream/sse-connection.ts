/** Wraps one client connection: writes to it, and waits for drain, end, wake-up or timeout. It buffers nothing itself. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../base/time/clock.ts'

export interface ClientConnection {
  /** `gone`: the client disconnected; `stopped`: the signal aborted; `undefined`: the connection is open. */
  ended(): 'gone' | 'stopped' | undefined
  /** Whether the socket buffer is full and has not drained since. */
  full(): boolean
  /** Time of the last write. */
  lastSent(): number
  send(text: string): void
  /** Waits for the next drain, end or wake-up, or until this time. */
  pause(until?: number): Promise<void>
  wake(): void
  close(): void
}

export function openConnection(
  response: ServerResponse,
  signal: AbortSignal,
  clock: Clock,
): ClientConnection {
  let resume = () => {}
  let sentAt = clock.now()
  const wake = () => resume()
  // A connection that breaks while something is being written is an ended one, not a fault of ours.
  for (const event of ['drain', 'close', 'error']) response.on(event, wake)
  signal.addEventListener('abort', wake)

  const isGone = () =>
    response.destroyed || response.closed || response.writableEnded || response.socket?.destroyed === true

  return {
    ended: () => (isGone() ? 'gone' : signal.aborted ? 'stopped' : undefined),
    full: () => response.writableNeedDrain,
    lastSent: () => sentAt,
    send(text) {
      sentAt = clock.now()
      response.write(text)
    },
    pause(until) {
      return new Promise((resolve) => {
        const takeBack = until === undefined ? undefined : clock.timer(until, () => resume())
        resume = () => {
          resume = () => {}
          takeBack?.()
          resolve()
        }
      })
    },
    wake,
    close() {
      for (const event of ['drain', 'close']) response.off(event, wake)
      signal.removeEventListener('abort', wake)
    },
  }
}
