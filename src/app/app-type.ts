/** The interface that `createApp` returns: runs, models and the catalog. */
import type { McpAccess } from '../adapters/mcp/mcp-client.ts'
import type { Estimate, GenerateOptions, GenerateResult } from '../adapters/models/index.ts'
import type { PrepareOptions, RunOptions } from '../app-options.ts'
import type { Pace } from '../base/time/pace.ts'
import type { Reply } from '../domain/ask.ts'
import type { Capability } from '../domain/capability.ts'
import type {
  DraftInput,
  EnvelopeInput,
  OutputSchema,
  OutputValue,
} from '../domain/envelope/envelope-input.ts'
import type { SubscribeToLifecycle } from '../domain/event/lifecycle.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Facet } from '../domain/facet.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redaction/redact.ts'
import type { TaskResult } from '../domain/run/task-result.ts'
import type { RunState } from '../domain/run.ts'
import type { Answer } from '../engine/capabilities.ts'
import type { EraseRequest, ErasurePreview, ErasureReceipt } from '../engine/erase.ts'
import type { TaskChange } from '../engine/input/change-task.ts'
import type { WatchOptions } from '../engine/journal/journal.ts'
import type { OpenCircuit } from '../engine/limits/circuits.ts'
import type { ReplayChanges, Replayed } from '../engine/replay/replay.ts'
import type { FiringSchedules, Schedules } from '../engine/schedules/schedules.ts'
import type { HealthReport } from '../health/report.ts'
import type { AgentServices } from '../server/agents/agents.ts'
import type { AllowedAddresses, GuardedFetch, HealthRequest, PartialSubscription } from '../server/served.ts'
import type { WebhookServices } from '../server/webhooks/webhooks.ts'
import type { SubscribeToStoreCalls } from './measure-store.ts'
import type { RunHandle } from './run-handle.ts'
import type { RunResult } from './run-result.ts'
import type { PreparedRun } from './start-run.ts'
import type { Threads } from './threads/threads.ts'

/** Providers and secrets come from the app, and so does the model unless one is named. */
export interface GenerateRequest<S extends OutputSchema = OutputSchema>
  extends Omit<GenerateOptions<S>, 'providers' | 'model' | 'prices' | 'secrets' | 'processing'> {
  readonly model?: string
  readonly maxOutputTokens?: number
}

