/** The whole, put together: the only file that names concrete adapters. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { DefinedCapability } from './adapters/dispatchers/define-capability.ts'
import { type LocalFunction, localDispatcher } from './adapters/dispatchers/local.ts'
import { modelDispatcher, type NodePartial, secretsOf } from './adapters/dispatchers/model.ts'
import { scriptedDispatcher } from './adapters/dispatchers/scripted.ts'
import { type Estimate, estimateDraft, type Price, providersFromKeys } from './adapters/models/index.ts'
import { openStore } from './adapters/stores/open-store.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { ProvisoError } from './base/error.ts'
import type { Issue } from './base/issue.ts'
import type { Json } from './base/json.ts'
import { timeOrderedId } from './base/time-ordered-id.ts'
import type { Reply } from './domain/ask.ts'
import type { Capability } from './domain/capability.ts'
import type { Envelope } from './domain/envelope.ts'
import type { JournalEvent, Provenance } from './domain/event.ts'
import type { Facet } from './domain/facet.ts'
import { marketingFacets } from './domain/facets/marketing.ts'
import { parseDraft } from './domain/parse-draft.ts'
import { parseEnvelope } from './domain/parse-envelope.ts'
import type { Dispatcher } from './domain/ports/dispatcher.ts'
import type { Planner } from './domain/ports/planner.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { Store } from './domain/ports/store.ts'
import type { GivenProcessing } from './domain/processing.ts'
import { createRedactor, type Redactor } from './domain/redact.ts'
import type { RunState } from './domain/run.ts'
import type { RunStatus } from './domain/status.ts'
import type { TaskResult } from './domain/task-result.ts'
import { conditionIssues } from './engine/conditions.ts'
import { createEngine, type Engine, type EngineOptions } from './engine/engine.ts'
import type { WatchOptions } from './engine/journal.ts'
import type { ReplayChanges, Replayed } from './engine/replay.ts'
import { taskResults } from './engine/task-results.ts'
import { type EnvConfig, readEnv } from './env.ts'
import { addOwnCapabilities, builtinFunctions, createCatalog, searchPlanner } from './plan/index.ts'

export type { CapabilityDefinition, DefinedCapability } from './adapters/dispatchers/define-capability.ts'
export { defineCapability } from './adapters/dispatchers/define-capability.ts'
export type { LocalContext, LocalFunction } from './adapters/dispatchers/local.ts'
export { openStore } from './adapters/stores/open-store.ts'

export interface AppOptions
  extends Partial<
    Pick<EngineOptions, 'leaseMs' | 'pollMs' | 'askMs' | 'limits' | 'owner' | 'onCrash' | 'carry'>
  > {
  /** Where runs live: an open store, or `memory:` (default), `sqlite:PATH`, `postgres://…`. */
  readonly store?: Store | string
  /** Keep a ledger of corrections in a store that is opened here (AROS-66). Default: `PROVISO_LEDGER=1`, else false. */
  readonly ledger?: boolean
  readonly capabilities?: readonly DefinedCapability[]
  /** In addition to those that come with the package. */
  readonly facets?: readonly Facet[]
  /** Drafts plans for envelopes that come without one. Default: the search planner. */
  readonly planner?: Planner
  /**
   * Who calls models. Default: those that the environment has keys for, loaded with their first call. The rehearsal model
   * of `proviso/testing`, which needs no key, is used only when it is named here.
   */
  readonly providers?: readonly Provider[]
  /** For capabilities that prefer no model. Default: the environment's (FLEX-108), else `openai/gpt-5-mini`. */
  readonly defaultModel?: string
  /** Keys and models from the environment. Default: read from it; an empty object reads nothing. */
  readonly env?: EnvConfig
  /** How models' texts are made and read, for nodes that say nothing of their own. Default: structured output `auto`, full reading, repair. */
  readonly processing?: GivenProcessing
  /** Prices of models, before the list prices. */
  readonly prices?: readonly Price[]
  /** Known secrets, beside the providers' keys, that must not leave in prompts, events or evidence. */
  readonly secrets?: readonly string[]
  /** Given: models stream, and values that are still arriving go here; they are never stored. */
  readonly onPartial?: (partial: NodePartial) => void
  /** For kinds of capabilities of your own; one for a known kind replaces it. */
  readonly dispatchers?: readonly Dispatcher[]
  readonly clock?: Clock
  /** Makes ids of runs. Default `flex_` and a UUID that sorts by time. */
  readonly newId?: () => string
}

export interface RunOptions {
  readonly runId?: string
  readonly tenant?: string
  readonly threadId?: string
  readonly correlationId?: string
  /** A plan written by hand; a planner drafts without it. */
  readonly draft?: unknown
  readonly signal?: AbortSignal
}

