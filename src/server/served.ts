/** The interface of an app as the server needs it. `App` implements it; the server does not depend on how an app is built. */
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { Pace } from '../base/time/pace.ts'
import type { Reply } from '../domain/ask.ts'
import type { Capability } from '../domain/capability.ts'
import type { ErrorEnvelope } from '../domain/errors/error-envelope.ts'
import type { SubscribeToLifecycle } from '../domain/event/lifecycle.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Facet } from '../domain/facet.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redaction/redact.ts'
import type { RunState } from '../domain/run.ts'
import type { RunStatus } from '../domain/status.ts'
import type { AgentServices } from './agents/agents.ts'

/** The part of an app that routes call. */
export interface ServedApp {
  /** Parses an envelope and a draft; throws one error with every issue if they are invalid. */
  prepare(
    envelope: unknown,
    options?: {
      readonly runId?: string
      readonly tenant?: string
      readonly threadId?: string
      readonly correlationId?: string
      readonly draft?: unknown
      readonly traceparent?: string
    },
  ): { readonly warnings: readonly Issue[]; start(): Promise<string> }
  /** Resolves to the result of a run when it is over or waits for a person. */
  result(
    runId: string,
    signal?: AbortSignal,
  ): Promise<{
    readonly status: RunStatus
    readonly output?: Json
    readonly warnings?: readonly Issue[]
    readonly openAsks: readonly string[]
    readonly error?: ErrorEnvelope
  }>
  watch(
    runId: string,
    options?: { readonly after?: number; readonly signal?: AbortSignal },
  ): AsyncGenerator<JournalEvent, void, void>
  reply(runId: string, reply: Reply): Promise<void>
  resume(runId: string, given: { by: string; note?: string; expectedPlanVersion?: number }): Promise<void>
  cancel(runId: string, given: { by: string; reason?: string }): Promise<void>
  trigger(runId: string, given: { policyId: string; by: string }): Promise<void>
  state(runId: string): Promise<RunState>
  /** Every capability a tenant can plan with: the process's own, built-in and registered. */
  capabilities(tenant?: string): readonly Capability[]
  /** Known capabilities that cannot be executed here, with the reason. */
  inactive(tenant?: string): ReadonlyMap<string, string>
  facets(): readonly Facet[]
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
  /** Absent if the app does not support agents over HTTP. */
  readonly agents?: AgentServices
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
