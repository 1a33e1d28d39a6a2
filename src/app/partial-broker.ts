/** Passes partial values of nodes to the readers of their run. Nothing is stored, and a slow reader gets the newest only. */
import type { NodePartial } from '../adapters/executors/model.ts'
import type { Pointer } from '../base/pointer.ts'
import type { Dispatch, Dispatcher } from '../domain/ports/dispatcher.ts'
import type { CurrentPartial, PartialSubscription } from '../server/served.ts'

type Listener = (partial: NodePartial) => void

export interface PartialBroker {
  /** Returns who receives the partial values of a run; nothing if there is no reader: then models need not stream. */
  findListener(runId: string): Listener | undefined
  /**
   * Keeps the newest values of a run from now on, before anything reads them. Returns the way to drop them; the models of a
   * run that is not over stream when it continues.
   */
  keep(runId: string): (settled: { readonly isOver: boolean }) => void
  /** Yields partial values until the events of the run end. */
  read(runId: string, events: AsyncGenerator<unknown, void, void>): AsyncGenerator<NodePartial, void, void>
  /** Calls back on every new value. The subscription begins with the current values of the calls in progress. */
  subscribe(runId: string, onChange: () => void): PartialSubscription
  /** Keeps the current value of a call until the returned function is called; nothing if it has no listener. */
  begin(call: Pick<Dispatch, 'runId' | 'nodeId' | 'attempt'>): (() => void) | undefined
}

/** A call in progress, and its newest value. */
interface OpenCall extends CurrentPartial {
  value: unknown
  turn: NodePartial['turn']
  readonly finished: Set<Pointer>
}

interface Subscriber {
  /** Calls with values that were not taken yet. */
  readonly changed: Set<OpenCall>
  readonly onChange: () => void
}

interface Reader {
  /** The newest value of each node that was not read yet. */
  readonly newest: Map<string, NodePartial>
  wake: () => void
}

export function createPartialBroker(onPartial?: Listener): PartialBroker {
  const readers = new Map<string, Set<Reader>>()
  /** Readers of runs started with `partials: true` that nothing has asked for yet. */
  const kept = new Map<string, Reader>()
  /** Runs that were kept and wait: their next call streams, although nothing may read it yet. Oldest first. */
  const waiting = new Set<string>()

  const subscribers = new Map<string, Set<Subscriber>>()
  /** By run and node. */
  const calls = new Map<string, Map<string, OpenCall>>()

  const add = (runId: string): Reader => addTo(readers, runId, { newest: new Map(), wake: () => {} })
  const remove = (runId: string, reader: Reader) => removeFrom(readers, runId, reader)
  const passCurrent = ({ runId, nodeId, attempt, value, finished, replaced, turn }: NodePartial) => {
    const call = calls.get(runId)?.get(nodeId)
    // A call that was cancelled or timed out may still bring chunks.
    if (call?.attempt !== attempt) return
    if (replaced) call.finished.clear()
    for (const pointer of finished) call.finished.add(pointer)
    call.value = value
    call.turn = turn
    for (const { changed, onChange } of subscribers.get(runId) ?? []) {
      changed.add(call)
      onChange()
    }
  }
  const pass: Listener = (partial) => {
    for (const { newest, wake } of readers.get(partial.runId) ?? []) {
      newest.set(partial.nodeId, joined(newest.get(partial.nodeId), partial))
      wake()
    }
    passCurrent(partial)
    onPartial?.(partial)
  }
  const findListener: PartialBroker['findListener'] = (runId) =>
    onPartial || readers.has(runId) || subscribers.has(runId) || waiting.has(runId) ? pass : undefined

  return {
    findListener,
    keep(runId) {
      if (kept.has(runId)) return () => {}
      const reader = add(runId)
      kept.set(runId, reader)
      waiting.delete(runId)
      return ({ isOver }) => {
        if (!isOver) addBounded(waiting, runId)
        if (kept.get(runId) !== reader) return
        kept.delete(runId)
        remove(runId, reader)
      }
    },
    read(runId, events) {
      // Registered at the call, not at the first `next`: calls that begin in between stream as well.
      const reader = kept.get(runId) ?? add(runId)
      kept.delete(runId)
      return readPartials(reader, events, () => remove(runId, reader))
    },
    subscribe(runId, onChange) {
      const current = [...(calls.get(runId)?.values() ?? [])].filter(
        ({ value, turn }) => value !== undefined || turn !== undefined,
      )
      const subscriber = addTo(subscribers, runId, { changed: new Set(current), onChange })
      const { changed } = subscriber
      return {
        hasNew: () => changed.size > 0,
        take() {
          const taken = [...changed]
          changed.clear()
          return taken
        },
        drop(nodeId, attempt) {
          for (const call of changed)
            if (call.nodeId === nodeId && call.attempt <= attempt) changed.delete(call)
        },
        close: () => removeFrom(subscribers, runId, subscriber),
      }
    },
    begin({ runId, nodeId, attempt }) {
      if (findListener(runId) === undefined) return undefined
      const call: OpenCall = { nodeId, attempt, value: undefined, turn: undefined, finished: new Set() }
      const ofRun = calls.get(runId) ?? new Map<string, OpenCall>()
      calls.set(runId, ofRun.set(nodeId, call))
      return () => {
        if (ofRun.get(nodeId) !== call) return
        ofRun.delete(nodeId)
        if (ofRun.size === 0) calls.delete(runId)
      }
    },
  }
}

