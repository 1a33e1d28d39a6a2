/** Waits for changes of a run without missing any: callers subscribe first and read then. */
import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../domain/ports/store.ts'

export interface Changes {
  /** Resolves with the next change of the run after the call, or after `pollMs` at the latest. */
  next(runId: string, signal?: AbortSignal): Promise<void>
  /** Notifies all waiters of a change. */
  notify(runId: string): void
  close(): void
}

/** Combines notifications with polling: not every store can notify about writes of other processes. */
export function createChanges(store: Store, clock: Clock, pollMs: number): Changes {
  const waiting = new Map<string, Set<() => void>>()
  const notify = (runId: string) => {
    const listeners = waiting.get(runId)
    waiting.delete(runId)
    for (const listener of listeners ?? []) listener()
  }
  const stop = store.onChange(notify)
  return {
    notify,
    next(runId, signal) {
      return new Promise((resolve) => {
        const done = () => {
          cancelTimer()
          signal?.removeEventListener('abort', done)
          const listeners = waiting.get(runId)
          listeners?.delete(done)
          if (listeners?.size === 0) waiting.delete(runId)
          resolve()
        }
        const cancelTimer = clock.timer(clock.now() + pollMs, done)
        if (signal?.aborted) return done()
        signal?.addEventListener('abort', done, { once: true })
        const listeners = waiting.get(runId) ?? new Set()
        listeners.add(done)
        waiting.set(runId, listeners)
      })
    },
    close() {
      stop()
      for (const runId of [...waiting.keys()]) notify(runId)
    },
  }
}
