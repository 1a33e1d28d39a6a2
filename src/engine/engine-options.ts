/** Options and public interface of the engine. */

import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Reply } from '../domain/ask.ts'
import type { AttemptRef } from '../domain/attempt/call-key.ts'
import type { Capability } from '../domain/capability.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { SubscribeToLifecycle } from '../domain/event/lifecycle.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Outcome } from '../domain/output.ts'
import type { Labels } from '../domain/placement.ts'
import type { Draft } from '../domain/plan.ts'
import type { Catalog } from '../domain/ports/catalog.ts'
import type { Dispatcher } from '../domain/ports/dispatcher.ts'
import type { ParseText } from '../domain/ports/parse-text.ts'
import type { Planner } from '../domain/ports/planner.ts'
import type { Queue } from '../domain/ports/queue/queue.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redaction/redact.ts'
import type { RunState } from '../domain/run.ts'
import type { ThreadContext } from '../domain/thread/thread-context.ts'
import type { CompileOptions } from '../schema/compile/compile.ts'
import type { Answer } from './capabilities.ts'
import type { TaskChange } from './input/change-task.ts'
import type { Settled, WatchOptions } from './journal/journal.ts'
import type { OpenCircuit } from './limits/circuits.ts'
import type { GateOptions } from './limits/gate.ts'
import type { ReplayChanges, Replayed } from './replay/replay.ts'
import type { PlanningCall } from './run-loop/planning.ts'
import type { SlotLimits } from './run-loop/slots.ts'

export interface EngineOptions {
  readonly store: Store
  readonly catalog: Catalog
  /** Awaited before a run is started, executed after a claim, or planned: brings the catalog up to date with other processes. Default: nothing. */
  readonly updateCatalog?: (tenant: string) => Promise<void>
  readonly dispatchers: readonly Dispatcher[]
  /** Drafts plans for runs that are started without one. */
  readonly planner?: Planner
  /** Estimates the cost of a draft, to compare with the limits of a run before it starts. Default: no comparison. */
  readonly estimate?: PlanningCall['estimate']
  readonly clock?: Clock
  /** Reads texts in the answers of capabilities. Default: on this thread. */
  readonly parseText?: ParseText
  /** Source of jitter for retry pauses, from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
  /** Creates run ids; must never return the same id twice. */
  readonly newId: () => string
  /** Unique name of this process among all processes on the store. */
  readonly owner: string
  /** Lease duration of a claim. Default 15 s; renewed three times as often. */
  readonly leaseMs?: number
  /** Interval for polling the store, in addition to its notifications. Default 1 s. */
  readonly pollMs?: number
  /** How long an ask stays open. Default 24 h. */
  readonly askMs?: number
  /** Limits of this process; `fleet`: of all processes on the store together; `circuits`: when calls are suspended. */
  readonly limits?: SlotLimits & GateOptions
  /** Returns the model by which attempts of a capability are counted. Default: none. */
  readonly modelFor?: (capability: Capability) => string | undefined
  /** Labels of this process: it executes runs without a placement, and those whose placement has no other labels. */
  readonly labels?: Labels
  /** Ids of capabilities that this process plans with, and leaves to other processes to execute. Default: none. */
  readonly plannedOnly?: readonly string[]
  /** Redacts secrets. Default: by key names. */
  readonly redactor?: Redactor
  /** Keep the redacted raw output of models in the journal. Default true. */
  readonly storeRaw?: boolean
  /**
   * Which runs this process executes. `all` (default): every run of the store that is due. `own`: only runs that were
   * started, answered, resumed or cancelled through this engine; for a process that lacks the capabilities of other runs.
   * `none`: stores new runs and external input only; another process on the store executes them.
   */
  readonly claim?: 'all' | 'own' | 'none'
  /**
   * Delivers runs to the processes that execute them; `owner` must begin with its name and a slash. Default: each process
   * polls the store for due runs.
   */
  readonly queue?: Queue
  /** How schemas of runs are compiled; read at every use, so that the app can change it. Default: as trusted schemas. */
  readonly compileOptions?: CompileOptions
  /** What the caller of a run has against an answer that satisfies its contract. Default: nothing. */
  readonly refuseAnswer?: (runId: string, answer: Json) => readonly Issue[]
  /** Kinds of capabilities whose text and values are untrusted. */
  readonly untrustedKinds?: readonly string[]
  /** Awaited before the run continues with the result of an attempt, because many may end at once. Default: not awaited. */
  readonly turn?: () => Promise<void>
  /** Called when a run fails in this process with an unexpected error; a later claim tries again. */
  readonly onCrash?: (runId: string, cause: unknown) => void
  /**
   * Called when a run needs capabilities that this process lacks: the run is released for another process, and is claimed
   * again after a pause, or as soon as it changes or one of them becomes available.
   */
  readonly onMissing?: (runId: string, capabilityIds: readonly string[]) => void
}

