/** What `createApp` returns: runs, models and the catalog, as a program of its own uses them. */
import type { Estimate, GenerateOptions } from '../adapters/models/index.ts'
import type { RunOptions } from '../app-options.ts'
import type { Reply } from '../domain/ask.ts'
import type { Capability } from '../domain/capability.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Facet } from '../domain/facet.ts'
import type { SubscribeToLifecycle } from '../domain/lifecycle.ts'
import type { AttemptResult } from '../domain/output.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redact.ts'
import type { RunState } from '../domain/run.ts'
import type { TaskResult } from '../domain/task-result.ts'
import type { WatchOptions } from '../engine/journal.ts'
import type { Answer } from '../engine/missing.ts'
import type { ReplayChanges, Replayed } from '../engine/replay.ts'
import type { AgentsDoor } from '../server/agents.ts'
import type { RunResult } from './run-result.ts'

/** Providers and secrets are the app's; so is the model, unless one is named. */
export interface GenerateRequest
  extends Omit<GenerateOptions, 'providers' | 'model' | 'prices' | 'secrets' | 'processing'> {
  readonly model?: string
  readonly maxOutputTokens?: number
}

export interface App {
  /** Runs to the end, or until a person is needed. */
  run(envelope: unknown, options?: RunOptions): Promise<RunResult>
  /** Starts and returns the run's id; it goes on whether or not anybody waits. */
  start(envelope: unknown, options?: RunOptions): Promise<string>
  /** How a run stands, as soon as it is over or waits. */
  result(runId: string, signal?: AbortSignal): Promise<RunResult>
  /** Every event once and in order, until the run is over. */
  watch(runId: string, options?: WatchOptions): AsyncGenerator<JournalEvent, void, void>
  reply(runId: string, reply: Reply): Promise<void>
  resume(runId: string, given: { by: string; note?: string; expectedPlanVersion?: number }): Promise<void>
  cancel(runId: string, given: { by: string; reason?: string }): Promise<void>
  trigger(runId: string, given: { policyId: string; by: string }): Promise<void>
  /** A value under contract from the app's models without a run: the same reader, ladder and budget, and nothing is stored. */
  generate(request: GenerateRequest): Promise<AttemptResult>
  /** What a draft would take, before anything is called: calls, tokens and cost, from one answer each to the whole budget. */
  estimate(envelope: unknown, options: { readonly draft: unknown }): Estimate
  /** Carries on a run that a dead process left; needed with `carry: 'own'` alone, for others are found without. */
  adopt(runId: string): Promise<void>
  /** Decides a recorded run again, with zero calls; with other policies or node data, says what would differ. */
  replay(runId: string, changes?: ReplayChanges): Promise<Replayed>
  state(runId: string): Promise<RunState>
  /** Capabilities that the rest of a run may need and that are unknown here; after this answer, if one is given. */
  missingCapabilities(runId: string, answer?: Answer): Promise<string[]>
  /** Every node's result by id, as `{ content, status, notes, parsedContent? }`. */
  taskResults(runId: string): Promise<ReadonlyMap<string, TaskResult>>
  /** Tells what happens to runs in this process, as soon as it is in the journal (FLEX-77). */
  readonly subscribeToLifecycle: SubscribeToLifecycle
  /** Everything that a tenant (default `default`) can plan with: own, built-in and registered, as long as it is alive. */
  capabilities(tenant?: string): readonly Capability[]
  /** Known capabilities that cannot be carried out here, such as those of a model without a provider, with the reason. */
  inactive(tenant?: string): ReadonlyMap<string, string>
  facets(): readonly Facet[]
  /** Registration and calls back, for a server's routes; absent without `http`. */
  readonly agents?: AgentsDoor
  /** What leaves goes through it. */
  readonly redactor: Redactor
  readonly store: Store
  /** Runs that are being carried here. */
  readonly active: number
  close(options?: { readonly graceMs?: number }): Promise<void>
}
