/** What the journal says of one attempt, for whoever brings an answer to it from outside. */
import { ProvisoError } from '../base/error.ts'
import type { EventPayloads, JournalEvent } from '../domain/event.ts'
import { fold } from '../domain/fold.ts'
import { callsIn } from '../domain/fold-doubts.ts'
import type { Store } from '../domain/ports/store.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { loadEvents } from './journal.ts'
import { openQuestionAbout } from './late-result.ts'

export interface AttemptFacts {
  readonly tenant: string
  readonly capabilityId: string
  readonly idempotencyKey: string
  /**
   * An answer to it still counts: it has begun and not ended, or its process died and whoever goes on makes the same call,
   * under the same key; and nobody wants the run to stop.
   */
  readonly open: boolean
  /** A person is asked what became of it: an answer closes that ask. */
  readonly asked: boolean
}

interface AttemptName {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
}

/** Nothing if there is no such run, node or attempt. */
export async function attemptFacts(store: Store, name: AttemptName): Promise<AttemptFacts | undefined> {
  const events = await loadEvents(store, name.runId).catch((cause: unknown) => {
    if (cause instanceof ProvisoError && cause.code === 'run/missing') return undefined
    throw cause
  })
  const state = events && fold(events)
  const named = events && lastOf(events, name)
  if (state === undefined || named === undefined) return undefined
  const { capabilityId, idempotencyKey } = named.start
  const asked = openQuestionAbout(state, (call) => call.idempotencyKey === idempotencyKey) !== undefined
  const open =
    asked || (!state.finished && !state.cancel && inDoubt(named.end) && isAwaited(state, idempotencyKey))
  return { tenant: state.tenant, capabilityId, idempotencyKey, open, asked }
}

/** Whether the call under this key is under way, or made again by whoever continues it: a node of this plan, or a later one. */
function isAwaited(state: RunState, idempotencyKey: string): boolean {
  const isMeant = (call: { readonly idempotencyKey: string }) => call.idempotencyKey === idempotencyKey
  for (const { status, attempt, key } of state.nodes.values()) {
    if (settled.has(status)) continue
    if (attempt && isMeant(attempt) ? inDoubt(attempt.result) : Object.values(key.inDoubt).some(isMeant))
      return true
  }
  return [...state.earlierDoubts.values()].some((left) => !left.isDone && callsIn(left).some(isMeant))
}

const settled: ReadonlySet<NodeState['status']> = new Set(['completed', 'error', 'skipped'])

/** It is under way, or nobody knows what has become of it. */
function inDoubt(end: Pick<EventPayloads['attempt_end'], 'outcome' | 'notApplied'> | undefined): boolean {
  return end === undefined || (end.outcome === 'outcome_unknown' && !end.notApplied)
}

/** Under a new plan attempts are counted anew: the last one of this number is meant. */
function lastOf(events: readonly JournalEvent[], { nodeId, attempt }: AttemptName) {
  let found: { start: EventPayloads['attempt_start']; end?: EventPayloads['attempt_end'] } | undefined
  for (const event of events) {
    if (event.nodeId !== nodeId) continue
    if (event.type === 'attempt_start' && event.payload.attempt === attempt) found = { start: event.payload }
    if (event.type === 'attempt_end' && event.payload.attempt === attempt && found) found.end = event.payload
  }
  return found
}
