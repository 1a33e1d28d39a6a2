/** The composition root: only this file and its parts in `app/` name concrete adapters. */
import { createAddressFilter } from './adapters/net/address-filter.ts'
import { createReadText, type ReadText } from './adapters/net/guarded-fetch.ts'
import { openStore } from './adapters/stores/open-store.ts'
import { spanTypes } from './adapters/telemetry/tracing.ts'
import { createModelMethods, createRunMethods, createSummarise } from './app/app-methods.ts'
import { type AppParts, createDispatchers, resolveParts, toEngineOptions } from './app/app-parts.ts'
import type { App } from './app/app-type.ts'
import { measureStore, withHeads } from './app/measure-store.ts'
import { sealSecrets, shownRows } from './app/seal-secrets.ts'
import { createMessageQueue, findHead } from './app/threads/message-queue.ts'
import { wireThreads } from './app/threads/threads.ts'
import { wireAgents } from './app/wire-agents.ts'
import { wireMcp } from './app/wire-mcp.ts'
import { wireWebhooks } from './app/wire-webhooks.ts'
import { type AppOptions, checkAppOptions } from './app-options.ts'
import { pick } from './base/json.ts'
import { createPace, type Pace } from './base/time/pace.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { Store } from './domain/ports/store.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { createSchedules } from './engine/schedules/schedules.ts'
import { commaList, type EnvConfig, readEnv } from './env.ts'
import { createRecordChanges } from './server/agents/agents.ts'

export { readKeyFile } from './adapters/sealing/seal-store.ts'
export { openStore } from './adapters/stores/open-store.ts'
export { type TracingOptions, tracedProvider } from './adapters/telemetry/tracing.ts'
export { fallbackModel } from './app/app-parts.ts'
export type { App, GenerateRequest } from './app/app-type.ts'
export type { RunHandle } from './app/run-handle.ts'
export type {
  CancelledRun,
  CompletedRun,
  DecisionInput,
  FailedRun,
  OpenAsk,
  RunIssueCode,
  RunResult,
  WaitingRun,
} from './app/run-result.ts'
export { openSealed, openShown } from './app/seal-secrets.ts'
export type { PreparedRun } from './app/start-run.ts'
export { readThread, type Threads, type ThreadView } from './app/threads/threads.ts'
export { readSecretKeys } from './app/wire-agents.ts'
export type {
  AppOptions,
  HttpOptions,
  PlannerChoice,
  PrepareOptions,
  ReadingOptions,
  RunOptions,
} from './app-options.ts'
export type {
  CapabilityDefinition,
  DefinedCapability,
  LocalContext,
  LocalFunction,
} from './domain/capability/define-capability.ts'
export { defineCapability } from './domain/capability/define-capability.ts'
export type {
  DraftInput,
  EnvelopeInput,
  OutputSchema,
  OutputValue,
  PoliciesInput,
  WireEnvelope,
} from './domain/envelope/envelope-input.ts'

/** Loads the model that answers without a key (`rehearsal` of `proviso/testing`) on first use. */
export async function rehearsalProvider(): Promise<Provider> {
  return (await import('./testing/index.ts')).rehearsal()
}

export async function createApp(options: AppOptions = {}): Promise<App> {
  checkAppOptions(options)
  const { env = readEnv() } = options
  const pace = createPace()
  if (typeof options.store === 'object') return buildApp(options, { env, pace, store: options.store })
  const ledger = options.ledger ?? env.ledger === '1'
  const store = await openStore(options.store ?? 'memory:', { ledger, pace })
  try {
    return await buildApp(options, { env, pace, store })
  } catch (cause) {
    // Close the store on failure: no other code has a handle to it, and while it is open no other process can open it.
    await store.close()
    throw cause
  }
}

/** Budget of the conversation that a run of a thread begins with. */
const defaultContextTokens = 4_000

interface Opened {
  readonly env: EnvConfig
  readonly pace: Pace
  readonly store: Store
}

/** Which addresses `http_get` may reach: the same as agents may have. */
function createFetchFilter(http: AppOptions['http'], { agentHosts }: EnvConfig) {
  const rules = pick(http ?? {}, ['allow', 'allowLoopback', 'schemes', 'ports', 'resolve'])
  return createAddressFilter({ allow: commaList(agentHosts), ...rules })
}

/** The rows of an app, with runs that wait for their thread; `sealed` is without these. */
function openRows(options: AppOptions, opened: Opened) {
  const sealed = sealSecrets(opened.store, options, opened.env)
  const queue = createMessageQueue(sealed)
  const find = findHead(queue)
  return { sealed, queue, store: withHeads(sealed, find), shown: withHeads(shownRows(sealed), find) }
}

