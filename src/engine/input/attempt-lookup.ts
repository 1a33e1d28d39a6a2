/** Looks up one attempt in the journal, for answers that arrive from outside. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { EventPayloads, JournalEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import { callsIn } from '../../domain/run/fold-uncertain-calls.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { loadEvents } from '../journal/journal.ts'
import { openQuestionAbout } from './late-result.ts'

export interface AttemptFacts {
  readonly tenant: string
  readonly capabilityId: string
  readonly idempotencyKey: string
  /**
   * Whether an answer still counts: the attempt is in flight, or its outcome is unknown and the same call is made again
   * with the same key; and the run is not finished or cancelled.
   */
  readonly open: boolean
  /** Whether an ask about the outcome of the call is open: an answer closes it. */
  readonly asked: boolean
  /** Whether an attempt waits for the answer; otherwise it is only kept for a node that makes the same call again. */
  readonly inFlight: boolean
  /** The plan under which the attempt was made. */
  readonly planVersion: number
}

interface AttemptName {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  /** Prefix of the call's idempotency key. */
  readonly keyStart?: string
}

/** Returns nothing if there is no such run, node or attempt. */
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
  const inFlight = [...state.running].some(
    (id) => state.nodes.get(id)?.attempt?.idempotencyKey === idempotencyKey,
  )
  const { planVersion } = named
  return { tenant: state.tenant, capabilityId, idempotencyKey, open, asked, inFlight, planVersion }
}

/** Whether the call with this key is in flight, or is repeated by a node of this plan or a later one. */
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

/** Whether the call is in flight, or its outcome is unknown. */
function inDoubt(end: Pick<EventPayloads['attempt_end'], 'outcome' | 'notApplied'> | undefined): boolean {
  return end === undefined || (end.outcome === 'outcome_unknown' && !end.notApplied)
}

interface FoundAttempt {
  readonly start: EventPayloads['attempt_start']
  readonly planVersion: number
  end?: EventPayloads['attempt_end']
}

/** A new plan restarts the attempt numbers: finds the last attempt with this number and key prefix. */
function lastOf(events: readonly JournalEvent[], { nodeId, attempt, keyStart = '' }: AttemptName) {
  let found: FoundAttempt | undefined
  let isMeant = false
  for (const event of events) {
    if (event.nodeId !== nodeId) continue
    if (event.type === 'attempt_start') {
      isMeant = event.payload.attempt === attempt && event.payload.idempotencyKey.startsWith(keyStart)
      if (isMeant) found = { start: event.payload, planVersion: event.planVersion }
    }
    if (event.type === 'attempt_end' && isMeant && found) found.end = event.payload
  }
  return found
}
