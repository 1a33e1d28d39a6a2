/** The whole, put together: the only file that names concrete adapters. */
import { randomBytes, randomUUID } from 'node:crypto'
import { createCallbacks } from './adapters/dispatchers/callbacks.ts'
import type { DefinedCapability } from './adapters/dispatchers/define-capability.ts'
import { type HttpDispatcherOptions, httpDispatcher } from './adapters/dispatchers/http.ts'
import { type LocalFunction, localDispatcher } from './adapters/dispatchers/local.ts'
import { modelDispatcher, type NodePartial, secretsOf } from './adapters/dispatchers/model.ts'
import { scriptedDispatcher } from './adapters/dispatchers/scripted.ts'
import { createGuard, type GuardOptions } from './adapters/guard.ts'
import {
  type Estimate,
  estimateDraft,
  type GenerateOptions,
  generateValue,
  type Price,
  providersFromKeys,
} from './adapters/models/index.ts'
import { openStore } from './adapters/stores/open-store.ts'
import { createTracing, spanTypes, type TracingOptions } from './adapters/telemetry/tracing.ts'
import { checkAppOptions, checkRunOptions } from './app-options.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { ProvisoError } from './base/error.ts'
import type { Issue } from './base/issue.ts'
import type { Json } from './base/json.ts'
import { eventLoop } from './base/pace.ts'
import { timeOrderedId } from './base/time-ordered-id.ts'
import type { Reply } from './domain/ask.ts'
import type { Capability } from './domain/capability.ts'
import { type Endpoint, endpointSecrets } from './domain/endpoint.ts'
import type { Envelope } from './domain/envelope.ts'
import type { JournalEvent, Provenance } from './domain/event.ts'
import type { Facet } from './domain/facet.ts'
import { marketingFacets } from './domain/facets/marketing.ts'
import type { SubscribeToLifecycle } from './domain/lifecycle.ts'
import type { AttemptResult } from './domain/output.ts'
import { parseDraft } from './domain/parse-draft.ts'
import { parseEnvelope } from './domain/parse-envelope.ts'
import type { Dispatcher } from './domain/ports/dispatcher.ts'
import type { Planner } from './domain/ports/planner.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { Store } from './domain/ports/store.ts'
import type { GivenProcessing } from './domain/processing.ts'
import { createRedactor, isKeyLike, type Redactor, secretsIn } from './domain/redact.ts'
import type { RunState } from './domain/run.ts'
import type { RunStatus } from './domain/status.ts'
import type { TaskResult } from './domain/task-result.ts'
import { attemptFacts } from './engine/attempt-facts.ts'
import { conditionIssues } from './engine/conditions.ts'
import { createEngine, type Engine, type EngineOptions } from './engine/engine.ts'
import type { WatchOptions } from './engine/journal.ts'
import type { Answer } from './engine/missing.ts'
import type { ReplayChanges, Replayed } from './engine/replay.ts'
import { taskResults } from './engine/task-results.ts'
import { type EnvConfig, envNames, readEnv } from './env.ts'
import { addOwnCapabilities, builtinFunctions, createCatalog, searchPlanner } from './plan/index.ts'
import { type AgentsDoor, type AgentsOptions, createAgents } from './server/agents.ts'

export type { CapabilityDefinition, DefinedCapability } from './adapters/dispatchers/define-capability.ts'
export { defineCapability } from './adapters/dispatchers/define-capability.ts'
export type { LocalContext, LocalFunction } from './adapters/dispatchers/local.ts'
export { openStore } from './adapters/stores/open-store.ts'
export { type TracingOptions, tracedProvider } from './adapters/telemetry/tracing.ts'
export { marketingTools } from './adapters/tools/marketing-tools.ts'

export interface AppOptions
  extends Partial<
    Pick<
      EngineOptions,
      'leaseMs' | 'pollMs' | 'askMs' | 'limits' | 'owner' | 'onCrash' | 'onMissing' | 'carry'
    >
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
  /**
   * Known secrets that must not leave in prompts, events or evidence, nor be stored. Keys of providers, of the environment
   * and in settings of capabilities are known by themselves.
   */
  readonly secrets?: readonly string[]
  /** Given: models stream, and values that are still arriving go here; they are never stored. */
  readonly onPartial?: (partial: NodePartial) => void
  /**
   * Spans of runs, plans and calls by OpenTelemetry, in the tracer that the host has set up; `false`: none. Nothing happens
   * while there is no tracer.
   */
  readonly tracing?: TracingOptions | false
  /** Given: agents over HTTP can register, are planned with and called. */
  readonly http?: HttpOptions
  /** For kinds of capabilities of your own; one for a known kind replaces it. */
  readonly dispatchers?: readonly Dispatcher[]
  readonly clock?: Clock
  /** Makes ids of runs. Default `flex_` and a UUID that sorts by time. */
  readonly newId?: () => string
}

