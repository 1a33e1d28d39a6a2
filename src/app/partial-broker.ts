/** Passes partial values of nodes to the readers of their run. Nothing is stored, and a slow reader gets the newest only. */
import type { NodePartial } from '../adapters/executors/model.ts'

type Listener = (partial: NodePartial) => void

export interface PartialBroker {
  /** Returns who receives the partial values of a run; nothing if there is no reader: then models need not stream. */
  listenerOf(runId: string): Listener | undefined
  /** Keeps the newest values of a run from now on, before anything reads them. Returns the way to drop them. */
  keep(runId: string): () => void
  /** Yields partial values until the events of the run end. */
  read(runId: string, events: AsyncGenerator<unknown, void, void>): AsyncGenerator<NodePartial, void, void>
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

  const add = (runId: string): Reader => {
    const reader: Reader = { newest: new Map(), wake: () => {} }
    const others = readers.get(runId)
    readers.set(runId, others ? others.add(reader) : new Set([reader]))
    return reader
  }
  const remove = (runId: string, reader: Reader) => {
    const others = readers.get(runId)
    others?.delete(reader)
    if (others?.size === 0) readers.delete(runId)
  }
  const pass: Listener = (partial) => {
    for (const { newest, wake } of readers.get(partial.runId) ?? []) {
      newest.set(partial.nodeId, joined(newest.get(partial.nodeId), partial))
      wake()
    }
    onPartial?.(partial)
  }

  return {
    listenerOf: (runId) => (onPartial || readers.has(runId) ? pass : undefined),
    keep(runId) {
      if (kept.has(runId)) return () => {}
      const reader = add(runId)
      kept.set(runId, reader)
      return () => {
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
  }
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
        yield { ...partial, value: structuredClone(partial.value) }
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
