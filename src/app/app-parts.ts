/**
 * What an app consists of before it has an engine: providers, secrets to redact, tracing, the catalog with what can be
 * executed here, the planner, dispatchers, the report of crashes.
 */
import { randomUUID } from 'node:crypto'
import { fetchDispatcher } from '../adapters/executors/fetch.ts'
import { localDispatcher, scriptedDispatcher, type ValidatedFunction } from '../adapters/executors/local.ts'
import { memoryDispatcher } from '../adapters/executors/memory.ts'
import { listProviderSecrets, modelDispatcher } from '../adapters/executors/model.ts'
import { mcpSecrets } from '../adapters/mcp/mcp-options.ts'
import {
  type EstimateContext,
  estimateDraft,
  findPrice,
  findProvider,
  missingProviderHint,
  type Price,
  parseModelId,
  providersFromKeys,
} from '../adapters/models/index.ts'
import type { AddressFilter } from '../adapters/net/address-filter.ts'
import { createRestateQueue } from '../adapters/queues/restate/restate-queue.ts'
import { createTracing } from '../adapters/telemetry/tracing.ts'
import type { AppOptions, PlannerChoice } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import { pick } from '../base/json.ts'
import { takeRandomBytes } from '../base/random.ts'
import { systemClock, timeOrderedId } from '../base/time/clock.ts'
import type { Pace } from '../base/time/pace.ts'
import type { RetrySource } from '../base/time/retry.ts'
import type { DefinedCapability } from '../domain/capability/define-capability.ts'
import { endpointSecrets } from '../domain/capability/endpoint.ts'
import type { Capability } from '../domain/capability.ts'
import type { Envelope } from '../domain/envelope.ts'
import { memoryTools } from '../domain/memory/memory-tools.ts'
import type { Draft } from '../domain/plan.ts'
import type { Dispatcher } from '../domain/ports/dispatcher.ts'
import { type ParseText, parseHere } from '../domain/ports/parse-text.ts'
import type { Planner } from '../domain/ports/planner.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Store } from '../domain/ports/store.ts'
import { createRedactor, isKeyLike, type Redactor, secretsIn } from '../domain/redaction/redact.ts'
import type { EngineOptions } from '../engine/engine.ts'
import type { EnvConfig } from '../env.ts'
import {
  addOwnCapabilities,
  builtinFunctions,
  createCatalog,
  type DraftEstimate,
  modelPlanner,
  searchPlanner,
} from '../plan/index.ts'
import { createAnswerValidators } from './answer-validators.ts'
import { readFacets } from './parse-given.ts'
import { createPartialBroker, withCurrentPartials } from './partial-broker.ts'
import { createTextReading, type TextReading } from './read-off-thread.ts'
import { readTimes } from './wire-agents.ts'

/** The default model, if neither options nor environment name one. */
export const fallbackModel = 'openai/gpt-5-mini'

export type AppParts = ReturnType<typeof resolveParts>

export function resolveParts(
  options: AppOptions,
  { env, pace, store }: { readonly env: EnvConfig; readonly pace: Pace; readonly store: Store },
) {
  const { clock = systemClock, prices = [] } = options
  const capabilities = listDefined(options)
  const given = options.providers ?? providersFromKeys(env)
  const redactor = createRedactor({ secrets: knownSecrets(options, { env, providers: given }) })
  const tracing = options.tracing === false ? undefined : createTracing({ ...options.tracing, redactor })
  const providers = tracing ? given.map(tracing.provider) : given
  const defaultModel =
    options.defaultModel ?? listedModel(options.providers) ?? env.defaultModel ?? fallbackModel
  const unavailable = availability({ options, env, providers, defaultModel })
  const catalog = createCatalog({ facets: readFacets(options.facets), clock, unavailable })
  addOwnCapabilities(
    catalog,
    capabilities.map(({ capability }) => capability),
  )
  const estimating: EstimateContext = { capability: catalog.capability, defaultModel, prices, providers }
  return {
    env,
    pace,
    store,
    clock,
    redactor,
    tracing,
    providers,
    defaultModel,
    catalog,
    prices,
    estimating,
    // Read at every use: `acceptUntrustedSchemas` changes it.
    compileOptions: { linearPatterns: options.untrustedSchemas ?? false },
    onCrash: options.onCrash ?? reportCrash(redactor),
    reading: chooseReading(options),
    partials: createPartialBroker(options.onPartial),
    validators: createAnswerValidators(),
    newId: options.newId ?? (() => `flex_${timeOrderedId(clock.now(), takeRandomBytes(16))}`),
  }
}

