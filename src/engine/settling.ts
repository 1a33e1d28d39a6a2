/** Waiting until a run is over or waits for a person, wherever it is carried. */
import { ProvisoError } from '../base/error.ts'
import { messageOf } from '../base/message-of.ts'
import type { EventPayloads } from '../domain/event.ts'
import type { Store } from '../domain/ports/store.ts'
import type { RunState } from '../domain/run.ts'
import type { RunStatus } from '../domain/status.ts'
import type { Changes } from './changes.ts'
import { statusOf } from './head.ts'
import { loadState } from './journal.ts'

/** Where a run stands when nothing goes on without a person or an end. */
export interface Settled {
  readonly runId: string
  readonly status: RunStatus
  readonly finished?: EventPayloads['complete']
  readonly openAsks: readonly string[]
}

export interface Settling {
  wait(runId: string, signal?: AbortSignal): Promise<Settled>
  /** An actor lets go of a run in this state: whoever waits for it here need not read the journal. */
  tell(runId: string, state: RunState): void
  /** An actor broke down: whoever waits for the run here, else the next who comes to, is told instead of waiting on. */
  crashed(runId: string, cause: unknown): void
  /** The run goes on, here or elsewhere. */
  goesOn(runId: string): void
}

const settledStatuses: ReadonlySet<RunStatus> = new Set([
  'completed',
  'failed',
  'cancelled',
  'awaiting_hitl',
  'awaiting_human',
])

/** Somebody who waits; the state, or why there is none, is left here. */
interface Waiter {
  state?: RunState
  crash?: ProvisoError
}

/** Crashes that nobody has heard of are kept for those who are about to wait; of more than this the newest. */
const mostCrashes = 1000

export function createSettling(given: {
  readonly store: Store
  readonly changes: Changes
  readonly isCarried: (runId: string) => boolean
  readonly isClosed: () => boolean
}): Settling {
  const { store, changes, isCarried, isClosed } = given
  const waiters = new Map<string, Set<Waiter>>()
  const crashes = new Map<string, ProvisoError>()

  /** By the store. */
  const look = async (runId: string): Promise<RunState | undefined> => {
    const head = await store.head(runId)
    if (!head) throw new ProvisoError('run/missing', `There is no run "${runId}" in this store`)
    if (!settledStatuses.has(head.status) || isCarried(runId)) return undefined
    const state = await loadState(store, runId)
    // Somebody may have answered between the two looks.
    return settledStatuses.has(statusOf(state)) ? state : undefined
  }

  const settled = async (runId: string, waiter: Waiter, signal?: AbortSignal): Promise<Settled> => {
    for (;;) {
      const news = changes.next(runId, signal)
      // While it is carried here, its actor tells when there is something to look at.
      const state = isCarried(runId) ? undefined : (waiter.state ?? (await look(runId)))
      if (state) {
        const { finished, openAsks } = state
        return { runId, status: statusOf(state), ...(finished && { finished }), openAsks: [...openAsks] }
      }
      signal?.throwIfAborted()
      const crash = waiter.crash ?? crashes.get(runId)
      // Told once: whoever waits again waits for the next who takes the run up.
      crashes.delete(runId)
      if (crash) throw crash
      if (isClosed()) throw new ProvisoError('engine/closed', 'The engine was closed while the run went on')
      await news
    }
  }

  return {
    async wait(runId, signal) {
      const waiter: Waiter = {}
      // Hundreds may wait with one signal: each listens to one of its own, and leaves nothing behind.
      const over = signal && new AbortController()
      const others = waiters.get(runId)
      waiters.set(runId, others ? others.add(waiter) : new Set([waiter]))
      try {
        return await settled(runId, waiter, over && AbortSignal.any([signal, over.signal]))
      } finally {
        over?.abort()
        const left = waiters.get(runId)
        left?.delete(waiter)
        if (left?.size === 0) waiters.delete(runId)
      }
    },
    tell(runId, state) {
      if (!settledStatuses.has(statusOf(state))) return
      for (const waiter of waiters.get(runId) ?? []) waiter.state = state
    },
    crashed(runId, cause) {
      const crash = crashError(runId, cause)
      const waiting = waiters.get(runId)
      for (const waiter of waiting ?? []) waiter.crash = crash
      if (waiting) return
      crashes.set(runId, crash)
      const [oldest] = crashes.keys()
      if (crashes.size > mostCrashes && oldest !== undefined) crashes.delete(oldest)
    },
    goesOn(runId) {
      crashes.delete(runId)
    },
  }
}

function crashError(runId: string, cause: unknown): ProvisoError {
  const message = `The run "${runId}" could not go on in this process: ${messageOf(cause)}. Nothing of it is lost: it can be claimed again`
  return new ProvisoError('run/crashed', message, { cause })
}
