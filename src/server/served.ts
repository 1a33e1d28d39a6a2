/** What the server serves, as it needs it: `App` fits, and nothing here knows how one is put together. */
import type { Json } from '../base/json.ts'
import type { Reply } from '../domain/ask.ts'
import type { Capability } from '../domain/capability.ts'
import type { ErrorEnvelope } from '../domain/error-envelope.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Facet } from '../domain/facet.ts'
import type { SubscribeToLifecycle } from '../domain/lifecycle.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redact.ts'
import type { RunState } from '../domain/run.ts'
import type { RunStatus } from '../domain/status.ts'
import type { AgentsDoor } from './agents.ts'

/** The part of an app that routes call. */
export interface ServedApp {
  start(
    envelope: unknown,
    options?: {
      readonly runId?: string
      readonly tenant?: string
      readonly threadId?: string
      readonly correlationId?: string
      readonly draft?: unknown
      readonly traceparent?: string
    },
  ): Promise<string>
  /** How a run stands, as soon as it is over or waits. */
  result(
    runId: string,
    signal?: AbortSignal,
  ): Promise<{
    readonly status: RunStatus
    readonly output?: Json
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
  /** Everything that a tenant can plan with: own, built-in and registered. */
  capabilities(tenant?: string): readonly Capability[]
  /** Known capabilities that cannot be carried out here, with the reason. */
  inactive(tenant?: string): ReadonlyMap<string, string>
  facets(): readonly Facet[]
  readonly subscribeToLifecycle: SubscribeToLifecycle
  /** Runs that are being carried here. */
  readonly active: number
  /** Absent: this app works with no agents over HTTP. */
  readonly agents?: AgentsDoor
  readonly redactor: Redactor
  readonly store: Store
}

export interface Served {
  readonly app: ServedApp
  /** The server is going down; `createServer` sets it. */
  readonly isStopping?: () => boolean
}
