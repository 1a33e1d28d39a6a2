/** Reading a run's journal: all of it as a state, or event by event as it grows. */
import { ProvisoError } from '../base/error.ts'
import type { JournalEvent } from '../domain/event.ts'
import { fold } from '../domain/fold.ts'
import type { Store } from '../domain/ports/store.ts'
import type { RunState } from '../domain/run.ts'
import type { Changes } from './changes.ts'

const pageSize = 5000

/** The state of a run; `run/missing` if there is none. */
export async function loadState(store: Store, runId: string): Promise<RunState> {
  const state = fold(await loadEvents(store, runId))
  // There is at least one event, and folding one gives a state.
  return state as RunState
}

/** All events of a run, oldest first. */
export async function loadEvents(store: Store, runId: string): Promise<JournalEvent[]> {
  const events: JournalEvent[] = []
  for (;;) {
    const page = await store.read(runId, events.length, pageSize)
    for (const event of page) events.push(event)
    if (page.length < pageSize) break
  }
  if (events.length === 0) throw new ProvisoError('run/missing', `There is no run "${runId}" in this store`)
  return events
}

export interface WatchOptions {
  /** Only events after this sequence number. Default 0: from the beginning. */
  readonly after?: number
  readonly signal?: AbortSignal
}

/** Every event once and in order, from the journal itself, until the run is over or the signal says stop. */
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

/** Nothing comes after this place: the run is over. There must be one; a name that is wrong would be waited for in vain. */
async function isOver(store: Store, runId: string, after: number): Promise<boolean> {
  const head = await store.head(runId)
  if (!head) throw new ProvisoError('run/missing', `There is no run "${runId}" in this store`)
  return after >= head.seq && ['completed', 'failed', 'cancelled'].includes(head.status)
}
