/**
 * Reads the journal of a run, folded to a state or as a stream of events, and waits without missing anything: for its
 * changes, or until it has ended or waits for a person, in whichever process it is executed.
 */
import { ProvisoError, toErrorMessage } from '../../base/errors/error.ts'
import { type Clock, settleWithin } from '../../base/time/clock.ts'
import type { Ask } from '../../domain/ask.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { EventPayloads, JournalEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import { isSettled, isTerminal, type RunStatus } from '../../domain/status.ts'
import type { CompileOptions } from '../../schema/compile/compile.ts'
import { getRunStatus } from './run-head.ts'

const pageSize = 5000

/** Returns the state of a run; throws `run/missing` if it does not exist. */
export async function loadState(
  store: Store,
  runId: string,
  compileOptions?: CompileOptions,
): Promise<RunState> {
  const state = fold(await loadEvents(store, runId), compileOptions)
  // There is at least one event, and folding one gives a state.
  return state as RunState
}

/** Returns all events of a run, oldest first. */
export async function loadEvents(store: Store, runId: string): Promise<JournalEvent[]> {
  const events: JournalEvent[] = []
  for (;;) {
    const page = await store.read(runId, events.length, pageSize)
    for (const event of page) events.push(event)
    if (page.length < pageSize) break
  }
  if (events.length === 0) throw new ProvisoError('run/missing', `Run "${runId}" not found`)
  return events
}

export interface WatchOptions {
  /** Only events after this sequence number. Default 0: from the start. */
  readonly after?: number
  readonly signal?: AbortSignal
}

/** Yields every event once and in order, read from the journal, until the run has ended or the signal is aborted. */
export async function* watchRun(
  store: Store,
  changes: Changes,
  request: WatchOptions & { readonly runId: string },
): AsyncGenerator<JournalEvent, void, void> {
  const { runId, signal } = request
  let after = request.after ?? 0
  while (!signal?.aborted) {
    const news = new AbortController()
    const change = changes.next(runId, {
      signal: signal ? AbortSignal.any([signal, news.signal]) : news.signal,
    })
    const page = store.readRecent?.(runId, after, 500) ?? (await store.read(runId, after, 500))
    for (const event of page) {
      after = event.seq
      yield event
      if (event.type === 'complete') return news.abort()
    }
    if (page.length > 0) {
      news.abort()
      continue
    }
    if (await isOver(store, runId, after)) return news.abort()
    await change
  }
}

/**
 * Whether the run has ended and no event follows this sequence number. Throws for an unknown run, which would be awaited
 * forever.
 */
async function isOver(store: Store, runId: string, after: number): Promise<boolean> {
  const head = await store.head(runId)
  if (!head) throw new ProvisoError('run/missing', `Run "${runId}" not found`)
  return after >= head.seq && isTerminal(head.status)
}

export interface Changes {
  /**
   * Resolves with the next change of the run after the call, or after `pollMs` at the latest. The number is that of the last
   * event of a run that has ended or waits for a person. `onlySettled`: leaves out changes after which the run certainly continues.
   */
  next(
    runId: string,
    options?: {
      readonly signal?: AbortSignal | undefined
      readonly onlySettled?: boolean
    },
  ): Promise<number | undefined>
  /** Notifies all waiters of a change. */
  notify(runId: string): void
  close(): void
}

/** Combines notifications with polling: not every store can notify about writes of other processes. */
export function createChanges(store: Store, clock: Clock, pollMs: number): Changes {
  /** The listeners of each run, and whether they wait only until it has settled. */
  const waiting = new Map<string, Map<(settledAt?: number) => void, boolean>>()
  const notify = (runId: string, seq?: number, isSettled?: boolean) => {
    for (const [listener, onlySettled] of [...(waiting.get(runId) ?? [])])
      if (isSettled !== false || !onlySettled) listener(isSettled === true ? seq : undefined)
  }
  const stop = store.onChange((runId, seq, _isFree, isSettled) => notify(runId, seq, isSettled))
  return {
    notify: (runId) => notify(runId),
    next(runId, { signal, onlySettled = false } = {}) {
      return new Promise((resolve) => {
        const done = (settledAt?: number) => {
          cancelTimer()
          signal?.removeEventListener('abort', stopWaiting)
          const listeners = waiting.get(runId)
          listeners?.delete(done)
          if (listeners?.size === 0) waiting.delete(runId)
          resolve(settledAt)
        }
        const stopWaiting = () => done()
        const cancelTimer = clock.timer(clock.now() + pollMs, stopWaiting)
        if (signal?.aborted) return done()
        signal?.addEventListener('abort', stopWaiting, { once: true })
        const listeners = waiting.get(runId) ?? new Map<(settledAt?: number) => void, boolean>()
        listeners.set(done, onlySettled)
        waiting.set(runId, listeners)
      })
    },
    close() {
      stop()
      for (const runId of [...waiting.keys()]) notify(runId)
    },
  }
}

/** The state of a run that has ended or needs a person to continue. */
export interface Settled {
  readonly runId: string
  readonly status: RunStatus
  readonly finished?: EventPayloads['complete']
  readonly openAsks: readonly string[]
  /** The same asks with what they show. */
  readonly asks: readonly Ask[]
  /** Warnings from the proof of the current plan. */
  readonly warnings: readonly Diagnostic[]
  /** Why the run continues only when it is resumed. */
  readonly paused?: RunState['paused']
}

