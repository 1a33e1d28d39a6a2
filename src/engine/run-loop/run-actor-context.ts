/** What an actor needs of its engine, how a run comes to it, and what others can ask of it. */

import type { Json } from '../../base/json.ts'
import type { Stop } from '../../base/stop.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { AttemptResult, Usage } from '../../domain/output.ts'
import type { HeadUpdate, Lease, Store } from '../../domain/ports/store.ts'
import type { RunState } from '../../domain/run.ts'
import type { Start } from '../decide/start-nodes.ts'
import type { Moment } from '../events.ts'
import type { PlanningResult } from './planning.ts'
import type { Slots } from './slots.ts'

/** What an actor needs of its engine. */
export interface ActorContext {
  readonly store: Store
  readonly clock: Clock
  readonly slots: Slots
  readonly moment: (tenant: string) => Moment
  /** Makes the call of a started attempt. */
  readonly perform: (state: RunState, start: Start, work: Work) => Promise<AttemptResult>
  /** Waited for before the run goes on with what attempts have brought; nothing is where it is absent. */
  readonly turn: (() => Promise<void>) | undefined
  /** Proves the draft that came with the envelope, if one did. */
  readonly planAtHand: (state: RunState) => PlanningResult | undefined
  /** Has a planner draft, and proves. */
  readonly plan: (state: RunState, signal: AbortSignal) => Promise<PlanningResult>
  /** An attempt that the run has moved on from brings a result after all. */
  readonly onLateResult: (runId: string, ref: AttemptRef, result: AttemptResult) => void
  /** They are folded into the state and in the journal. */
  readonly onAppended: (state: RunState, events: readonly NewEvent[]) => void
  /** Nothing is left to do here for now: the run is over, waits or needs another process, and the lease was given back. */
  readonly onIdle: (actor: Actor, state: RunState, idle: Idle) => void
  /** The run belongs to somebody else now. */
  readonly onLost: (actor: Actor) => void
  /** A turn failed in a way that nobody foresaw (a bug); the lease runs out by itself. */
  readonly onCrash: (actor: Actor, cause: unknown) => void
}

export interface Idle {
  /** News came meanwhile. */
  readonly more: boolean
  /** Capabilities that the run needs next, and that are unknown here. */
  readonly missing: readonly string[]
}

export interface Work {
  readonly stop: Stop
  readonly log: (event: string, payload?: { readonly [key: string]: Json }) => void
  /** The agent has taken the call, and calls back until then. */
  readonly onAccepted: (deadlineAt: number) => void
  /** What the call has spent so far. */
  readonly onUsage: (usage: Usage) => void
  /** What the call brings after it was aborted. */
  readonly onLateResult: (result: AttemptResult) => void
}

export interface Actor {
  readonly runId: string
  /** Absent while a new run is not stored yet. */
  readonly lease: Lease | undefined
  /** A turn, a call or a draft is under way, or what one has brought is not written yet. */
  readonly busy: boolean
  /** Something may have changed: take a turn, or another one after the present. */
  poke(): void
  /** Somebody appended up to this sequence number. */
  heard(seq: number): void
  /** Let go of the run: attempts are abandoned, nothing more is written. */
  stop(): void
}

/** How the run comes here: claimed from the store, or new, with its first events not yet stored. */
export type Origin =
  | { readonly kind: 'claimed'; readonly lease: Lease }
  | {
      readonly kind: 'new'
      readonly state: RunState
      readonly events: readonly NewEvent[]
      /** What happens with the start. */
      readonly opening: readonly NewEvent[]
      readonly create: (events: readonly NewEvent[], head: HeadUpdate) => Promise<Lease>
      /** It came to nothing: whoever started the run is told, and nobody else. */
      readonly refuse: (cause: unknown) => void
    }
