/** Listeners that are notified when a run changes. */

export interface Listeners {
  add(listener: (runId: string, seq: number) => void): () => void
  /** Notifies that a run has grown to this sequence number. */
  notify(runId: string, seq: number): void
  clear(): void
}

export function createListeners(): Listeners {
  const listeners = new Set<(runId: string, seq: number) => void>()
  return {
    add(listener) {
      // A wrapper per subscription, so that adding one function twice and removing it once leaves one.
      const own = (runId: string, seq: number) => listener(runId, seq)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    notify(runId, seq) {
      for (const listener of [...listeners]) {
        try {
          listener(runId, seq)
        } catch (error) {
          // A listener's exception must not fail the append: rethrow it outside of it.
          queueMicrotask(() => {
            throw error
          })
        }
      }
    },
    clear: () => listeners.clear(),
  }
}
