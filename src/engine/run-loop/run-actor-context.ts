/** The interface between an actor and its engine. */

import type { Json } from '../../base/json.ts'
import type { Stop } from '../../base/stop.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { LoopFact } from '../../domain/loop-facts.ts'
import type { AttemptResult, Usage } from '../../domain/output.ts'
import type { Considered } from '../../domain/ports/planner.ts'
import type { HeadUpdate, Lease, Store } from '../../domain/ports/store.ts'
import type { RunState } from '../../domain/run.ts'
import type { CompileOptions } from '../../schema/compile/compile.ts'
import type { Start } from '../decide/start-nodes.ts'
import type { DecisionContext } from '../events.ts'
import type { FairReads } from './fair-reads.ts'
import type { PlanningLack, PlanningResult } from './planning.ts'
import type { Slots } from './slots.ts'

/** What the engine provides to an actor. */
export interface ActorContext {
  readonly store: Store
  readonly compileOptions?: CompileOptions
  readonly clock: Clock
  readonly slots: Slots
  readonly reads: FairReads
  readonly decisionContext: (tenant: string) => DecisionContext
  /** Awaited before a claimed run is decided: what other processes have registered. Absent: not awaited. */
  readonly updateCatalog: ((tenant: string) => Promise<void>) | undefined
  /** Makes the call of a started attempt. */
  readonly perform: (state: RunState, start: Start, work: Work) => Promise<AttemptResult>
  /** Awaited before the run continues with the results of attempts. Absent: not awaited. */
  readonly turn: (() => Promise<void>) | undefined
  /** Proves the draft that was submitted with the envelope, if there is one. */
  readonly planAtHand: (state: RunState) => PlanningResult | undefined
  /** Requests a draft from the planner, and proves it. */
  readonly plan: (
    state: RunState,
    request: { readonly signal: AbortSignal; readonly considered: Considered | undefined },
  ) => Promise<PlanningResult | PlanningLack>
  /** Called with the result of an attempt that was interrupted. */
  readonly onLateResult: (runId: string, ref: AttemptRef, result: AttemptResult) => void
  /** Whether an append of these events, which are folded into the state, may be ahead of the disk (`Append.canBeAhead`). */
  readonly canBeAhead: (state: RunState, events: readonly NewEvent[]) => boolean
  /**
   * Called after the events are folded into the state and stored in the journal. `durable`: they are ahead of the disk, and
   * nothing outside of the process may know of them before it resolves.
   */
  readonly onAppended: (state: RunState, events: readonly NewEvent[], durable?: Promise<void>) => void
  /** Called when nothing is left to do here: the run is over, waits or needs another process, and its lease is released. */
  readonly onIdle: (actor: Actor, state: RunState, idle: Idle) => void
  /** Called when another process has claimed the run. */
  readonly onLost: (actor: Actor) => void
  /** Called when a turn failed unexpectedly (a bug); the lease expires by itself. */
  readonly onCrash: (actor: Actor, cause: unknown) => void
}

export interface Idle {
  /** Something happened to the run meanwhile. */
  readonly more: boolean
  /** Capabilities that the run needs next and this process lacks. */
  readonly missing: readonly string[]
}

export interface Work {
  readonly stop: Stop
  readonly log: (event: string, payload?: { readonly [key: string]: Json }) => void
  /** The agent has accepted the call, and calls back by this time. */
  readonly onAccepted: (deadlineAt: number) => void
  /** The usage of the call so far. */
  readonly onUsage: (usage: Usage) => void
  /** Appends facts of an attempt under way to the journal; resolves once they are there, and rejects if the attempt is over. */
  readonly record: (facts: readonly LoopFact[]) => Promise<void>
  /** The result of the call after it was aborted. */
  readonly onLateResult: (result: AttemptResult) => void
}

export interface Actor {
  readonly runId: string
  /** Absent while a new run is not stored. */
  readonly lease: Lease | undefined
  /** Whether a turn, a call or a draft is in progress, or a result is not written. */
  readonly busy: boolean
  /** Whether the store has not answered a write or a release. */
  readonly isWriting: boolean
  /** Whether its journal is not read yet: it may need slots. */
  readonly isUnloaded: boolean
  /** The calls that were in flight last. */
  readonly calls: readonly AttemptRef[]
  /** Something may have changed: takes a turn, or another one after the current. */
  wake(): void
  /** Events up to this sequence number are in the store. */
  notify(seq: number): void
  /** Releases the run: attempts are abandoned, nothing more is written. */
  stop(): void
}

/** Where the run comes from: claimed from the store, or new, with its first events not yet stored. */
export type Origin =
  | { readonly kind: 'claimed'; readonly tenant: string; readonly lease: Lease }
  | {
      readonly kind: 'new'
      readonly state: RunState
      readonly events: readonly NewEvent[]
      /** Events that follow the start. */
      readonly opening: readonly NewEvent[]
      readonly create: (events: readonly NewEvent[], head: HeadUpdate) => Promise<Lease>
      /** Rejects the start: the run could not be stored. */
      readonly refuse: (cause: unknown) => void
    }
