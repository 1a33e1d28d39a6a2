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
  return new CallStop()
}

/** A class, because there is one for each attempt: it needs a fifth of the memory of an object with its own functions. */
class CallStop implements Stop {
  aborted = false
  reason: unknown
  #listeners: Set<() => void> | undefined
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.aborted) this.#controller.abort(this.reason)
    return this.#controller.signal
  }

  listen(listener: () => void): () => void {
    if (this.aborted) listener()
    else {
      this.#listeners ??= new Set()
      this.#listeners.add(listener)
    }
    return () => this.#listeners?.delete(listener)
  }

  abort(why: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = why
    for (const listener of this.#listeners ?? []) listener()
    this.#listeners?.clear()
    this.#controller?.abort(why)
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
