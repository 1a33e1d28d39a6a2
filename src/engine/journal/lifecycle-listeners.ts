/**
 * Notifies subscribers of events in this process. A listener that throws stays subscribed, a slow one loses the oldest
 * notices of its buffer, and neither blocks a run.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type {
  AppendedNotice,
  EndedNode,
  LifecycleListener,
  LifecycleNotice,
  SubscribeToLifecycle,
} from '../../domain/event/lifecycle.ts'
import { numbered } from '../../domain/event/numbered.ts'
import type { EventType, JournalEvent, NewEvent } from '../../domain/event.ts'
import type { RunState } from '../../domain/run.ts'
import { getRunStatus } from './run-head.ts'

export const lifecycleLimits = { subscribers: 100, buffer: 1_000 } as const

export interface Lifecycle {
  readonly subscribe: SubscribeToLifecycle
  /**
   * Called after the events are applied to the state and stored in the journal. Costs nothing without subscribers. `durable`:
   * the notice waits for it.
   */
  appended(
    state: RunState,
    events: readonly NewEvent[],
    given: { readonly by: AppendedNotice['by']; readonly durable?: Promise<void> | undefined },
  ): void
  notify(notice: LifecycleNotice): void
  readonly subscribers: number
}

interface Subscriber {
  readonly types: ReadonlySet<EventType> | undefined
  readonly ofThreads: true | undefined
  readonly receive: (notice: LifecycleNotice) => void
}

export function createLifecycle(): Lifecycle {
  const subscribers = new Set<Subscriber>()
  const notify = (notice: LifecycleNotice) => {
    for (const { receive, ofThreads } of subscribers) if (!ofThreads) receive(notice)
  }
  const deliver = (subscriber: Subscriber, notice: AppendedNotice, durable?: Promise<void>) => {
    if (durable === undefined) subscriber.receive(notice)
    else void durable.then(() => subscribers.has(subscriber) && subscriber.receive(notice))
  }
  return {
    notify,
    get subscribers() {
      return subscribers.size
    },
    appended(state, events, { by, durable }) {
      // Created once, and only if a subscriber needs it.
      let all: AppendedNotice | undefined
      for (const subscriber of subscribers) {
        const { types, ofThreads } = subscriber
        if (ofThreads && state.threadId === undefined) continue
        if (types === undefined) {
          all ??= toNotice(state, events, by)
          deliver(subscriber, all, durable)
        } else if (events.some(({ type }) => types.has(type)))
          deliver(subscriber, toNotice(state, events, by, types), durable)
      }
    },
    subscribe(listener, { buffer = lifecycleLimits.buffer, types, ofThreads } = {}) {
      // The subscription of the app's threads does not count: users have all of the limit.
      if ([...subscribers].filter((each) => !each.ofThreads).length >= lifecycleLimits.subscribers)
        throw new ProvisoError(
          'option/invalid',
          `The lifecycle has ${lifecycleLimits.subscribers} subscribers, which is the limit`,
          { hint: 'End subscriptions that are not needed: call what subscribeToLifecycle returned' },
        )
      if (!Number.isInteger(buffer) || buffer < 1)
        throw new ProvisoError('option/invalid', 'The buffer of a subscription must be at least 1')
      const subscriber = { ...createSubscriber(listener, buffer), types: types && new Set(types), ofThreads }
      subscribers.add(subscriber)
      return () => {
        subscribers.delete(subscriber)
      }
    },
  }
}

/** Calls an idle listener synchronously, so that a synchronous listener misses no notice and runs before all that follows. */
function createSubscriber(listener: LifecycleListener, buffer: number): Pick<Subscriber, 'receive'> {
  const waiting: LifecycleNotice[] = []
  let busy = false
  let missed = 0
  const call = (notice: LifecycleNotice): void | Promise<void> => {
    const before = missed
    missed = 0
    try {
      return listener(notice, { missed: before })
    } catch {
      // Errors of a listener are ignored: they must not affect the run or other listeners.
      return undefined
    }
  }
  const drain = async (first: Promise<void>) => {
    let pending: void | Promise<void> = first
    for (;;) {
      await Promise.resolve(pending).catch(() => {})
      const next = waiting.shift()
      if (next === undefined) break
      pending = call(next)
    }
    busy = false
  }
  return {
    receive(notice) {
      if (busy) {
        waiting.push(notice)
        if (waiting.length <= buffer) return
        waiting.shift()
        missed++
        return
      }
      const pending = call(notice)
      if (!(pending instanceof Promise)) return
      busy = true
      void drain(pending)
    },
  }
}

function toNotice(
  state: RunState,
  events: readonly NewEvent[],
  by: AppendedNotice['by'],
  types?: ReadonlySet<EventType>,
): AppendedNotice {
  const { runId, correlationId, traceparent, tenant, threadId } = state
  const all = numbered(runId, state.seq - events.length, events)
  const selected = types === undefined ? all : all.filter(({ type }) => types.has(type))
  return {
    kind: 'appended',
    runId,
    correlationId,
    ...(traceparent !== undefined && { traceparent }),
    ...(threadId !== undefined && { thread: { tenant, threadId } }),
    status: getRunStatus(state),
    by,
    events: selected,
    ended: selected.flatMap((event) => endedNode(state, event)),
  }
}

function endedNode(state: RunState, { type, nodeId = '', at }: JournalEvent): EndedNode[] {
  if (type !== 'node_complete' && type !== 'node_error') return []
  const node = state.nodes.get(nodeId)
  if (node?.startedAt === undefined) return []
  const capabilityId = node.attempt?.capabilityId ?? node.node.capabilityId
  return [
    {
      nodeId,
      ...(capabilityId !== undefined && { capabilityId }),
      durationMs: Math.max(at - node.startedAt, 0),
    },
  ]
}