export interface App {
  /** Starts a run and waits until it is over or needs a person: `start`, then `result` of its handle. */
  run<const S extends OutputSchema = OutputSchema>(
    envelope: EnvelopeInput<S>,
    options?: RunOptions,
  ): Promise<RunResult<OutputValue<S>>>
  /**
   * Parses an envelope and a draft of unknown shape, in the names of the wire format, without starting the run: for JSON from
   * outside, and for callers that need the warnings at once. Throws `envelope/invalid` or `draft/invalid` with every issue.
   */
  prepare(envelope: unknown, options?: PrepareOptions): PreparedRun
  /**
   * Starts a run and returns its handle as soon as it is stored. The run continues whether or not the handle is used. The same
   * `runId` with the same envelope is the same run; with another envelope it is `run/exists`, which names the difference.
   *
   * @example
   * const run = await app.start({ objective: 'One line about tea', inputs: { topic: 'tea' }, output: Line })
   * for await (const ask of run.asks()) await ask.approve({ by: 'ann' })
   * const { output } = await run.result()
   */
  start<const S extends OutputSchema = OutputSchema>(
    envelope: EnvelopeInput<S>,
    options?: RunOptions,
  ): Promise<RunHandle<OutputValue<S>>>
  /** Returns the handle of a run in the store; `output` checks its answer when it is read, and types it. Throws `run/missing`. */
  attach<const S extends OutputSchema = OutputSchema>(
    runId: string,
    options?: { readonly output?: S },
  ): Promise<RunHandle<OutputValue<S>>>
  /** Resolves to the result of a run when it is over or waits for a person. */
  result(runId: string, signal?: AbortSignal): Promise<RunResult>
  /** Yields every event once and in order, until the run is over. */
  watch(runId: string, options?: WatchOptions): AsyncGenerator<JournalEvent, void, void>
  reply(runId: string, reply: Reply): Promise<void>
  /**
   * Claims, releases or declines a task of a person; `reply` with `answer` completes it. Throws `task/claimed` while another
   * person holds it, and `task/forbidden` if it is for others.
   */
  changeTask(runId: string, change: TaskChange): Promise<void>
  resume(runId: string, given: { by: string; note?: string; expectedPlanVersion?: number }): Promise<void>
  cancel(runId: string, given: { by: string; reason?: string }): Promise<void>
  trigger(runId: string, given: { policyId: string; by: string }): Promise<void>
  /**
   * Generates a value under contract with the app's models, without a run: with the same reader, fallbacks and budget. Nothing
   * is stored.
   *
   * @example
   * const result = await app.generate({ objective: 'One line about tea', schema: Line })
   * if (result.outcome === 'ok') console.log(result.output.value.line)
   */
  generate<const S extends OutputSchema = OutputSchema>(
    request: GenerateRequest<S>,
  ): Promise<GenerateResult<OutputValue<S>>>
  /** Estimates calls, tokens and cost of a draft before anything is called: from one answer per node to the whole budget. */
  estimate(envelope: EnvelopeInput, options: { readonly draft: DraftInput }): Estimate
  /** Claims a run that a dead process left. Only needed with `claim: 'own'`; other modes find such runs themselves. */
  claim(runId: string): Promise<void>
  /** Replays a recorded run offline, without calls; with changed policies or node data, reports the differences. */
  replay(runId: string, changes?: ReplayChanges): Promise<Replayed>
  /** Reports how well models satisfied their contracts, for a server's routes; `proviso health-check` prints the same. */
  reportHealth(query: HealthRequest): Promise<HealthReport>
  state(runId: string): Promise<RunState>
  /**
   * Erases a finished run, or every run about a subject, from the store and its files, and returns a receipt. Throws
   * `run/state` while one of them is not over.
   */
  erase(request: EraseRequest): Promise<ErasureReceipt>
  /** Reports what `erase` would delete. */
  previewErasure(request: EraseRequest): Promise<ErasurePreview>
  /** Returns the capabilities that the rest of a run may need and that are unknown here; with a reply, after that reply. */
  missingCapabilities(runId: string, answer?: Answer): Promise<string[]>
  /** Returns every node's result by id, as `{ content, status, notes, parsedContent? }`. */
  taskResults(runId: string): Promise<ReadonlyMap<string, TaskResult>>
  /** Subscribes to partial values of a run that this process executes, for the streams of a server. */
  subscribeToPartials(runId: string, onChange: () => void): PartialSubscription
  /** Lets models stream from before `begin`, also for readers that come later, until the run is over. */
  keepPartials<T>(runId: string, begin: () => Promise<T>): Promise<T>
  /** Notifies of what happens to runs in this process, as soon as it is in the journal (FLEX-77). */
  readonly subscribeToLifecycle: SubscribeToLifecycle
  /** Reports duration and success of each call of the engine to its store. */
  readonly subscribeToStoreCalls: SubscribeToStoreCalls
  /** Every capability a tenant (default `default`) can plan with: the app's own, built-in, and registered while active. */
  capabilities(tenant?: string): readonly Capability[]
  /** Known capabilities that cannot be executed here, such as those of a model without a provider, with the reason. */
  inactive(tenant?: string): ReadonlyMap<string, string>
  facets(tenant?: string): readonly Facet[]
  /** Conversations: list them, read one, add a message and start its run. */
  readonly threads: Threads
  /** Runs that start at the matches of a cron pattern, or once at a time. */
  readonly schedules: Schedules & Pick<FiringSchedules, 'limit'>
  /** Registration and callbacks of agents, for a server's routes; absent without `http`. */
  readonly agents?: AgentServices
  /** Reads the keys of identity providers, for a server. */
  guardFetch(allowed: AllowedAddresses): GuardedFetch
  /** Webhooks and their deliveries, for a server's routes; absent without `http` and `webhooks`. */
  readonly webhooks?: WebhookServices
  /** State, resources and prompts of the MCP servers; absent without `mcp`. */
  readonly mcp?: McpAccess
  /** Redacts everything that leaves the app. */
  readonly redactor: Redactor
  /** The store of the app. Secrets of runs are opened when they are read, and sealed when they are written. */
  readonly store: Store
  /** The same rows for what is shown to others: secrets stay sealed, which the redactor removes. */
  readonly shown: Store
  /** Schedules the app's work on the event loop; a server of the app shares it. */
  readonly pace: Pace
  /**
   * Runs the patterns of all schemas in linear time from now on, as with `untrustedSchemas: true`. `createServer` calls it,
   * because its callers are untrusted. Other apps in the process are not affected.
   */
  acceptUntrustedSchemas(): void
  /** Returns the token in `FLEX_TOKEN`: a server of this app accepts it as its admin. */
  getServerToken(): string | undefined
  /** Lease duration of this process, as set with `leaseMs`. */
  readonly leaseMs: number
  /** Capabilities and models that this process does not call for a while, because they were unavailable. */
  circuits(): readonly OpenCircuit[]
  /** Number of runs active in this process. */
  readonly active: number
  close(options?: { readonly graceMs?: number }): Promise<void>
  /** Calls `close`, for `await using app = await createApp(…)`. */
  [Symbol.asyncDispose](): Promise<void>
}
