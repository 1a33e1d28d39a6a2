/**
 * The state of one active run in this process, the inputs that change it, and the effects that follow. All are plain
 * values. Results that are not in the journal become events here.
 */

import type { Json } from '../../base/json.ts'
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { NewEvent } from '../../domain/event.ts'
import { hasLoopFact } from '../../domain/loop/loop-state.ts'
import type { LoopFact } from '../../domain/loop-facts.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Considered } from '../../domain/ports/planner.ts'
import type { Append, AppendResult, HeadUpdate, Lease } from '../../domain/ports/store.ts'
import type { RunState } from '../../domain/run.ts'
import { charged, settlement } from '../decide/budget.ts'
import type { Decisions } from '../decide/decide-until-idle.ts'
import type { Start } from '../decide/start-nodes.ts'
import { factsFor } from '../events.ts'
import type { PlanningLack, PlanningResult } from './planning.ts'
import type { Idle } from './run-actor-context.ts'

/**
 * A call in flight. `isAccepted`: its answer comes later, to the process that owns the run by then. `isStopped`: it was aborted
 * before the end of its attempt was written.
 */
export interface ActiveCall extends AttemptRef {
  readonly isAccepted: boolean
  readonly isStopped?: true
}

/** What was decided in a turn and is being written. */
export interface Decision {
  readonly step: Decisions
  readonly isIdle: boolean
}

/**
 * Where the turn is. A turn reads the run if another process has appended to it, decides, writes all events in one
 * append, and only then starts calls; the lease is released if nothing is left to do. In `ending` the effects of the turn
 * are carried out, and the next turn starts after them.
 */
export type Phase =
  | { readonly kind: 'waiting' | 'reading' | 'ending' }
  | { readonly kind: 'deciding'; readonly expectedSeq: number }
  | { readonly kind: 'writing' | 'releasing'; readonly decision: Decision }

export interface ActorState {
  readonly runId: string
  readonly phase: Phase
  /** The actor has released the run: nothing more is started or written. */
  readonly isStopped: boolean
  /** Something has changed since the turn began: another turn follows. */
  readonly isDue: boolean
  /** A turn is scheduled with the other runs whose attempts have ended. */
  readonly isPaced: boolean
  /** Absent: must be read. Events are folded into it in place while deciding, so it is read again if they are not written. */
  readonly run: RunState | undefined
  /** Absent while a new run is not stored. */
  readonly lease: Lease | undefined
  /** The first events of a new run: folded, not stored. */
  readonly unsaved: readonly NewEvent[]
  /** Events that follow the start of a new run: not folded. */
  readonly opening: readonly NewEvent[]
  /** Results that arrived since the turn began. */
  readonly pending: Pending
  /** Results that the current turn writes. */
  readonly taken: Pending
  readonly calls: ReadonlyMap<string, ActiveCall>
  /** Attempts by node that may be in the journal, because their append failed without an answer, and were never sent. */
  readonly unsent: ReadonlyMap<string, number>
  readonly isPlanning: boolean
  /** The highest sequence number that the store has reported for the run. */
  readonly latestSeq: number
  /** Consecutive turns that failed because the store was unavailable. */
  readonly storeFailures: number
}

export const nothingPending: Pending = { accepted: [], facts: [], ended: [], planned: undefined }

/** The state of a run that was claimed, or of a new one with its first events. */
export function createActorState(
  runId: string,
  given: Pick<ActorState, 'run' | 'lease'> & Partial<Pick<ActorState, 'unsaved' | 'opening'>>,
): ActorState {
  return {
    runId,
    phase: { kind: 'waiting' },
    isStopped: false,
    isDue: false,
    isPaced: false,
    run: given.run,
    lease: given.lease,
    unsaved: given.unsaved ?? [],
    opening: given.opening ?? [],
    pending: nothingPending,
    taken: nothingPending,
    calls: new Map(),
    unsent: new Map(),
    isPlanning: false,
    latestSeq: 0,
    storeFailures: 0,
  }
}