export interface StartOptions {
  readonly runId?: string
  readonly tenant?: string
  readonly threadId?: string
  /** What the run knows of the earlier runs of its thread. */
  readonly thread?: ThreadContext
  readonly correlationId?: string
  /** A handwritten plan, used instead of the planner's. */
  readonly draft?: Draft
  /** Deprecated forms found in the request; recorded in the event `start`. */
  readonly warnings?: readonly Issue[]
  /** The trace in which the run starts (W3C); stored with the run. */
  readonly traceparent?: string
}

export interface Engine {
  /** Stores the run, starts it and returns its id; the run continues even if no client watches it. */
  start(envelope: Envelope, options?: StartOptions): Promise<string>
  /** Resolves when the run has ended or waits for a person. */
  settled(runId: string, signal?: AbortSignal): Promise<Settled>
  state(runId: string): Promise<RunState>
  /** Returns the capabilities that the rest of the run may need and this process lacks; if given, after this answer. */
  missing(runId: string, answer?: Answer): Promise<string[]>
  /** Replays a recorded run offline, without any calls. */
  replay(runId: string, changes?: ReplayChanges): Promise<Replayed>
  watch(runId: string, options?: WatchOptions): AsyncGenerator<JournalEvent, void, void>
  reply(runId: string, reply: Reply): Promise<void>
  /** Claims, releases or declines a task. */
  changeTask(runId: string, change: TaskChange): Promise<void>
  cancel(runId: string, given: { by: string; reason?: string }): Promise<void>
  resume(runId: string, given: { by: string; note?: string; expectedPlanVersion?: number }): Promise<void>
  trigger(runId: string, given: { policyId: string; by: string }): Promise<void>
  /** Claims an abandoned run as soon as its lease has expired; needed with `claim: 'own'` only. */
  claim(runId: string): Promise<void>
  /** Closes the ask about a call if its answer is in the store by now. */
  takeLateAnswer(runId: string, idempotencyKey: string): Promise<void>
  /** Logs a result that nothing waits for, such as that of a call which a new plan has set aside. */
  logLateResult(runId: string, ref: AttemptRef, outcome: Outcome): Promise<void>
  /** Subscribes to the events of runs in this process; each is sent as soon as it is in the journal. */
  readonly subscribeToLifecycle: SubscribeToLifecycle
  /** The catalog has changed: claims runs again that were released for lack of a capability that is there now. */
  catalogChanged(): void
  /** Starts to take work, from the store or the queue: due timers, replies from other processes, abandoned runs. */
  open(): Promise<void>
  /**
   * Graceful shutdown: starts no more attempts, waits at most `graceMs` (default 5 s) for those in flight, releases all
   * leases, and stops.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
  readonly leaseMs: number
  /** Number of active runs in this process. */
  readonly active: number
  /** Circuits of this process that are open: their capabilities and models are not called. */
  circuits(): readonly OpenCircuit[]
  /** Number of attempts in flight in this process. */
  readonly attempts: number
}