/** The first model that a provider of the caller lists. */
function listedModel(providers: readonly Provider[] = []): string | undefined {
  const listing = providers.find(({ models = [] }) => models.length > 0)
  return listing && `${listing.name}/${listing.models?.[0]}`
}

/** The capabilities of the options, and the tools of agents among them. */
function listDefined({
  capabilities: given = [],
  memory = false,
}: {
  readonly capabilities?: AppOptions['capabilities'] | undefined
  readonly memory?: boolean | undefined
}): readonly DefinedCapability[] {
  const named = new Set(given.map(({ capability }) => capability.capabilityId))
  const own = memory ? memoryTools.filter(({ capabilityId }) => !named.has(capabilityId)) : []
  const capabilities: readonly DefinedCapability[] = [...given, ...own.map((capability) => ({ capability }))]
  const listed = new Set(capabilities.map(({ capability }) => capability.capabilityId))
  const tools = new Map(
    capabilities.flatMap((each) => each.tools ?? []).map((each) => [each.capability.capabilityId, each]),
  )
  return [...capabilities, ...[...tools].flatMap(([id, each]) => (listed.has(id) ? [] : [each]))]
}

/** Texts are read here with a clock of the caller: another thread would not run by it. */
function chooseReading({ reading, clock }: AppOptions): TextReading {
  if (reading === false || (reading === undefined && clock !== undefined))
    return { parseText: parseHere, close: async () => {} }
  return createTextReading(reading)
}

/** One dispatcher per kind of capability; the ones of the options are last and win. */
export function createDispatchers(
  options: AppOptions,
  {
    providers,
    defaultModel,
    redactor,
    clock,
    tracing,
    reading,
    partials,
    agents,
    mcp,
    fetching,
    store,
  }: Pick<
    AppParts,
    'providers' | 'defaultModel' | 'redactor' | 'clock' | 'tracing' | 'reading' | 'partials' | 'store'
  > & {
    readonly agents: Dispatcher | undefined
    readonly mcp: Dispatcher | undefined
    /** Which addresses `http_get` may reach. */
    readonly fetching: AddressFilter
  },
): readonly Dispatcher[] {
  const functions = new Map<string, ValidatedFunction>()
  for (const [capabilityId, run] of builtinFunctions) functions.set(capabilityId, { run })
  for (const { capability, run, validators } of listDefined(options))
    if (run) functions.set(capability.capabilityId, { run, ...(validators && { validators }) })
  const dispatchers = [
    localDispatcher(functions),
    scriptedDispatcher(clock, reading.parseText),
    withCurrentPartials(
      modelDispatcher({
        providers,
        defaultModel,
        redactor,
        clock,
        parseText: reading.parseText,
        findListener: partials.findListener,
        ...pick(options, ['processing', 'prices', 'random', 'stages']),
      }),
      partials,
    ),
    ...(agents ? [withCurrentPartials(agents, partials)] : []),
    ...(mcp ? [mcp] : []),
    memoryDispatcher({ documents: store.records.documents, redactor }),
    fetchDispatcher({ addressFilter: fetching, now: () => clock.now() }),
    ...(options.dispatchers ?? []),
  ]
  return tracing ? dispatchers.map(tracing.dispatcher) : dispatchers
}

export function toEngineOptions(
  options: AppOptions,
  parts: AppParts,
): Omit<EngineOptions, 'catalog' | 'dispatchers' | 'onMissing'> {
  const { env, pace, clock, redactor, tracing, providers, defaultModel, prices, estimating } = parts
  const planner = choosePlanner(options.planner, {
    providers,
    defaultModel,
    prices,
    redactor,
    retrying: { clock, ...pick(options, ['random']) },
    parseText: parts.reading.parseText,
  })
  return {
    ...pick(parts, ['store', 'clock', 'newId', 'redactor', 'onCrash', 'compileOptions']),
    ...pick(options, ['pollMs', 'claim', 'labels', 'plannedOnly', 'random', 'storeRaw']),
    limits: { circuits: {}, ...options.limits },
    ...readTimes(options, env),
    parseText: parts.reading.parseText,
    refuseAnswer: parts.validators.refuse,
    modelFor: ({ kind, preferredModels = [] }) =>
      kind === 'model' ? (preferredModels[0] ?? defaultModel) : undefined,
    ...chooseQueue(options),
    planner: tracing ? tracing.planner(planner) : planner,
    estimate: (envelope, draft) => estimateSpending(envelope, draft, estimating),
    turn: () => pace.turn(),
  }
}

