/** The interface of an app as the server needs it. `App` implements it; the server does not depend on how an app is built. */
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'
import type { Pace } from '../base/time/pace.ts'
import type { Reply } from '../domain/ask.ts'
import type { Capability } from '../domain/capability.ts'
import type { ErrorEnvelope } from '../domain/errors/error-envelope.ts'
import type { SubscribeToLifecycle } from '../domain/event/lifecycle.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Facet } from '../domain/facet.ts'
import type { TurnPartial } from '../domain/loop-facts.ts'
import type { Store, ThreadQuery, ThreadRow } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redaction/redact.ts'
import type { RunState } from '../domain/run.ts'
import type { TerminalStatus } from '../domain/status.ts'
import type { ThreadTurn } from '../domain/thread/thread-context.ts'
import type { TaskChange } from '../engine/input/change-task.ts'
import type { ReplayChanges, Replayed } from '../engine/replay/replay.ts'
import type { FiringSchedules, Schedules } from '../engine/schedules/schedules.ts'
import type { ThreadKey } from '../engine/threads/read-thread.ts'
import type { AgentServices } from './agents/agents.ts'
import type { WebhookServices } from './webhooks/webhooks.ts'

/** Reads a small text from a URL of the operator, only from allowed addresses and without following redirects. */
export type GuardedFetch = (
  url: string,
  signal: AbortSignal,
  /** Posts this form; without it, the URL is read. */
  form?: URLSearchParams,
) => Promise<{ readonly status: number; readonly text: string }>

/** Addresses beside the public ones that may be called. */
export interface AllowedAddresses {
  readonly allow?: readonly string[]
  readonly allowLoopback?: boolean
}

/** The newest value of a node that is being written: unvalidated, and a live view until its next chunk. */
export interface CurrentPartial {
  readonly nodeId: string
  readonly attempt: number
  readonly value: unknown
  /** Of an agent: the turn that its model writes. */
  readonly turn?: TurnPartial | undefined
  /** Parts that no longer change. */
  readonly finished: ReadonlySet<Pointer>
}

export interface PartialSubscription {
  /** Whether `take` returns anything. */
  hasNew(): boolean
  /** Returns the newest value of each node that was not taken yet; first, those of the calls in progress. */
  take(): readonly CurrentPartial[]
  /** Drops what was not taken of an attempt that has ended. */
  drop(nodeId: string, attempt: number): void
  close(): void
}

/** Which runs a health report is about. */
export interface HealthRequest {
  readonly tenant: string
  /** Length of the time range, ending now. Absent: everything, without a trend. */
  readonly sinceHours?: number
  /** Number of equal parts of the trend. */
  readonly trendBuckets?: number
  readonly nodeId?: string
  readonly model?: string
  readonly pipeline?: string
}

/** Conversations, for their routes. */
interface ServedThreads {
  list(query: ThreadQuery): Promise<readonly ThreadRow[]>
  get(key: ThreadKey): Promise<
    | {
        readonly turns: readonly (ThreadTurn & { readonly createdAt: number; readonly updatedAt: number })[]
        readonly queued: readonly {
          readonly runId: string
          readonly message: string
          readonly createdAt: number
        }[]
      }
    | undefined
  >
  say(
    key: ThreadKey,
    message: {
      readonly message: string
      readonly runId?: string
      readonly by?: string
      /** Models of its run stream from the first call. */
      readonly partials?: boolean
    },
  ): Promise<{ readonly runId: string; readonly status: 'started' | 'queued' }>
  /** Makes runs that have waited subject to the quotas of the server. */
  limit?(admit: (tenant: string) => Promise<string | undefined>): void
}

