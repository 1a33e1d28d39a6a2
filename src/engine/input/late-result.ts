/**
 * Records what is reported about a call from outside its actor: results that arrive after their attempt has ended, and
 * leases that were lost during it. A result that says what the call did settles the open ask about the
 * attempt; any other is logged and has no effect. Also looks up the attempt that an answer from outside is for.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { AttemptRef, DoubtfulCall } from '../../domain/attempt/call-key.ts'
import type { EventPayloads, JournalEvent, NewEvent } from '../../domain/event.ts'
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import type { Store } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import { callsIn, isSameAttempt } from '../../domain/run/fold-uncertain-calls.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { resolveFact } from '../decide/ask/asks.ts'
import { factsFor } from '../events.ts'
import { loadEvents } from '../journal/journal.ts'
import { appendChecked, type Outside } from './replies.ts'

/** Name of the log entry for a late result without effect. */
export const lateResultLog = 'attempt.late_result'

interface LateResult {
  readonly ref: AttemptRef
  readonly result: AttemptResult
  /** Whether it says what the call did. */
  readonly settles: boolean
  /** The note on the closed ask. */
  readonly note: string
}

/** Outcomes that say what the call did. */
const answers: ReadonlySet<Outcome> = new Set(['ok', 'invalid', 'truncated', 'refused', 'unclear'])

/** Whether the result of an aborted call says what it did: a failure may only be caused by the abort. */
export function settlesDoubt({ outcome, notApplied }: AttemptResult): boolean {
  return answers.has(outcome) || notApplied === true
}

/** An open ask about the outcome of a call. */
interface OpenQuestion {
  readonly requestId: string
  /** The node that waits for the answer; the call may belong to a node of an earlier plan. */
  readonly nodeId: string
  readonly call: DoubtfulCall
}

/** Finds the open ask about the matching call. */
export function openQuestionAbout(
  state: RunState,
  isMeant: (call: DoubtfulCall, nodeId: string) => boolean,
): OpenQuestion | undefined {
  if (state.finished || state.cancel) return undefined
  for (const requestId of state.openAsks) {
    const { kind, nodeId = '' } = state.asks.get(requestId) ?? {}
    const call = kind === 'unknown_outcome' ? state.nodes.get(nodeId)?.unsure : undefined
    if (call && isMeant(call, nodeId)) return { requestId, nodeId, call }
  }
  return undefined
}

/** Records a late result: closes the ask about its attempt, or logs it without effect. */
export function recordLateResult(outside: Outside, runId: string, late: LateResult): Promise<RunState> {
  const { ref, result, note } = late
  const { attempt } = ref
  return appendChecked(outside, runId, { by: 'system' }, (state, { now }) => {
    if (state.finished) return []
    const make = factsFor(state, now)
    const question = openQuestionAbout(state, (call) => isSameAttempt(call, ref))
    if (question === undefined || !late.settles) {
      const payload = {
        attempt,
        planVersion: ref.planVersion,
        outcome: result.outcome,
        applied: false,
      }
      return [make('log', { event: lateResultLog, payload }, { nodeId: ref.nodeId })]
    }
    const { requestId, nodeId } = question
    const valueHash = state.asks.get(requestId)?.valueHash ?? ''
    return [
      make('attempt_settled', { attempt, ...result }, { nodeId }),
      resolveFact(state, now, { requestId, decision: 'settled', valueHash, by: 'system', note }),
    ] satisfies NewEvent[]
  })
}

// Looks up one attempt in the journal.

interface AttemptFacts {
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
  const named = events && findLast(events, name)
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
function findLast(events: readonly JournalEvent[], { nodeId, attempt, keyStart = '' }: AttemptName) {
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

/** Leases that may be lost in one attempt and its repetitions, minus one. */
const mostLost = 1

/**
 * Records that leases were lost while the owner was alive: the process was too busy to renew them, and another one has the
 * run. A call that keeps doing this to every process would be made again and again; after the second time in one attempt
 * and its repetitions, the run is quarantined until an operator resumes or cancels it.
 */
export function recordLostLease(
  outside: Outside,
  runId: string,
  { owner, calls }: { readonly owner: string; readonly calls: readonly AttemptRef[] },
): Promise<RunState> {
  return appendChecked(outside, runId, { by: owner }, (state, { now }) => {
    if (state.finished) return []
    const make = factsFor(state, now)
    return calls.flatMap(({ nodeId, attempt, planVersion }) => {
      const node = state.nodes.get(nodeId)
      if (node === undefined || planVersion !== state.planVersion || node.lostLeases?.has(attempt)) return []
      // Only a call whose outcome is open may be made again.
      const isOpen = node.status === 'running' || node.attempt?.result?.outcome === 'outcome_unknown'
      if (!isOpen) return []
      const lost = make('lease_lost', { attempt, owner }, { nodeId })
      if ((node.lostLeases?.size ?? 0) < mostLost || state.paused?.isQuarantine) return [lost]
      const reason = `"${nodeId}" has cost ${mostLost + 1} processes their lease: each was too busy to renew it`
      return [lost, make('quarantined', { reason, attempt }, { nodeId })]
    })
  })
}