/** Whether a turn, a call or a draft is in progress, or a result is not written. An accepted call can be awaited by another process. */
export function isBusy({ phase, calls, isPlanning, pending }: ActorState): boolean {
  if (phase.kind !== 'waiting' || isPlanning) return true
  const { ended, accepted, facts, planned } = pending
  if (ended.length > 0 || accepted.length > 0 || facts.length > 0 || planned !== undefined) return true
  for (const { isAccepted } of calls.values()) if (!isAccepted) return true
  return false
}

export type Input =
  /** Something may have changed. */
  | { readonly kind: 'wake' }
  /** The paced turn is due. */
  | { readonly kind: 'paced' }
  /** Events up to this sequence number are in the store. */
  | { readonly kind: 'notified'; readonly seq: number }
  | { readonly kind: 'accepted'; readonly accepted: Accepted }
  /** An attempt has facts for the journal, and waits until they are written. */
  | { readonly kind: 'recorded'; readonly recorded: Recorded }
  | { readonly kind: 'ended'; readonly ended: Ended }
  | { readonly kind: 'planned'; readonly planned: Planned }
  /** The journal was read; without events there is no run. */
  | { readonly kind: 'read'; readonly run: RunState | undefined }
  /** `canBeAhead`: the events allow an append that is ahead of the disk. */
  | {
      readonly kind: 'decided'
      readonly step: Decisions
      readonly now: number
      readonly canBeAhead?: boolean
    }
  /** The new run is stored, with this lease. */
  | { readonly kind: 'leased'; readonly lease: Lease }
  | { readonly kind: 'written'; readonly result: WriteResult }
  /** The lease was released. */
  | { readonly kind: 'released' }
  /** The effects of the turn were carried out. */
  | { readonly kind: 'turn-ended' }
  /** The turn failed. `isRetryable`: the store is unavailable. */
  | { readonly kind: 'failed'; readonly cause: unknown; readonly isRetryable: boolean; readonly now: number }
  /** A call or the planner failed in a way that only a bug explains. */
  | { readonly kind: 'crashed'; readonly cause: unknown }
  | { readonly kind: 'stop' }

export type WriteResult = 'created' | AppendResult['kind']

/** What the shell does next. Effects of one turn are carried out in order. */
export type Effect =
  | { readonly kind: 'read' }
  | { readonly kind: 'decide'; readonly run: RunState; readonly isReread: boolean }
  | {
      readonly kind: 'create'
      readonly run: RunState
      readonly events: readonly NewEvent[]
      readonly head: HeadUpdate
    }
  | { readonly kind: 'append'; readonly run: RunState; readonly append: Append }
  | { readonly kind: 'release-lease'; readonly lease: Lease }
  /** The run has had its turn for slots, and could use more of them or not. */
  | { readonly kind: 'end-slot-turn'; readonly more: boolean }
  | { readonly kind: 'release-slots'; readonly capabilityIds: readonly string[] }
  /** Aborts calls whose attempts end in the append that follows: from now on they spend nothing that it does not charge. */
  | { readonly kind: 'stop-calls'; readonly calls: readonly AttemptRef[] }
  /** The append was not written, and their attempts do not end after all: calls that were stopped end with an unknown outcome. */
  | { readonly kind: 'end-stopped-calls'; readonly calls: readonly AttemptRef[] }
  /** Aborts calls that the run no longer waits for; their results are late results. */
  | { readonly kind: 'interrupt'; readonly calls: readonly AttemptRef[] }
  | { readonly kind: 'report-late'; readonly ended: Ended }
  /** The facts are in the journal, unless their attempt is over. */
  | { readonly kind: 'confirm'; readonly recorded: Recorded; readonly isWritten: boolean }
  | { readonly kind: 'call'; readonly call: ActiveCall; readonly start: Start; readonly run: RunState }
  /** Takes a slot for a call that is in progress already. */
  | { readonly kind: 'occupy-slot'; readonly capabilityId: string }
  /** Calls the planner. `considered`: what was priced for the request. */
  | {
      readonly kind: 'plan'
      readonly run: RunState
      readonly request: string | undefined
      readonly considered: Considered | undefined
    }
  | { readonly kind: 'set-timer'; readonly at: number | undefined }
  | { readonly kind: 'pace' }
  | { readonly kind: 'end-turn' }
  /** Cancels the timer and the planner. */
  | { readonly kind: 'stop-waiting' }
  /** Aborts every call. */
  | { readonly kind: 'abandon-calls' }
  | { readonly kind: 'report-idle'; readonly run: RunState; readonly idle: Idle }
  | { readonly kind: 'report-lost' }
  | { readonly kind: 'report-crash'; readonly cause: unknown }
  /** Rejects the start of a new run that could not be stored. */
  | { readonly kind: 'refuse'; readonly cause: unknown }