/** The part of an app that routes call. */
export interface ServedApp {
  /** Parses an envelope and a draft; throws one error with every issue if they are invalid. */
  prepare(
    envelope: unknown,
    options?: {
      readonly runId?: string
      readonly tenant?: string
      readonly threadId?: string
      readonly whenBusy?: 'queue' | 'interrupt' | 'reject'
      readonly by?: string
      readonly correlationId?: string
      readonly draft?: unknown
      readonly traceparent?: string
      /** Models of the run stream from the first call. */
      readonly partials?: boolean
    },
  ): { readonly warnings: readonly Issue[]; start(): Promise<string> }
  /** Resolves to the result of a run when it is over or waits for a person. */
  result(
    runId: string,
    signal?: AbortSignal,
  ): Promise<{
    readonly status: TerminalStatus | 'waiting'
    readonly output?: Json
    /** Why a waiting run continues only when it is resumed. */
    readonly paused?: { readonly quarantined: boolean }
    readonly warnings?: readonly Issue[]
    readonly openAsks: readonly string[]
    readonly error?: ErrorEnvelope
  }>
  watch(
    runId: string,
    options?: { readonly after?: number; readonly signal?: AbortSignal },
  ): AsyncGenerator<JournalEvent, void, void>
  reply(runId: string, reply: Reply): Promise<void>
  /** Claims, releases or declines a task of a person. */
  changeTask(runId: string, change: TaskChange): Promise<void>
  resume(runId: string, given: { by: string; note?: string; expectedPlanVersion?: number }): Promise<void>
  cancel(runId: string, given: { by: string; reason?: string }): Promise<void>
  trigger(runId: string, given: { policyId: string; by: string }): Promise<void>
  state(runId: string): Promise<RunState>
  readonly threads: ServedThreads
  /** Runs that start at given times; `limit` makes them subject to the quotas of the server. */
  readonly schedules: Schedules & Partial<Pick<FiringSchedules, 'limit'>>
  /** Subscribes to partial values of a run that this process executes; of other runs there are none. */
  subscribeToPartials(runId: string, onChange: () => void): PartialSubscription
  /** Lets models stream from before `begin`, also for readers that come later, until the run is over. */
  keepPartials<T>(runId: string, begin: () => Promise<T>): Promise<T>
  /** Every capability a tenant can plan with: the process's own, built-in and registered. */
  capabilities(tenant?: string): readonly Capability[]
  /** Known capabilities that cannot be executed here, with the reason. */
  inactive(tenant?: string): ReadonlyMap<string, string>
  /** The facets of the process, and those of the tenant. */
  facets(tenant?: string): readonly Facet[]
  readonly subscribeToLifecycle: SubscribeToLifecycle
  /** Lease duration of this process: how long others wait for it after it has died. Default 15 s. */
  readonly leaseMs?: number
  /** Reports duration and success of each call of the engine to its store, for metrics. */
  subscribeToStoreCalls?(
    listener: (call: { readonly operation: string; readonly ms: number; readonly ok: boolean }) => void,
  ): () => void
  /** Number of runs active in this process. */
  readonly active: number
  /** The token in `FLEX_TOKEN` of the app's environment, which its server accepts. */
  getServerToken?(): string | undefined
  /** For the keys of identity providers. Absent: the app has no guarded access to the network. */
  guardFetch?(allowed: AllowedAddresses): GuardedFetch
  /** Absent if the app does not support agents over HTTP. */
  readonly agents?: AgentServices
  /** Absent if the app has no webhooks. */
  readonly webhooks?: WebhookServices
  /** Decides a recorded run again, without calls. */
  replay?(runId: string, changes?: ReplayChanges): Promise<Replayed>
  /** How well models satisfied their contracts in the runs of a tenant. */
  reportHealth?(query: HealthRequest): Promise<object>
  readonly redactor: Redactor
  readonly store: Store
  /** The same rows for pages and streams, with secrets sealed. Default: `store`. */
  readonly shown?: Store
  /** Schedules the work of the app; requests and streams share it. */
  readonly pace: Pace
  /** From now on, patterns of all schemas run in linear time: callers of the server are untrusted. */
  acceptUntrustedSchemas(): void
}

export interface Served {
  readonly app: ServedApp
  /** Whether the server is shutting down; set by `createServer`. */
  readonly isStopping?: () => boolean
}
