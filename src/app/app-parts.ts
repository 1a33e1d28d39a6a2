/** What an app consists of before it has an engine: providers, redaction, tracing, the catalog, the planner, dispatchers. */
import { randomBytes, randomUUID } from 'node:crypto'
import { localDispatcher, scriptedDispatcher } from '../adapters/executors/local.ts'
import { modelDispatcher } from '../adapters/executors/model.ts'
import { type EstimateContext, providersFromKeys } from '../adapters/models/index.ts'
import { createTracing } from '../adapters/telemetry/tracing.ts'
import type { AppOptions } from '../app-options.ts'
import { pick } from '../base/json.ts'
import { systemClock } from '../base/time/clock.ts'
import type { Pace } from '../base/time/pace.ts'
import { timeOrderedId } from '../base/time/time-ordered-id.ts'
import type { LocalFunction } from '../domain/capability/define-capability.ts'
import type { Dispatcher } from '../domain/ports/dispatcher.ts'
import type { Store } from '../domain/ports/store.ts'
import { createRedactor } from '../domain/redaction/redact.ts'
import type { EngineOptions } from '../engine/engine.ts'
import type { EnvConfig } from '../env.ts'
import { addOwnCapabilities, builtinFunctions, createCatalog } from '../plan/index.ts'
import { availability, estimateSpending } from './availability.ts'
import { choosePlanner } from './choose-planner.ts'
import { knownSecrets } from './known-secrets.ts'
import { readFacets } from './parse-given.ts'
import { reportCrash } from './report-crash.ts'
import { readTimes } from './wire-agents.ts'

/** The default model, if neither options nor environment name one. */
export const fallbackModel = 'openai/gpt-5-mini'

export type AppParts = ReturnType<typeof resolveParts>

export function resolveParts(
  options: AppOptions,
  { env, pace, store }: { readonly env: EnvConfig; readonly pace: Pace; readonly store: Store },
) {
  const { clock = systemClock, capabilities = [], prices = [] } = options
  const given = options.providers ?? providersFromKeys(env)
  const redactor = createRedactor({ secrets: knownSecrets(options, { env, providers: given }) })
  const tracing = options.tracing === false ? undefined : createTracing({ ...options.tracing, redactor })
  const providers = tracing ? given.map(tracing.provider) : given
  const defaultModel = options.defaultModel ?? env.defaultModel ?? fallbackModel
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
    newId: options.newId ?? (() => `flex_${timeOrderedId(clock.now(), randomBytes(16))}`),
  }
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
    agents,
  }: Pick<AppParts, 'providers' | 'defaultModel' | 'redactor' | 'clock' | 'tracing'> & {
    readonly agents: Dispatcher | undefined
  },
): readonly Dispatcher[] {
  const functions = new Map<string, LocalFunction>(builtinFunctions)
  for (const { capability, run } of options.capabilities ?? [])
    if (run) functions.set(capability.capabilityId, run)
  const dispatchers = [
    localDispatcher(functions),
    scriptedDispatcher(clock),
    modelDispatcher({
      providers,
      defaultModel,
      redactor,
      clock,
      ...pick(options, ['processing', 'prices', 'onPartial', 'random', 'stages']),
    }),
    ...(agents ? [agents] : []),
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
  })
  return {
    ...pick(parts, ['store', 'clock', 'newId', 'redactor', 'onCrash', 'compileOptions']),
    ...pick(options, ['pollMs', 'limits', 'claim', 'random', 'storeRaw']),
    ...readTimes(options, env),
    owner: options.owner ?? `${process.pid}-${randomUUID()}`,
    planner: tracing ? tracing.planner(planner) : planner,
    estimate: (envelope, draft) => estimateSpending(envelope, draft, estimating),
    turn: () => pace.turn(),
  }
}