/** The outcome of one input. */
export interface Turn {
  readonly state: ActorState
  readonly effects: readonly Effect[]
}

export type Dispatch = (input: Input) => void

/** Carries out effects of one kind. */
export type Handler<K extends Effect['kind']> = (effect: Extract<Effect, { readonly kind: K }>) => void

// Turns the results of attempts and planning since the last turn into events for the journal.

export interface Ended extends AttemptRef {
  readonly result: AttemptResult
  readonly logs: readonly { event: string; payload?: { readonly [key: string]: Json } }[]
}

/** An agent has accepted the call of an attempt, and calls back with the answer. */
interface Accepted extends AttemptRef {
  readonly agent: string
  readonly deadlineAt: number
}

/** Facts of an attempt under way. */
interface Recorded extends AttemptRef {
  /** Identifies them in this process. */
  readonly id: number
  readonly facts: readonly LoopFact[]
}

/** The result of a request for a plan. */
interface Planned {
  readonly request: string | undefined
  readonly result: PlanningResult | PlanningLack
}

/** Results that are not in the journal. */
interface Pending {
  readonly accepted: readonly Accepted[]
  readonly facts: readonly Recorded[]
  readonly ended: readonly Ended[]
  readonly planned: Planned | undefined
}

export function toPendingEvents(current: RunState, now: number, from: Pending): NewEvent[] {
  const facts: NewEvent[] = []
  for (const accepted of from.accepted) {
    const { nodeId, attempt, agent, deadlineAt } = accepted
    if (!isRunning(current, accepted) || current.nodes.get(nodeId)?.attempt?.accepted) continue
    facts.push(factsFor(current, now)('attempt_accepted', { attempt, agent, deadlineAt }, { nodeId }))
  }
  for (const recorded of from.facts) {
    if (!isRunning(current, recorded)) continue
    const { nodeId } = recorded
    const loop = current.nodes.get(nodeId)?.loop
    // An append without an answer may have been written.
    for (const fact of recorded.facts)
      if (!hasLoopFact(loop, fact)) facts.push(factsFor(current, now)(fact.type, fact.payload, { nodeId }))
  }
  for (const { nodeId, attempt, planVersion, result, logs } of from.ended) {
    // Another process has settled the attempt meanwhile: its result is not applied.
    if (!isRunning(current, { nodeId, attempt, planVersion })) continue
    const make = factsFor(current, now)
    for (const log of logs) facts.push(make('log', log, { nodeId }))
    const usage = charged(current, nodeId, result.usage)
    facts.push(...settlement(current, now, { nodeId, attempt, usage }))
    facts.push(make('attempt_end', { attempt, ...result, usage }, { nodeId }))
  }
  // An append without an answer may have been written: it has answered this request, and may have made the next one.
  const { result } = answersRequest(current, from) ? from.planned : {}
  if (typeof result === 'function') facts.push(...result(current, now))
  return facts
}

/** Capabilities that the requested plan needs and this process does not have. */
export function toMissingForPlan(current: RunState, from: Pending): readonly string[] {
  const { result } = answersRequest(current, from) ? from.planned : {}
  return typeof result === 'object' ? result.missing : []
}

function answersRequest(current: RunState, from: Pending): from is Pending & { readonly planned: Planned } {
  return from.planned?.request !== undefined && from.planned.request === openRequest(current)
}

export function isRunning(state: RunState, { nodeId, attempt, planVersion }: AttemptRef): boolean {
  if (state.planVersion !== planVersion || !state.running.has(nodeId)) return false
  return state.nodes.get(nodeId)?.attempts === attempt
}

/** Identifies the open request for a plan; absent if no request is open, or its draft was rejected. */
export function openRequest({ planning, planVersion }: RunState): string | undefined {
  if (!planning || planning.rejected) return undefined
  return `${planVersion} ${planning.phase} ${planning.attempt}`
}
