/** One reader's connection: what may be written to it, and waiting for whatever concerns it. Nothing is kept here. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../base/clock.ts'

export interface Line {
  /** `gone`: nobody reads any more; `stopped`: we were told to end; else nothing. */
  ended(): 'gone' | 'stopped' | undefined
  /** The socket has said stop, and has not drained since. */
  full(): boolean
  /** When something was written last. */
  lastSent(): number
  send(text: string): void
  /** Until the next drain, end or `stir`, or until this time. */
  pause(until?: number): Promise<void>
  stir(): void
  close(): void
}

export function openLine(response: ServerResponse, signal: AbortSignal, clock: Clock): Line {
  let resume = () => {}
  let sentAt = clock.now()
  const stir = () => resume()
  // A connection that breaks while something is being written is an ended one, not a fault of ours.
  for (const event of ['drain', 'close', 'error']) response.on(event, stir)
  signal.addEventListener('abort', stir)

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
    stir,
    close() {
      for (const event of ['drain', 'close']) response.off(event, stir)
      signal.removeEventListener('abort', stir)
    },
  }
}
