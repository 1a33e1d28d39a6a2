/** Cancels a call. Creates its AbortSignal lazily: that takes longer than most functions run, and most never read it. */
export interface Stop {
  readonly aborted: boolean
  readonly reason: unknown
  readonly signal: AbortSignal
  /** Calls the listener on abort, or at once if already aborted. Returns a function that removes the listener. */
  listen(listener: () => void): () => void
  abort(reason: unknown): void
}

export function createStop(): Stop {
  const listeners = new Set<() => void>()
  let controller: AbortController | undefined
  let aborted = false
  let reason: unknown
  return {
    get aborted() {
      return aborted
    },
    get reason() {
      return reason
    },
    get signal() {
      controller ??= new AbortController()
      if (aborted) controller.abort(reason)
      return controller.signal
    },
    listen(listener) {
      if (aborted) listener()
      else listeners.add(listener)
      return () => listeners.delete(listener)
    },
    abort(why) {
      if (aborted) return
      aborted = true
      reason = why
      for (const listener of listeners) listener()
      listeners.clear()
      controller?.abort(why)
    },
  }
}

/** Reason of an abort because the run no longer needs the call; other calls may continue in another process or be repeated. */
export class RunMovedOn extends Error {}

const stopOf = Symbol('stop')

/** One shared descriptor, so that all objects with it have the same hidden class. */
const signalMember = {
  enumerable: true,
  configurable: true,
  get(this: { readonly [stopOf]: Pick<Stop, 'signal'> }) {
    return this[stopOf].signal
  },
}

/** Adds a `signal` getter that creates the signal on first read. */
export function withSignal<T extends object>(
  members: T,
  stop: Pick<Stop, 'signal'>,
): T & { readonly signal: AbortSignal } {
  Object.defineProperty(members, stopOf, { value: stop })
  return Object.defineProperty(members, 'signal', signalMember) as T & { readonly signal: AbortSignal }
}
