/** Whoever wants to be woken when a run has changed. */

export interface Listeners {
  add(listener: (runId: string, seq: number) => void): () => void
  /** A run has grown to this sequence number. */
  tell(runId: string, seq: number): void
  clear(): void
}

export function createListeners(): Listeners {
  const listeners = new Set<(runId: string, seq: number) => void>()
  return {
    add(listener) {
      // A wrapper of its own, so that adding one function twice and removing it once leaves one.
      const own = (runId: string, seq: number) => listener(runId, seq)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    tell(runId, seq) {
      for (const listener of [...listeners]) {
        try {
          listener(runId, seq)
        } catch (error) {
          // The append is done whatever a listener makes of it; its fault must be heard, but not by the appender.
          queueMicrotask(() => {
            throw error
          })
        }
      }
    },
    clear: () => listeners.clear(),
  }
}