/** Keeps the current values of the calls of a dispatcher until they end, or are no longer awaited. */
export function withCurrentPartials(
  dispatcher: Dispatcher,
  partials: Pick<PartialBroker, 'begin'>,
): Dispatcher {
  return {
    ...dispatcher,
    async dispatch(call) {
      const end = call.isTool ? undefined : partials.begin(call)
      if (end === undefined) return dispatcher.dispatch(call)
      const { signal } = call
      signal.addEventListener('abort', end, { once: true })
      try {
        return await dispatcher.dispatch(call)
      } finally {
        signal.removeEventListener('abort', end)
        end()
      }
    },
  }
}

/** Most runs that wait and whose models stream when they continue. */
const mostWaiting = 1_000

function addBounded(ids: Set<string>, id: string): void {
  ids.add(id)
  const [oldest] = ids
  if (ids.size > mostWaiting && oldest !== undefined) ids.delete(oldest)
}

function addTo<T>(sets: Map<string, Set<T>>, key: string, item: T): T {
  sets.set(key, (sets.get(key) ?? new Set<T>()).add(item))
  return item
}

function removeFrom<T>(sets: Map<string, Set<T>>, key: string, item: T): void {
  const others = sets.get(key)
  others?.delete(item)
  if (others?.size === 0) sets.delete(key)
}

/** The newer value, with the pointers that became final in the one that was not read. */
function joined(before: NodePartial | undefined, partial: NodePartial): NodePartial {
  if (before === undefined || before.attempt !== partial.attempt) return partial
  if (partial.replaced) return partial
  return { ...partial, finished: [...before.finished, ...partial.finished], replaced: before.replaced }
}

async function* readPartials(
  reader: Reader,
  events: AsyncGenerator<unknown, void, void>,
  close: () => void,
): AsyncGenerator<NodePartial, void, void> {
  let isOver = false
  let failure: { readonly cause: unknown } | undefined
  const wait = () =>
    new Promise<void>((resolve) => {
      reader.wake = resolve
    })
  const watched = drain(events)
    .catch((cause: unknown) => {
      failure = { cause }
    })
    .then(() => {
      isOver = true
      reader.wake()
    })
  try {
    for (;;) {
      const [first] = reader.newest
      if (first) {
        const [nodeId, partial] = first
        reader.newest.delete(nodeId)
        // The value is a live view until the next chunk: the reader gets a copy.
        yield {
          ...partial,
          ...structuredClone({ value: partial.value, ...(partial.turn && { turn: partial.turn }) }),
        }
      } else if (failure) throw failure.cause
      else if (isOver) return
      else await wait()
    }
  } finally {
    close()
    void events.return().then(() => watched)
  }
}

async function drain(events: AsyncGenerator<unknown, void, void>): Promise<void> {
  for await (const _ of events) {
  }
}