/** The queue, and the name of this process on its leases: deliveries recognise owners that were fed by the same queue. */
function chooseQueue({
  queue: chosen = 'local',
  claim,
  owner = `${process.pid}-${randomUUID()}`,
}: AppOptions) {
  if (chosen === 'local') return { owner }
  if (claim === 'own')
    throw new ProvisoError(
      'option/invalid',
      'Cannot use a queue with `claim: "own"`: it delivers every run',
      {
        hint: 'Remove `claim`, or set it to "none" if other processes execute the runs',
      },
    )
  const queue = createRestateQueue(chosen)
  return { queue, owner: owner.startsWith(`${queue.name}/`) ? owner : `${queue.name}/${owner}` }
}

// Collects every secret that an app knows at startup, so that they are redacted.

function knownSecrets(
  { secrets = [], capabilities, http, webhooks, store, mcp, queue }: AppOptions,
  { env, providers }: { readonly env: EnvConfig; readonly providers: readonly Provider[] },
): readonly string[] {
  return [
    ...secrets,
    ...(env.secrets ?? []),
    ...(env.flexToken === undefined ? [] : [env.flexToken]),
    ...listProviderSecrets(providers),
    ...(http?.secretKeys ?? []),
    ...Object.values(http?.agents ?? {}).flatMap(endpointSecrets),
    ...mcpSecrets(mcp),
    ...(webhooks?.endpoints ?? []).map(({ secret }) => secret),
    ...listDefined({ capabilities }).flatMap(({ capability }) =>
      secretsIn(capability.settings).filter(isKeyLike),
    ),
    ...passwordIn(store),
    ...(typeof queue === 'object' && queue.token !== undefined ? [queue.token] : []),
  ]
}

/** Extracts the password from the address of a store. */
function passwordIn(store: AppOptions['store']): string[] {
  const [, password] = (typeof store === 'string' && /:\/\/[^\s/:@]*:([^@]+)@/.exec(store)) || []
  return password === undefined ? [] : [password]
}

// Reports unexpected errors: without an `onCrash` handler, the process emits a warning on stderr.

/** Called when a run crashed in this process; or, with an empty run id, when the store or the registrations cannot be read. */
type OnCrash = (runId: string, cause: unknown) => void

/** The store is polled: a repeated error is reported once, until the error changes. */
export function reportCrash(redactor: Redactor): OnCrash {
  let last: string | undefined
  return (runId, cause) => {
    const why = redactor.text(cause instanceof Error ? cause.message : String(cause))
    if (runId === '' && why === last) return
    if (runId === '') last = why
    const isQueue = cause instanceof ProvisoError && cause.code === 'queue/unavailable'
    const silent = isQueue ? 'The queue is not available' : 'Cannot read the store'
    const what =
      runId === ''
        ? `${silent}, retrying: ${why}`
        : `Run "${runId}" crashed in this process: ${why}. It is stored, and can be claimed again`
    process.emitWarning(what, {
      type: 'ProvisoWarning',
      code: runId !== '' ? 'run/crashed' : isQueue ? 'queue/unavailable' : 'store/unavailable',
      detail: redactor.text((cause instanceof Error && cause.stack) || ''),
    })
  }
}

// Creates the planner that the options select. A model without a provider is an error, or under `auto` falls back to the search.

interface PlannerContext {
  readonly providers: readonly Provider[]
  readonly defaultModel: string
  readonly prices: readonly Price[]
  readonly redactor: Redactor
  /** Clock and randomness for retries. */
  readonly retrying: RetrySource
  readonly parseText: ParseText
}

function choosePlanner(
  given: Planner | PlannerChoice | undefined,
  { providers, defaultModel, prices, redactor, retrying, parseText }: PlannerContext,
): Planner {
  if (given === undefined) return searchPlanner()
  if ('draft' in given) return given
  const { mode, model: id = defaultModel, timeoutMs, maxCapabilities } = given
  if (mode === 'search') return searchPlanner()
  const provider = findProvider(providers, id)
  if (provider === undefined) {
    if (mode === 'auto') return searchPlanner()
    throw new ProvisoError('option/invalid', `Cannot plan with the model "${id}": it has no provider`, {
      hint: `${missingProviderHint(id)}, or set the planner to search`,
    })
  }
  const price = findPrice(id, prices)
  return modelPlanner({
    provider,
    model: parseModelId(id).model,
    redactor,
    parseText,
    ...retrying,
    fallback: mode === 'auto',
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxCapabilities !== undefined && { mostCapabilities: maxCapabilities }),
    ...(price && { price }),
  })
}

