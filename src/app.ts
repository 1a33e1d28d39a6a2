/** The composition root: only this file and its parts in `app/` name concrete adapters. */
import { randomBytes, randomUUID } from 'node:crypto'
import { localDispatcher } from './adapters/executors/local.ts'
import { modelDispatcher } from './adapters/executors/model.ts'
import { scriptedDispatcher } from './adapters/executors/scripted.ts'
import { estimateDraft, generateValue, providersFromKeys } from './adapters/models/index.ts'
import { openStore } from './adapters/stores/open-store.ts'
import { createTracing, spanTypes } from './adapters/telemetry/tracing.ts'
import type { App, GenerateRequest } from './app/app-type.ts'
import { availability, estimateSpending } from './app/availability.ts'
import { choosePlanner } from './app/choose-planner.ts'
import { knownSecrets } from './app/known-secrets.ts'
import { readDraft, readEnvelope, readFacets } from './app/parse-given.ts'
import { readChanges, refuseUnknown } from './app/read-changes.ts'
import { reportCrash } from './app/report-crash.ts'
import { runResult } from './app/run-result.ts'
import { startRun } from './app/start-run.ts'
import { readTimes, wireAgents } from './app/wire-agents.ts'
import {
  type AppOptions,
  checkAppOptions,
  checkEstimateOptions,
  checkResultSignal,
  checkWatchOptions,
} from './app-options.ts'
import { pick } from './base/json.ts'
import { systemClock } from './base/time/clock.ts'
import { createPace, type Pace } from './base/time/pace.ts'
import { timeOrderedId } from './base/time/time-ordered-id.ts'
import type { LocalFunction } from './domain/capability/define-capability.ts'
import type { Dispatcher } from './domain/ports/dispatcher.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { Store } from './domain/ports/store.ts'
import { createRedactor } from './domain/redaction/redact.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { loadEvents } from './engine/journal/journal.ts'
import { taskResults } from './engine/task-results.ts'
import { type EnvConfig, readEnv } from './env.ts'
import { addOwnCapabilities, builtinFunctions, createCatalog } from './plan/index.ts'

export { openStore } from './adapters/stores/open-store.ts'
export { type TracingOptions, tracedProvider } from './adapters/telemetry/tracing.ts'
export type { App, GenerateRequest } from './app/app-type.ts'
export type { RunResult } from './app/run-result.ts'
export type { AppOptions, HttpOptions, PlannerChoice, RunOptions } from './app-options.ts'
export type {
  CapabilityDefinition,
  DefinedCapability,
  LocalContext,
  LocalFunction,
} from './domain/capability/define-capability.ts'
export { defineCapability } from './domain/capability/define-capability.ts'

/** The default model, if neither options nor environment name one. */
export const fallbackModel = 'openai/gpt-5-mini'

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