/** Who may be called over HTTP, and within which limits. */
export interface HttpOptions
  extends GuardOptions,
    Pick<HttpDispatcherOptions, 'maxBytes' | 'timeoutMs' | 'callbackMs'>,
    Pick<AgentsOptions, 'cacheTtlMs' | 'selfRefreshMs'> {
  /** Where this server can be reached from outside, such as `https://proviso.example`; without it agents must answer at once. */
  readonly callbackUrl?: string | (() => string | undefined)
  /** Where capabilities of kind `http` are that this process brings itself, by id. */
  readonly agents?: { readonly [capabilityId: string]: Endpoint }
}

export interface RunOptions {
  readonly runId?: string
  readonly tenant?: string
  readonly threadId?: string
  readonly correlationId?: string
  /** A plan written by hand; a planner drafts without it. */
  readonly draft?: unknown
  /** The trace of whoever asks (W3C): the run's spans are below it. */
  readonly traceparent?: string
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

/** The model that answers without a key (`rehearsal` of `proviso/testing`), loaded when somebody wants it. */
export async function rehearsalProvider(): Promise<Provider> {
  return (await import('./testing/index.ts')).rehearsal()
}

export async function createApp(options: AppOptions = {}): Promise<App> {
  checkAppOptions(options)
  const { clock = systemClock, capabilities = [], env = readEnv() } = options
  const ownAgents = Object.values(options.http?.agents ?? {})
  const given = options.providers ?? providersFromKeys(env)
  const redactor = createRedactor({
    secrets: [
      ...(options.secrets ?? []),
      ...(env.secrets ?? []),
      ...secretsOf(given),
      ...ownAgents.flatMap(endpointSecrets),
      ...capabilities.flatMap(({ capability }) => secretsIn(capability.settings).filter(isKeyLike)),
      ...passwordIn(options.store),
    ],
  })
  const tracing = options.tracing === false ? undefined : createTracing({ ...options.tracing, redactor })
  const providers = tracing ? given.map(tracing.provider) : given
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
  const agents =
    options.http &&
    wireAgents(options.http, {
      store,
      env,
      clock,
      shared: catalog,
      onError: (cause) => options.onCrash?.('', cause),
      onPartial: options.onPartial,
    })
  const defaultModel = options.defaultModel ?? env.defaultModel ?? 'openai/gpt-5-mini'
  const dispatchers: Dispatcher[] = [
    localDispatcher(functions),
    scriptedDispatcher(clock),
    modelDispatcher({
      providers,
      defaultModel,
      redactor,
      ...pick(options, ['processing', 'prices', 'onPartial']),
    }),
    ...(agents ? [agents.dispatcher] : []),
    ...(options.dispatchers ?? []),
  ]
  const planner = options.planner ?? searchPlanner()
  const newId = options.newId ?? (() => `flex_${timeOrderedId(clock.now(), randomBytes(16))}`)
  const engine: Engine = createEngine({
    store,
    catalog: agents?.catalogs ?? catalog,
    clock,
    dispatchers: tracing ? dispatchers.map(tracing.dispatcher) : dispatchers,
    newId,
    redactor,
    owner: options.owner ?? `${process.pid}-${randomUUID()}`,
    planner: tracing ? tracing.planner(planner) : planner,
    turn: () => eventLoop.turn(),
    ...pick(options, ['leaseMs', 'pollMs', 'askMs', 'limits', 'onCrash', 'onMissing', 'carry']),
  })
  if (tracing) engine.subscribeToLifecycle(tracing.runs.hear, { types: spanTypes })
  await agents?.living.open()
  engine.open()

  const start = async (given: unknown, runOptions: RunOptions = {}) => {
    checkRunOptions(runOptions)
    const { draft, signal: _waiting, ...rest } = runOptions
    const envelope = readEnvelope(given)
    const work = { ...rest, ...(draft !== undefined && { draft: readDraft(draft) }) }
    if (!tracing) return engine.start(envelope, work)
    const runId = rest.runId ?? newId()
    const { trace, abandon } = tracing.runs.begin(runId, rest.traceparent)
    return engine
      .start(envelope, { ...work, runId, ...(trace && { traceparent: trace.traceparent }) })
      .catch((cause: unknown) => {
        abandon(cause instanceof ProvisoError ? cause.code : 'internal')
        throw cause
      })
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
    generate({ maxOutputTokens, model = defaultModel, ...request }) {
      const { processing, prices = [], secrets = [] } = options
      return generateValue({
        ...request,
        model,
        providers,
        prices,
        secrets,
        processing: {
          ...processing,
          ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
        },
      })
    },
    watch: engine.watch,
    reply: engine.reply,
    resume: engine.resume,
    cancel: engine.cancel,
    trigger: engine.trigger,
    adopt: engine.adopt,
    state: engine.state,
    missingCapabilities: engine.missing,
    taskResults: async (runId) => taskResults(await engine.state(runId)),
    replay: engine.replay,
    subscribeToLifecycle: engine.subscribeToLifecycle,
    capabilities: (tenant = 'default') => (agents?.catalogs.forTenant(tenant) ?? catalog).capabilities(),
    facets: () => catalog.facets(),
    ...(agents && { agents: agents.door }),
    redactor,
    store,
    get active() {
      return engine.active
    },
    async close(given) {
      await engine.close(given)
      tracing?.runs.close()
      agents?.living.close()
      await agents?.guard.close()
      if (ownStore) await store.close()
    },
  }
}

/** Agents over HTTP: who is registered, how they are called, and where they call back. */
function wireAgents(
  http: HttpOptions,
  parts: Pick<AgentsOptions, 'shared' | 'clock' | 'onError'> & {
    readonly store: Store
    readonly env: EnvConfig
    readonly onPartial: AppOptions['onPartial']
  },
) {
  const { store, clock, env, onPartial } = parts
  const guard = createGuard(http)
  const agents = createAgents({
    ...pick(parts, ['shared', 'clock', 'onError']),
    registrations: store.records.registrations,
    inspectUrl: guard.inspect,
    cacheTtlMs: http.cacheTtlMs ?? wholeMs(env, 'capabilityCacheTtlMs') ?? 30_000,
    selfRefreshMs: http.selfRefreshMs ?? wholeMs(env, 'capabilityRefreshMs') ?? 300_000,
    ...(http.agents && { own: http.agents }),
  })
  const { secretsOf, registrar, living, catalogs } = agents
  const callbacks = createCallbacks({
    once: store.records.once,
    clock,
    secretsOf,
    attemptOf: (name) => attemptFacts(store, name),
  })
  const dispatcher = httpDispatcher({
    guard,
    clock,
    callbacks,
    endpointOf: ({ tenant, capability: { capabilityId } }) => agents.endpointOf({ tenant, capabilityId }),
    callbackBase: () => (typeof http.callbackUrl === 'function' ? http.callbackUrl() : http.callbackUrl),
    ...pick(http, ['maxBytes', 'timeoutMs', 'callbackMs']),
    ...(onPartial && { onPartial }),
  })
  const door: AgentsDoor = { registrar, callbacks }
  return { catalogs, living, dispatcher, door, guard }
}

function wholeMs(
  env: EnvConfig,
  setting: 'capabilityCacheTtlMs' | 'capabilityRefreshMs',
): number | undefined {
  const text = env[setting]
  if (text === undefined || /^[1-9]\d{0,14}$/.test(text)) return text === undefined ? text : Number(text)
  throw new ProvisoError('option/invalid', `${envNames[setting][0]} must be a whole number of milliseconds`)
}

function readEnvelope(given: unknown): Envelope {
  const parsed = parseEnvelope(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed.value
  throw new ProvisoError('envelope/invalid', `The envelope cannot be used: ${firstOf(parsed.issues)}`, {
    issues: parsed.issues,
  })
}

function readDraft(given: unknown) {
  const parsed = parseDraft(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed.value
  throw new ProvisoError('draft/invalid', `The draft cannot be used: ${firstOf(parsed.issues)}`, {
    issues: parsed.issues,
  })
}

/** The password in the address of a store. */
function passwordIn(store: AppOptions['store']): string[] {
  const [, password] = (typeof store === 'string' && /:\/\/[^\s/:@]*:([^@]+)@/.exec(store)) || []
  return password === undefined ? [] : [password]
}

/** The first issue with its place; all of them are in the error's `issues`. */
function firstOf([issue]: readonly Issue[]): string {
  if (issue === undefined) return ''
  return 'pointer' in issue.at && issue.at.pointer !== ''
    ? `${issue.at.pointer} ${issue.message}`
    : issue.message
}

/** Those of the options that were given. */
function pick<T extends object, K extends keyof T>(
  options: T,
  keys: readonly K[],
): { [P in K]: Exclude<T[P], undefined> } {
  const entries = keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
  return Object.fromEntries(entries)
}