// Determines which capabilities this app can execute, and estimates what a draft would take. Both are known before planning.

interface AvailabilityContext {
  readonly options: Pick<AppOptions, 'http' | 'mcp' | 'dispatchers' | 'capabilities' | 'providers' | 'memory'>
  readonly env: EnvConfig
  readonly providers: readonly Provider[]
  readonly defaultModel: string
}

/** Returns why a capability cannot be executed here, or `undefined` if it can. */
function availability({ options, env, providers, defaultModel }: AvailabilityContext) {
  const own = new Set([
    ...(options.capabilities ?? []).map(({ capability }) => capability.capabilityId),
    ...memoryTools.map(({ capabilityId }) => capabilityId),
  ])
  const custom = new Set((options.dispatchers ?? []).map(({ kind }) => kind))
  const builtIn = new Set(['local', 'scripted', 'human', 'model', 'http', 'mcp', 'fetch', 'memory'])
  const isServed = (id: string) => {
    const { provider, model } = parseModelId(id)
    const isBare = provider === 'compatible' && !/^https?:/.test(model)
    if (isBare && options.providers === undefined && env.compatibleBaseUrl === undefined) return false
    return findProvider(providers, id) !== undefined
  }
  const tools = new Set(
    listDefined(options).flatMap(({ capability: { capabilityId: id } }) => (own.has(id) ? [] : [id])),
  )
  return ({ kind, capabilityId, preferredModels = [] }: Capability): string | undefined => {
    if (tools.has(capabilityId)) return 'it is a tool of an agent; list it in `capabilities` to plan with it'
    if (custom.has(kind)) return undefined
    if (!builtIn.has(kind)) return `no dispatcher calls capabilities of kind "${kind}"`
    if (kind === 'http' && options.http === undefined) return 'this app does not call agents over HTTP'
    if (kind === 'mcp' && options.mcp === undefined) return 'this app has no MCP servers'
    if (kind === 'http' && own.has(capabilityId) && options.http?.agents?.[capabilityId] === undefined)
      return 'it has no endpoint; add it to `http.agents`'
    if (kind !== 'model') return undefined
    const models = preferredModels.length === 0 ? [defaultModel] : preferredModels
    if (models.some(isServed)) return undefined
    const [first = defaultModel] = models
    return `the model "${first}" has no provider; ${missingProviderHint(first)}`
  }
}

/** Estimates what a draft takes: at least, counting only nodes that always run, and at most. */
function estimateSpending(envelope: Envelope, draft: Draft, context: EstimateContext): DraftEstimate {
  const all = estimateDraft(envelope, draft, context)
  const certain = estimateDraft(envelope, { ...draft, nodes: certainNodes(draft) }, context)
  return {
    tokens: { least: certain.tokens.least, most: all.tokens.most },
    unknownPrices: all.unknownPrices,
    ...(all.costUsd &&
      certain.costUsd && { costUsd: { least: certain.costUsd.least, most: all.costUsd.most } }),
  }
}

/** Returns nodes that always run: no route, fail edge or fallback decides about them or about a node they depend on. */
function certainNodes({ nodes, edges = [] }: Draft): Draft['nodes'] {
  const open = new Set<string>([
    ...nodes.flatMap(({ routing }) => [
      ...(routing?.routes ?? []).flatMap(({ to }) => to),
      ...[routing?.elseTo ?? []].flat(),
    ]),
    ...edges.filter(({ when }) => when === 'fail').map(({ to }) => to),
    ...nodes.filter(({ kind }) => kind === 'fallback').map(({ id }) => id),
  ])
  for (let before = -1; before !== open.size; ) {
    before = open.size
    for (const { from, to } of edges) if (open.has(from)) open.add(to)
    for (const { id, inputs = {} } of nodes) if (hasNodeReference(JSON.stringify(inputs), open)) open.add(id)
  }
  return nodes.filter(({ id }) => !open.has(id))
}

function hasNodeReference(inputs: string, ids: ReadonlySet<string>): boolean {
  return [...ids].some((id) => inputs.includes(`"node":${JSON.stringify(id)}`))
}
