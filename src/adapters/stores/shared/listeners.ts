/** Listeners that are notified when a run changes. */

import type { ChangeListener } from '../../../domain/ports/store.ts'

export interface Listeners {
  add(listener: ChangeListener): () => void
  /** Notifies that a run has grown to this sequence number. */
  notify: ChangeListener
  clear(): void
}

export function createListeners(): Listeners {
  const listeners = new Set<ChangeListener>()
  return {
    add(listener) {
      // A wrapper per subscription, so that adding one function twice and removing it once leaves one.
      const own: ChangeListener = (...change) => listener(...change)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    notify(...change) {
      for (const listener of [...listeners]) {
        try {
          listener(...change)
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
