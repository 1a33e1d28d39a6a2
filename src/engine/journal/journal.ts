/** Reads the journal of a run, folded to a state or as a stream of events, and waits for its changes without missing any. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import { isTerminal } from '../../domain/status.ts'
import type { CompileOptions } from '../../schema/compile/compile.ts'

const pageSize = 5000

/** Returns the state of a run; throws `run/missing` if there is none. */
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
    const change = changes.next(runId, signal ? AbortSignal.any([signal, news.signal]) : news.signal)
    const page = await store.read(runId, after, 500)
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