export interface RunWaiters {
  wait(runId: string, signal?: AbortSignal): Promise<Settled>
  /** The run was stored just now, for another process: its first waiter waits for news instead of reading. */
  started(runId: string): void
  /** Called when an actor releases a run in this state: local waiters need not read the journal. */
  settle(runId: string, state: RunState): void
  /** Called when an actor crashes: rejects the local waiters, or else the next one, instead of letting them wait. */
  reject(runId: string, cause: unknown): void
  /** The run continues, here or in another process; `isSettled` is false if it certainly does. */
  markActive(runId: string, isSettled?: boolean): void
}

/** One caller of `wait`; holds the final state or the crash for it. */
interface Waiter {
  settled?: Settled
  crash?: ProvisoError
}

/** Of crashes without a waiter, and of runs that have started without one, so many are kept, the newest. */
const mostKept = 1000

export function createRunWaiters(given: {
  readonly store: Store
  readonly clock: Clock
  /** How long a read of the store is waited for. */
  readonly answerMs: number
  readonly changes: Changes
  readonly isActive: (runId: string) => boolean
  readonly isClosed: () => boolean
}): RunWaiters {
  const { store, clock, answerMs, changes, isActive, isClosed } = given
  const waiters = new Map<string, Set<Waiter>>()
  const crashes = new Map<string, ProvisoError>()
  /** Runs of which nothing is known but that they have started, a moment ago. */
  const begun = new Map<string, true>()

  /** Reads from the store whether the run is settled; `settledAt`: the store said so, so its head is not read first. */
  const readSettled = async (runId: string, settledAt: number | undefined): Promise<Settled | undefined> => {
    const head = settledAt === undefined ? await store.head(runId) : undefined
    if (settledAt === undefined && !head) throw new ProvisoError('run/missing', `Run "${runId}" not found`)
    if ((head && !isSettled(head.status)) || isActive(runId)) return undefined
    const [last] = await store.read(runId, (settledAt ?? head?.seq ?? 1) - 1, 1)
    const ended = last && readEnd(last)
    if (ended) return ended
    const state = await loadState(store, runId)
    // A reply may have been recorded between the two reads.
    return isSettled(getRunStatus(state)) ? toSettled(state) : undefined
  }

  const readInTime = (runId: string, settledAt: number | undefined) =>
    settleWithin(readSettled(runId, settledAt), {
      clock,
      until: clock.now() + answerMs,
      late: () =>
        new ProvisoError(
          'store/unavailable',
          `The store has not answered within ${answerMs} ms whether the run "${runId}" is over`,
          { hint: 'Ask for the result again' },
        ),
    })

  const settled = async (runId: string, waiter: Waiter, signal?: AbortSignal): Promise<Settled> => {
    let settledAt: number | undefined
    // A run that another process has just begun is not over: if it is soon, there is news of it.
    let isNew = begun.delete(runId)
    for (;;) {
      const news = changes.next(runId, { signal, onlySettled: true })
      // While the run is active here, its actor reports when it settles.
      if (!isActive(runId)) {
        const found = waiter.settled ?? (isNew ? undefined : await readInTime(runId, settledAt))
        if (found) return found
      }
      isNew = false
      signal?.throwIfAborted()
      const crash = waiter.crash ?? crashes.get(runId)
      // A crash is reported once: the next wait waits for the next claim of the run.
      crashes.delete(runId)
      if (crash) throw crash
      if (isClosed()) throw new ProvisoError('engine/closed', 'The engine was closed before the run ended')
      settledAt = await news
    }
  }

  return {
    async wait(runId, signal) {
      const waiter: Waiter = {}
      // Many callers may share one signal: each uses its own derived signal and removes its listener at the end.
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
    settle(runId, state) {
      if (!isSettled(getRunStatus(state))) return
      for (const waiter of waiters.get(runId) ?? []) waiter.settled = toSettled(state)
    },
    reject(runId, cause) {
      const crash = crashError(runId, cause)
      const waiting = waiters.get(runId)
      for (const waiter of waiting ?? []) waiter.crash = crash
      if (waiting) return
      keepNewest(crashes, runId, crash)
    },
    markActive(runId, isSettled = true) {
      crashes.delete(runId)
      if (isSettled) begun.delete(runId)
    },
    started(runId) {
      keepNewest(begun, runId, true)
    },
  }
}

function keepNewest<T>(kept: Map<string, T>, runId: string, value: T): void {
  kept.set(runId, value)
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
}

function toSettled(state: RunState): Settled {
  const { runId, finished, openAsks, asks, plan, paused } = state
  return {
    runId,
    status: getRunStatus(state),
    ...(finished && { finished }),
    openAsks: [...openAsks],
    asks: [...openAsks].flatMap((requestId) => asks.get(requestId) ?? []),
    warnings: plan?.diagnostics.warnings ?? [],
    ...(paused && { paused }),
  }
}

/** The last event of a run says all of its result, except in journals that were written before it had the warnings. */
function readEnd({ runId, type, payload }: JournalEvent): Settled | undefined {
  if (type !== 'complete' || payload.warnings === undefined) return undefined
  const { status, warnings } = payload
  return { runId, status, finished: payload, openAsks: [], asks: [], warnings }
}

function crashError(runId: string, cause: unknown): ProvisoError {
  const message = `The run "${runId}" crashed in this process: ${toErrorMessage(cause)}. It is stored, and can be claimed again`
  return new ProvisoError('run/crashed', message, { cause })
}