async function buildApp(options: AppOptions, opened: Opened): Promise<App> {
  const { sealed, queue, store, shown } = openRows(options, opened)
  const { store: measured, subscribe: subscribeToStoreCalls } = measureStore(store)
  const parts = resolveParts(options, { ...opened, store: measured })
  const { catalog, redactor, tracing, onCrash, compileOptions } = parts
  const { pace, env } = opened
  const changes = createRecordChanges(store.records)
  const webhooks =
    options.http || options.webhooks ? wireWebhooks(options, { ...parts, env, changes }) : undefined
  const agents =
    options.http &&
    wireAgents(options.http, {
      ...pick(parts, ['store', 'env', 'clock']),
      shared: catalog,
      changes,
      onError: (cause) => onCrash('', cause),
      findListener: parts.partials.findListener,
      parseText: parts.reading.parseText,
      onLateAnswer: (runId, idempotencyKey) => engine.takeLateAnswer(runId, idempotencyKey),
      onUnawaited: ({ runId, outcome, ...ref }) => engine.logLateResult(runId, ref, outcome),
    })
  const mcp = options.mcp && wireMcp(options.mcp, { ...parts, ...pick(options, ['onMcpLog']) })
  const fetching = createFetchFilter(options.http, env)
  const engine: Engine = createEngine({
    ...toEngineOptions(options, parts),
    ...(webhooks && { store: webhooks.withOutbox(parts.store) }),
    catalog: agents?.catalogs ?? catalog,
    ...((agents || webhooks) && {
      updateCatalog: (tenant) =>
        // A store that cannot be read is reported by what follows: the run is not stored then.
        (agents?.living.update(tenant) ?? changes.check()).catch((cause: unknown) => onCrash('', cause)),
    }),
    dispatchers: createDispatchers(options, {
      ...parts,
      agents: agents?.dispatcher,
      mcp: mcp?.dispatcher,
      fetching,
    }),
    onMissing(runId, capabilityIds) {
      // Another process may have accepted the registration and died: the catalog here can be older than the run.
      agents?.living.refresh().then(engine.catalogChanged, (cause: unknown) => onCrash('', cause))
      options.onMissing?.(runId, capabilityIds)
    },
  })
  parts.validators.watch(engine.subscribeToLifecycle)
  if (tracing) engine.subscribeToLifecycle(tracing.runs.recordNotice, { types: spanTypes })
  await agents?.living.open()
  await mcp?.open()
  await webhooks?.open()
  changes.follow({ onRead: engine.catalogChanged, onError: (cause) => onCrash('', cause) })

  const catalogOf = (tenant = 'default') => agents?.catalogs.forTenant(tenant) ?? catalog
  const readers = createReaders()
  const close = once(async (given?: Parameters<App['close']>[0]) => {
    changes.close()
    await Promise.all([threads.close(), schedules.close()])
    await engine.close(given)
    tracing?.runs.close()
    await webhooks?.close()
    agents?.living.close()
    await agents?.addressFilter.close()
    await mcp?.close()
    await fetching.close()
    await parts.reading.close()
    await readers.close()
    if (typeof options.store !== 'object') await opened.store.close()
  })
  const { methods, threads } = await createMethods(options, engine, { ...parts, sealed, shown, queue })
  const schedules = wireSchedules(options, engine, { ...parts, prepare: methods.prepare })
  // Last: runs are executed from here on.
  await openOrClose(engine, close)
  return {
    ...methods,
    threads,
    schedules,
    capabilities: (tenant) => catalogOf(tenant).capabilities(),
    inactive: (tenant) => catalogOf(tenant).inactive?.() ?? new Map(),
    facets: (tenant) => catalogOf(tenant).facets(),
    ...(agents && { agents: agents.services }),
    ...(webhooks && { webhooks: webhooks.services }),
    ...(mcp && { mcp }),
    redactor,
    subscribeToStoreCalls,
    store,
    shown,
    pace,
    acceptUntrustedSchemas() {
      compileOptions.linearPatterns = true
    },
    getServerToken: () => opened.env.flexToken,
    guardFetch: readers.open,
    leaseMs: engine.leaseMs,
    circuits: engine.circuits,
    get active() {
      return engine.active
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

/** The methods of runs and threads, which start runs for each other. */
async function createMethods(
  options: AppOptions,
  engine: Engine,
  rows: AppParts & Omit<ReturnType<typeof openRows>, 'store'>,
) {
  const models = createModelMethods(options, rows)
  const { summaryModel } = options.threads ?? {}
  const { startQueued: begin, ...methods } = createRunMethods(engine, {
    ...rows,
    contextTokens: options.threads?.contextTokens ?? defaultContextTokens,
    summarise: summaryModel === undefined ? undefined : createSummarise(summaryModel, models.generate),
    addToThread: options.claim === 'none' ? undefined : (run, given) => threads.add(run, given),
  })
  const { prepare } = methods
  const threads = await wireThreads(options, engine, { ...rows, store: rows.sealed, prepare, begin })
  return { methods: { ...methods, ...models }, threads }
}

/** How many polls of runs there are for one of schedules. */
const pollsPerSchedulePoll = 5

/** Only processes that execute the runs of others start scheduled runs: the others may lack the capabilities. */
function wireSchedules(
  { pollMs = 1_000, claim = 'all' }: AppOptions,
  { leaseMs }: Engine,
  { store, onCrash, ...parts }: AppParts & Pick<App, 'prepare'>,
) {
  const schedules = createSchedules({
    ...pick(parts, ['clock', 'redactor', 'prepare']),
    documents: store.records.documents,
    store,
    leaseMs,
    pollMs: pollMs * pollsPerSchedulePoll,
    isFiring: claim === 'all',
    onError: (cause) => onCrash('', cause),
  })
  schedules.open()
  return schedules
}

/** A queue may be out of reach: then nothing stays open. */
async function openOrClose(engine: Engine, close: App['close']): Promise<void> {
  try {
    await engine.open()
  } catch (cause) {
    await close({ graceMs: 0 })
    throw cause
  }
}

/** Closing twice is closing once: the second call waits for the first. */
function once(close: App['close']): App['close'] {
  let closing: Promise<void> | undefined
  return (given) => {
    closing ??= close(given)
    return closing
  }
}

/** Readers of remote documents that were opened, so that they end with the app. */
function createReaders() {
  const opened = new Set<ReadText>()
  return {
    open(allowed: Parameters<App['guardFetch']>[0]): ReadText {
      const read = createReadText(allowed)
      opened.add(read)
      return read
    },
    async close() {
      for (const read of opened) await read.close()
    },
  }
}
