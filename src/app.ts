/** The composition root: only this file and its parts in `app/` name concrete adapters. */
import { openStore } from './adapters/stores/open-store.ts'
import { spanTypes } from './adapters/telemetry/tracing.ts'
import { createModelMethods, createRunMethods } from './app/app-methods.ts'
import { createDispatchers, resolveParts, toEngineOptions } from './app/app-parts.ts'
import type { App } from './app/app-type.ts'
import { measureStore } from './app/measure-store.ts'
import { sealSecrets, shownRows } from './app/seal-secrets.ts'
import { wireAgents } from './app/wire-agents.ts'
import { type AppOptions, checkAppOptions } from './app-options.ts'
import { pick } from './base/json.ts'
import { createPace, type Pace } from './base/time/pace.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { Store } from './domain/ports/store.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { type EnvConfig, readEnv } from './env.ts'

export { openStore } from './adapters/stores/open-store.ts'
export { type TracingOptions, tracedProvider } from './adapters/telemetry/tracing.ts'
export { fallbackModel } from './app/app-parts.ts'
export type { App, GenerateRequest } from './app/app-type.ts'
export type { DecisionInput, OpenAsk, RunHandle } from './app/run-handle.ts'
export type {
  CancelledRun,
  CompletedRun,
  FailedRun,
  RunIssueCode,
  RunResult,
  WaitingRun,
} from './app/run-result.ts'
export { openSealed, openShown } from './app/seal-secrets.ts'
export type { PreparedRun } from './app/start-run.ts'
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

interface Opened {
  readonly env: EnvConfig
  readonly pace: Pace
  readonly store: Store
}

async function buildApp(options: AppOptions, opened: Opened): Promise<App> {
  const store = sealSecrets(opened.store, options, opened.env)
  const { store: measured, subscribe: subscribeToStoreCalls } = measureStore(store)
  const parts = resolveParts(options, { ...opened, store: measured })
  const { catalog, redactor, tracing, onCrash, compileOptions } = parts
  const { pace } = opened
  const agents =
    options.http &&
    wireAgents(options.http, {
      ...pick(parts, ['store', 'env', 'clock']),
      shared: catalog,
      onError: (cause) => onCrash('', cause),
      listenerOf: parts.partials.listenerOf,
      parseText: parts.reading.parseText,
      onLateAnswer: (runId, idempotencyKey) => engine.takeLateAnswer(runId, idempotencyKey),
      onUnawaited: ({ runId, outcome, ...ref }) => engine.logLateResult(runId, ref, outcome),
    })
  const engine: Engine = createEngine({
    ...toEngineOptions(options, parts),
    catalog: agents?.catalogs ?? catalog,
    dispatchers: createDispatchers(options, { ...parts, agents: agents?.dispatcher }),
    onMissing(runId, capabilityIds) {
      // Another process may have accepted the registration and died: the catalog here can be older than the run.
      agents?.living.refresh().catch((cause: unknown) => onCrash('', cause))
      options.onMissing?.(runId, capabilityIds)
    },
  })
  if (tracing) engine.subscribeToLifecycle(tracing.runs.recordNotice, { types: spanTypes })
  await agents?.living.open()
  engine.open()

  const catalogOf = (tenant = 'default') => agents?.catalogs.forTenant(tenant) ?? catalog
  let closing: Promise<void> | undefined
  const close: App['close'] = async (given) => {
    await engine.close(given)
    tracing?.runs.close()
    agents?.living.close()
    await agents?.addressFilter.close()
    await parts.reading.close()
    if (typeof options.store !== 'object') await opened.store.close()
  }
  const closeOnce: App['close'] = (given) => {
    closing ??= close(given)
    return closing
  }
  return {
    ...createRunMethods(engine, parts),
    ...createModelMethods(options, parts),
    capabilities: (tenant) => catalogOf(tenant).capabilities(),
    inactive: (tenant) => catalogOf(tenant).inactive?.() ?? new Map(),
    facets: () => catalog.facets(),
    ...(agents && { agents: agents.services }),
    redactor,
    subscribeToStoreCalls,
    store,
    shown: shownRows(store),
    pace,
    acceptUntrustedSchemas() {
      compileOptions.linearPatterns = true
    },
    getServerToken: () => opened.env.flexToken,
    leaseMs: engine.leaseMs,
    get active() {
      return engine.active
    },
    close: closeOnce,
    [Symbol.asyncDispose]: () => closeOnce(),
  }
}
