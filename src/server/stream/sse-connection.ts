/** The two ends of a stream: the connection of its client, and the store that wakes it when the run grows. */
import type { ServerResponse } from 'node:http'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Stop } from '../../base/stop.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../domain/ports/store.ts'

/** One client connection: writes to it, and waits for drain, end, wake-up or timeout. It buffers nothing itself. */
export interface ClientConnection {
  /** `gone`: the client disconnected; `stopped`: the server stops; `undefined`: the connection is open. */
  ended(): 'gone' | 'stopped' | undefined
  /** Whether the socket buffer is full and has not drained since. */
  full(): boolean
  /** Time of the last write. */
  lastSent(): number
  send(text: string): void
  /** Waits for the next drain, end or wake-up, or until this time; it may end earlier. */
  pause(until?: number): Promise<void>
  wake(): void
  close(): void
}

/** Ends a stream. */
export type StreamStop = Pick<Stop, 'aborted' | 'listen'>

export function openConnection(response: ServerResponse, stop: StreamStop, clock: Clock): ClientConnection {
  let resume = () => {}
  let sentAt = clock.now()
  /** One timer for many pauses: it wakes at the earliest time that a pause has asked for, which may be early. */
  let timer: { readonly at: number; readonly cancel: () => void } | undefined
  // Kept here: a response that has no socket reports its own buffer only in the result of `write`.
  let isFull = false
  const wake = () => resume()
  const drained = () => {
    isFull = false
  }
  response.on('drain', drained)
  // A connection that breaks while something is being written is an ended one, not a fault of ours.
  for (const event of ['drain', 'close', 'error']) response.on(event, wake)
  const stopListening = stop.listen(wake)

  const setTimer = (at: number) => {
    timer?.cancel()
    const cancel = clock.timer(at, () => {
      timer = undefined
      resume()
    })
    timer = { at, cancel }
  }
  const isGone = () =>
    response.destroyed || response.closed || response.writableEnded || response.socket?.destroyed === true

  return {
    ended: () => (isGone() ? 'gone' : stop.aborted ? 'stopped' : undefined),
    full: () => isFull,
    lastSent: () => sentAt,
    send(text) {
      sentAt = clock.now()
      isFull = !response.write(text)
    },
    pause(until) {
      if (until !== undefined && until < (timer?.at ?? Number.POSITIVE_INFINITY)) setTimer(until)
      return new Promise((resolve) => {
        resume = resolve
      })
    },
    wake,
    close() {
      response.off('drain', drained)
      for (const event of ['drain', 'close']) response.off(event, wake)
      stopListening()
      timer?.cancel()
    },
  }
}

/** Called with the sequence number that the run has reached. */
type Wake = (seq: number) => void

/**
 * Wakes streams when a run grows. All streams on one store share one listener and one map; each stream reads events for
 * itself. The map has one entry per open stream, and their number is limited.
 */
interface Wakeups {
  /** Subscribes a stream. Throws `stream/full` when `most` streams are open. */
  listen(runId: string, wake: Wake, most: number): () => void
  /** Number of open streams, for gauges. */
  readonly open: number
}

type NotifyingStore = Pick<Store, 'onChange'>

const byStore = new WeakMap<NotifyingStore, Wakeups>()

/** Returns the shared instance of this store. */
export function getWakeups(store: NotifyingStore): Wakeups {
  const known = byStore.get(store) ?? createWakeups(store)
  byStore.set(store, known)
  return known
}

function createWakeups(store: NotifyingStore): Wakeups {
  const waiting = new Map<string, Set<Wake>>()
  let open = 0
  let stop = () => {}

  const notify = (runId: string, seq: number) => {
    for (const wake of waiting.get(runId) ?? []) wake(seq)
  }

  return {
    listen(runId, wake, most) {
      if (open >= most)
        throw new ProvisoError(
          'stream/full',
          `Cannot open a stream: ${open} are open, and ${most} is the maximum`,
        )
      if (open++ === 0) stop = store.onChange(notify)
      const ofRun = waiting.get(runId) ?? new Set()
      waiting.set(runId, ofRun.add(wake))
      return () => {
        if (!ofRun.delete(wake)) return
        if (ofRun.size === 0) waiting.delete(runId)
        // No stream is left: stop listening to the store.
        if (--open === 0) stop()
      }
    },
    get open() {
      return open
    },
  }
}