async function buildApp(
  options: AppOptions,
  { env, pace, store }: { readonly env: EnvConfig; readonly pace: Pace; readonly store: Store },
): Promise<App> {
  const { clock = systemClock, capabilities = [] } = options
  const given = options.providers ?? providersFromKeys(env)
  const redactor = createRedactor({ secrets: knownSecrets(options, { env, providers: given }) })
  const onCrash = options.onCrash ?? reportCrash(redactor)
  const tracing = options.tracing === false ? undefined : createTracing({ ...options.tracing, redactor })
  const providers = tracing ? given.map(tracing.provider) : given
  const ownStore = typeof options.store !== 'object'
  const functions = new Map<string, LocalFunction>(builtinFunctions)
  for (const { capability, run } of capabilities) if (run) functions.set(capability.capabilityId, run)
  const defaultModel = options.defaultModel ?? env.defaultModel ?? fallbackModel
  const unavailable = availability({ options, env, providers, defaultModel })
  const catalog = createCatalog({ facets: readFacets(options.facets), clock, unavailable })
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
      onError: (cause) => onCrash('', cause),
      onPartial: options.onPartial,
      onLateAnswer: (runId, idempotencyKey) => engine.takeLateAnswer(runId, idempotencyKey),
      onUnawaited: ({ runId, outcome, ...ref }) => engine.logLateResult(runId, ref, outcome),
    })
  const { prices = [] } = options
  const estimating = { capability: catalog.capability, defaultModel, prices, providers }
  const dispatchers: Dispatcher[] = [
    localDispatcher(functions),
    scriptedDispatcher(clock),
    modelDispatcher({
      providers,
      defaultModel,
      redactor,
      clock,
      ...pick(options, ['processing', 'prices', 'onPartial', 'random', 'stages']),
    }),
    ...(agents ? [agents.dispatcher] : []),
    ...(options.dispatchers ?? []),
  ]
  const planner = choosePlanner(options.planner, {
    providers,
    defaultModel,
    prices,
    redactor,
    retrying: { clock, ...pick(options, ['random']) },
  })
  // Read at every use: `acceptUntrustedSchemas` changes it.
  const compileOptions = { linearPatterns: options.untrustedSchemas ?? false }
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
    estimate: (envelope, draft) => estimateSpending(envelope, draft, estimating),
    turn: () => pace.turn(),
    compileOptions,
    ...readTimes(options, env),
    ...pick(options, ['pollMs', 'limits', 'claim', 'random']),
    onCrash,
    onMissing(runId, capabilityIds) {
      // Another process may have accepted the registration and died: the catalog here can be older than the run.
      agents?.living.refresh().catch((cause: unknown) => onCrash('', cause))
      options.onMissing?.(runId, capabilityIds)
    },
  })
  if (tracing) engine.subscribeToLifecycle(tracing.runs.hear, { types: spanTypes })
  await agents?.living.open()
  engine.open()

  const start: App['start'] = (given, runOptions) => startRun({ engine, tracing, newId }, given, runOptions)
  const result: App['result'] = async (runId, signal) => {
    checkResultSignal(signal)
    return runResult(engine, runId, signal)
  }
  let closing: Promise<void> | undefined
  const close: App['close'] = async (given) => {
    await engine.close(given)
    tracing?.runs.close()
    agents?.living.close()
    await agents?.guard.close()
    if (ownStore) await store.close()
  }
  return {
    start,
    result,
    async run(envelope, given = {}) {
      return result(await start(envelope, given), given.signal)
    },
    estimate(given, wanted) {
      const { value } = readEnvelope(given)
      checkEstimateOptions(wanted)
      return estimateDraft(value, readDraft(wanted.draft), estimating)
    },
    async generate(given) {
      // A missing request is refused like any other request without an objective.
      const { maxOutputTokens, model = defaultModel, ...request } = given ?? ({} as GenerateRequest)
      const { processing, prices = [], secrets = [] } = options
      return generateValue({
        clock,
        ...pick(options, ['random']),
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
    watch(runId, given = {}) {
      checkWatchOptions(given)
      return engine.watch(runId, given)
    },
    reply: engine.reply,
    resume: engine.resume,
    cancel: engine.cancel,
    trigger: engine.trigger,
    claim: engine.claim,
    state: engine.state,
    missingCapabilities: engine.missing,
    taskResults: async (runId) => taskResults(await engine.state(runId)),
    async replay(runId, given = {}) {
      const changes = readChanges(given)
      if (changes.nodeData || changes.policies) refuseUnknown(changes, await loadEvents(store, runId))
      return engine.replay(runId, changes)
    },
    subscribeToLifecycle: engine.subscribeToLifecycle,
    capabilities: (tenant = 'default') => (agents?.catalogs.forTenant(tenant) ?? catalog).capabilities(),
    inactive: (tenant = 'default') =>
      (agents?.catalogs.forTenant(tenant) ?? catalog).inactive?.() ?? new Map(),
    facets: () => catalog.facets(),
    ...(agents && { agents: agents.services }),
    redactor,
    store,
    pace,
    acceptUntrustedSchemas() {
      compileOptions.linearPatterns = true
    },
    get active() {
      return engine.active
    },
    close(given) {
      closing ??= close(given)
      return closing
    },
  }
}
