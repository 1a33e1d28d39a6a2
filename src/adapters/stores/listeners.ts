/** Whoever wants to be woken when a run has changed. */

export interface Listeners {
  add(listener: (runId: string) => void): () => void
  tell(runId: string): void
  clear(): void
}

export function createListeners(): Listeners {
  const listeners = new Set<(runId: string) => void>()
  return {
    add(listener) {
      // A wrapper of its own, so that adding one function twice and removing it once leaves one.
      const own = (runId: string) => listener(runId)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    tell(runId) {
      for (const listener of [...listeners]) {
        try {
          listener(runId)
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
