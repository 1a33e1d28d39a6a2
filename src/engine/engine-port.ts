/** What an engine is given, and what it does for others. */
import type { Clock } from '../base/clock.ts'
import type { Issue } from '../base/issue.ts'
import type { Reply } from '../domain/ask.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { SubscribeToLifecycle } from '../domain/lifecycle.ts'
import type { Draft } from '../domain/plan.ts'
import type { Catalog } from '../domain/ports/catalog.ts'
import type { Dispatcher } from '../domain/ports/dispatcher.ts'
import type { Planner } from '../domain/ports/planner.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redact.ts'
import type { RunState } from '../domain/run.ts'
import type { WatchOptions } from './journal.ts'
import type { Answer } from './missing.ts'
import type { PlanningCall } from './planning.ts'
import type { ReplayChanges, Replayed } from './replay.ts'
import type { Settled } from './settling.ts'
import type { SlotLimits } from './slots.ts'

export interface EngineOptions {
  readonly store: Store
  readonly catalog: Catalog
  readonly dispatchers: readonly Dispatcher[]
  /** Drafts plans for runs that come without one. */
  readonly planner?: Planner
  /** What carrying out a draft takes: compared with the limits of a run before it starts. Default: not compared. */
  readonly estimate?: PlanningCall['estimate']
  readonly clock?: Clock
  /** The jitter of pauses before calls are tried again, from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
  /** Makes ids of runs; must never give one twice. */
  readonly newId: () => string
  /** The name of this process among those on one store. */
  readonly owner: string
  /** How long a claim holds without a sign of life. Default 15 s; a sign is given three times as often. */
  readonly leaseMs?: number
  /** How often the store is asked for work that nobody told of. Default 1 s. */
  readonly pollMs?: number
  /** How long people have to answer. Default 24 h. */
  readonly askMs?: number
  readonly limits?: SlotLimits
  /** What must not leave. Default: by the names of keys. */
  readonly redactor?: Redactor
  /** Keep what models wrote, redacted, in the journal. Default true. */
  readonly storeRaw?: boolean
  /**
   * Whose runs are carried on here. `all` (default): every run of the store that needs somebody. `own`: only those that were
   * started, answered, resumed or cancelled through this engine; for a process that knows no other's capabilities. `none`:
   * what comes from outside is recorded, and whoever else is on the store goes on with it.
   */
  readonly carry?: 'all' | 'own' | 'none'
  /** Whether a text or value that this kind of capability brings could have been written by strangers. */
  readonly untrustedKinds?: readonly string[]
  /** Waited for before the run goes on with what an attempt brought, for many may end at once. Default: nothing is. */
  readonly turn?: () => Promise<void>
  /** A run could not go on here for a reason that nobody foresaw; another claim will try again. */
  readonly onCrash?: (runId: string, cause: unknown) => void
  /**
   * A run needs capabilities next that are unknown here: it was given back for another process, and is looked at again
   * after a while, or as soon as it changes or one of them is known.
   */
  readonly onMissing?: (runId: string, capabilityIds: readonly string[]) => void
}

export interface StartOptions {
  readonly runId?: string
  readonly tenant?: string
  readonly threadId?: string
  readonly correlationId?: string
  /** A plan written by hand instead of a planner's. */
  readonly draft?: Draft
  /** What was said in an older way; told in the event `start`. */
  readonly warnings?: readonly Issue[]
  /** The trace that it begins in (W3C); kept with the run. */
  readonly traceparent?: string
}

export interface Engine {
  /** Stores the run, starts it and returns its id; it goes on whether or not anybody watches. */
  start(envelope: Envelope, options?: StartOptions): Promise<string>
  /** Resolves when the run is over, or waits for a person. */
  settled(runId: string, signal?: AbortSignal): Promise<Settled>
  state(runId: string): Promise<RunState>
  /** Capabilities that the rest of the run may need, and that are unknown here; after this answer, if one is given. */
  missing(runId: string, answer?: Answer): Promise<string[]>
  /** Decides a recorded run again, with zero calls. */
  replay(runId: string, changes?: ReplayChanges): Promise<Replayed>
  watch(runId: string, options?: WatchOptions): AsyncGenerator<JournalEvent, void, void>
  reply(runId: string, reply: Reply): Promise<void>
  cancel(runId: string, given: { by: string; reason?: string }): Promise<void>
  resume(runId: string, given: { by: string; note?: string; expectedPlanVersion?: number }): Promise<void>
  trigger(runId: string, given: { policyId: string; by: string }): Promise<void>
  /** Carries on a run that a dead process left, as soon as its lease has run out; needed with `carry: 'own'` alone. */
  adopt(runId: string): Promise<void>
  /** Closes the ask about a call if the answer to it is in the store by now. */
  takeLateAnswer(runId: string, idempotencyKey: string): Promise<void>
  /** Tells what happens to runs in this process, as soon as it is in the journal. */
  readonly subscribeToLifecycle: SubscribeToLifecycle
  /** Begins to look for work in the store: due timers, replies given elsewhere, runs of dead processes. */
  open(): void
  /** Starts nothing more, lets attempts in flight end for at most `graceMs` (default 5 s), gives every lease back, and stops. */
  close(options?: { readonly graceMs?: number }): Promise<void>
  /** Runs that are being carried here at this moment. */
  readonly active: number
  /** Attempts that are in flight here at this moment. */
  readonly attempts: number
}