/** How a run stands when nothing goes on without a person. */
export interface RunResult {
  readonly runId: string
  readonly status: RunStatus
  readonly output?: Json
  /** Why there is no answer; empty for a run that has one. */
  readonly issues: readonly Issue[]
  readonly provenance: readonly Provenance[]
  /** Ids of the questions that it waits for. */
  readonly openAsks: readonly string[]
  /** The name of what went wrong, such as `plan/rejected`. */
  readonly failure?: string
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
  /** What a draft would take, before anything is called: calls, tokens and cost, from one answer each to the whole budget. */
  estimate(envelope: unknown, options: { readonly draft: unknown }): Estimate
  /** Carries on a run that a dead process left; needed with `carry: 'own'` alone, for others are found without. */
  adopt(runId: string): Promise<void>
  /** Decides a recorded run again, with zero calls; with other policies or node data, says what would differ. */
  replay(runId: string, changes?: ReplayChanges): Promise<Replayed>
  state(runId: string): Promise<RunState>
  /** Every node's result by id, as `{ content, status, notes, parsedContent? }`. */
  taskResults(runId: string): Promise<ReadonlyMap<string, TaskResult>>
  /** Everything that can be planned with: own, built-in and registered, as long as it is alive. */
  capabilities(): readonly Capability[]
  facets(): readonly Facet[]
  /** What leaves goes through it. */
  readonly redactor: Redactor
  readonly store: Store
  /** Runs that are being carried here. */
  readonly active: number
  close(options?: { readonly graceMs?: number }): Promise<void>
}

export async function createApp(options: AppOptions = {}): Promise<App> {
  const { clock = systemClock, capabilities = [], env = readEnv() } = options
  const providers = options.providers ?? providersFromKeys(env)
  const redactor = createRedactor({ secrets: [...(options.secrets ?? []), ...secretsOf(providers)] })
  const ownStore = typeof options.store !== 'object'
  const store =
    typeof options.store === 'object'
      ? options.store
      : await openStore(options.store ?? 'memory:', { ledger: options.ledger ?? env.ledger === '1' })
  const functions = new Map<string, LocalFunction>(builtinFunctions)
  for (const { capability, run } of capabilities) if (run) functions.set(capability.capabilityId, run)
  const catalog = createCatalog({ facets: [...marketingFacets, ...(options.facets ?? [])], clock })
  addOwnCapabilities(
    catalog,
    capabilities.map(({ capability }) => capability),
  )
  const defaultModel = options.defaultModel ?? env.defaultModel ?? 'openai/gpt-5-mini'
  const engine: Engine = createEngine({
    store,
    catalog,
    clock,
    dispatchers: [
      localDispatcher(functions),
      scriptedDispatcher(clock),
      modelDispatcher({
        providers,
        defaultModel,
        redactor,
        ...pick(options, ['processing', 'prices', 'onPartial']),
      }),
      ...(options.dispatchers ?? []),
    ],
    newId: options.newId ?? (() => `flex_${timeOrderedId(clock.now(), randomBytes(16))}`),
    redactor,
    owner: options.owner ?? `${process.pid}-${randomUUID()}`,
    planner: options.planner ?? searchPlanner(),
    ...pick(options, ['leaseMs', 'pollMs', 'askMs', 'limits', 'onCrash', 'carry']),
  })
  engine.open()

  const start = async (given: unknown, { draft, signal: _waiting, ...rest }: RunOptions = {}) => {
    const envelope = readEnvelope(given)
    return engine.start(envelope, { ...rest, ...(draft !== undefined && { draft: readDraft(draft) }) })
  }
  const result = async (runId: string, signal?: AbortSignal): Promise<RunResult> => {
    const { status, finished, openAsks } = await engine.settled(runId, signal)
    const error = finished?.error
    return {
      runId,
      status,
      ...(finished?.output !== undefined && { output: finished.output }),
      issues: error
        ? (error.issues ?? [{ code: error.code, at: { pointer: '' }, message: error.message }])
        : [],
      provenance: finished?.provenance ?? [],
      openAsks,
      ...(error && { failure: error.code }),
    }
  }
  return {
    start,
    result,
    async run(envelope, given = {}) {
      return result(await start(envelope, given), given.signal)
    },
    estimate(given, { draft }) {
      const { prices = [] } = options
      const { capability } = catalog
      return estimateDraft(readEnvelope(given), readDraft(draft), { capability, defaultModel, prices })
    },
    watch: engine.watch,
    reply: engine.reply,
    resume: engine.resume,
    cancel: engine.cancel,
    trigger: engine.trigger,
    adopt: engine.adopt,
    state: engine.state,
    taskResults: async (runId) => taskResults(await engine.state(runId)),
    replay: engine.replay,
    capabilities: () => catalog.capabilities(),
    facets: () => catalog.facets(),
    redactor,
    store,
    get active() {
      return engine.active
    },
    async close(given) {
      await engine.close(given)
      if (ownStore) await store.close()
    },
  }
}

function readEnvelope(given: unknown): Envelope {
  const parsed = parseEnvelope(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed.value
  throw new ProvisoError(
    'envelope/invalid',
    `The envelope cannot be used: ${parsed.issues[0]?.message ?? ''}`,
    { issues: parsed.issues },
  )
}

function readDraft(given: unknown) {
  const parsed = parseDraft(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed.value
  throw new ProvisoError('draft/invalid', `The draft cannot be used: ${parsed.issues[0]?.message ?? ''}`, {
    issues: parsed.issues,
  })
}

/** Those of the options that were given. */
function pick<T extends object, K extends keyof T>(
  options: T,
  keys: readonly K[],
): { [P in K]: Exclude<T[P], undefined> } {
  const entries = keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
  return Object.fromEntries(entries)
}
