/** What `createApp`, `run`, `watch` and `replay` may be given: every option with its meaning and default, and the one row that it is held to. */
import type { DefinedCapability } from './adapters/dispatchers/define-capability.ts'
import type { HttpDispatcherOptions } from './adapters/dispatchers/http.ts'
import type { NodePartial } from './adapters/dispatchers/model.ts'
import type { GuardOptions } from './adapters/guard.ts'
import type { Price } from './adapters/models/index.ts'
import type { TracingOptions } from './adapters/telemetry/tracing.ts'
import type { Clock } from './base/clock.ts'
import { isObject } from './base/json.ts'
import {
  type Check,
  callable,
  each,
  has,
  milliseconds,
  must,
  name,
  object,
  refuseOptions,
  rowIssues,
} from './base/option-rows.ts'
import { child, type Pointer } from './base/pointer.ts'
import type { Endpoint } from './domain/endpoint.ts'
import type { Facet } from './domain/facet.ts'
import { below } from './domain/parsed.ts'
import type { Dispatcher } from './domain/ports/dispatcher.ts'
import type { Planner } from './domain/ports/planner.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { Store } from './domain/ports/store.ts'
import { checkProcessing, type GivenProcessing } from './domain/processing.ts'
import type { EngineOptions } from './engine/engine.ts'
import type { WatchOptions } from './engine/journal.ts'
import type { ReplayChanges } from './engine/replay.ts'
import type { EnvConfig } from './env.ts'
import type { CustomStage } from './output/index.ts'
import type { AgentsOptions } from './server/agents.ts'

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
  /** The facets of the catalog. A preset such as `proviso/presets/marketing` brings some; default: none. */
  readonly facets?: readonly Facet[]
  /** Stages of your own for reading answers, which `processing.stages` of steps and capabilities names. */
  readonly stages?: readonly CustomStage[]
  /** Drafts plans for envelopes without a draft: a planner, or which of the built-in ones. Default: the search planner. */
  readonly planner?: Planner | PlannerChoice
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
  /** Chance, from 0 to below 1: the jitter of pauses before calls are tried again. Default `Math.random`. */
  readonly random?: () => number
  /** Makes ids of runs. Default `flex_` and a UUID that sorts by time. */
  readonly newId?: () => string
}

/** Which built-in planner drafts. */
export interface PlannerChoice {
  /** `search`: branch and bound over the catalog; `model`: a model alone; `auto`: the model first, then the search. */
  readonly mode: 'search' | 'model' | 'auto'
  /** `provider/model`. Default: the default model. */
  readonly model?: string
  /** For each call of the model. Default 240,000. */
  readonly timeoutMs?: number
  /** Most capabilities in the prompt. Default 80. */
  readonly maxCapabilities?: number
}

/** Who may be called over HTTP, and within which limits. */
export interface HttpOptions
  extends GuardOptions,
    Pick<HttpDispatcherOptions, 'maxBytes' | 'timeoutMs' | 'callbackMs'>,
    Pick<AgentsOptions, 'cacheTtlMs' | 'selfRefreshMs'> {
  /** Where this server can be reached from outside, such as `https://proviso.example`; without it agents must answer at once. */
  readonly callbackUrl?: string | (() => string | undefined)
  /**
   * Keys that secrets of registered agents are sealed with in the store, the newest first: it seals, all of them open. Each
   * has 32 bytes, as hex or base64. Default: `PROVISO_SECRET_KEY` and, for opening, `PROVISO_SECRET_KEY_PREVIOUS`.
   */
  readonly secretKeys?: readonly string[]
  /**
   * Whether these secrets may be stored as they are while there is no key; a function is told of the first time. Default:
   * only in a store in memory; elsewhere registrations are refused without a key.
   */
  readonly clearSecrets?: boolean | (() => void)
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

/** A row for every option, and for nothing else. */
type RowsOf<T> = { readonly [K in keyof Required<T>]: Check }

const wholeNumber = must(
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
  'a whole number above zero',
)
const ports = each(wholeNumber)

const limits: Check = (value, at) =>
  isObject(value)
    ? rowIssues(value, at, {
        process: wholeNumber,
        capability: callable,
      })
    : object(value, at)

const texts = each(must((value) => typeof value === 'string', 'a text'))
const flag = must((value) => typeof value === 'boolean', 'true or false')

const isKey = (key: unknown) => has(key, 'keyId', 'string') && has(key, 'secret', 'string')

const endpoint = must(
  (value) =>
    isObject(value) &&
    typeof value['url'] === 'string' &&
    Array.isArray(value['keys']) &&
    value['keys'].every(isKey),
  'an endpoint: `url`, and a list of `keys` with `keyId` and `secret`',
)

const httpRows = {
  allowLoopback: flag,
  allow: texts,
  schemes: each(must((value) => value === 'http:' || value === 'https:', '"http:" or "https:"')),
  ports: (value: unknown, at: Pointer) => (value === 'any' ? [] : ports(value, at)),
  resolve: callable,
  maxBytes: wholeNumber,
  timeoutMs: milliseconds,
  callbackMs: milliseconds,
  cacheTtlMs: milliseconds,
  selfRefreshMs: milliseconds,
  callbackUrl: must(
    (value) => typeof value === 'string' || typeof value === 'function',
    'a URL or a function',
  ),
  secretKeys: texts,
  clearSecrets: must(
    (value) => typeof value === 'boolean' || typeof value === 'function',
    'true, false or a function',
  ),
  agents: (value: unknown, at: Pointer) =>
    isObject(value)
      ? Object.entries(value).flatMap(([id, agent]) => endpoint(agent, child(at, id)))
      : object(value, at),
} satisfies RowsOf<HttpOptions>

const http: Check = (value, at) => (isObject(value) ? rowIssues(value, at, httpRows) : object(value, at))

/** The block that nodes have, held to the same schema. */
const processing: Check = (value, at) => {
  if (!isObject(value)) return object(value, at)
  const checked = checkProcessing(value)
  return checked.ok ? [] : checked.issues.map((issue) => below(at, issue))
}

const ownPlanner = must(
  (value) => has(value, 'draft', 'function'),
  'a planner with a function `draft`, or { mode }',
)

const plannerRows = {
  mode: must((value) => ['search', 'model', 'auto'].includes(value as string), '"search", "model" or "auto"'),
  model: name,
  timeoutMs: milliseconds,
  maxCapabilities: wholeNumber,
} satisfies RowsOf<PlannerChoice>

const appRows = {
  store: must(
    (value) => typeof value === 'string' || has(value, 'append', 'function'),
    'an open store or its address',
    'memory:, sqlite:PATH or postgres://…',
  ),
  capabilities: each(
    must(
      (value) => isObject(value) && has(value['capability'], 'capabilityId', 'string'),
      'what defineCapability returns',
    ),
  ),
  facets: each(object),
  stages: each(object),
  planner: (value: unknown, at: Pointer) =>
    isObject(value) && 'mode' in value ? rowIssues(value, at, plannerRows) : ownPlanner(value, at),
  providers: each(object),
  defaultModel: name,
  env: object,
  processing,
  prices: each(object),
  secrets: texts,
  onPartial: callable,
  dispatchers: each(
    must((value) => has(value, 'dispatch', 'function'), 'a dispatcher with a function `dispatch`'),
  ),
  clock: must(
    (value) => has(value, 'now', 'function') && has(value, 'timer', 'function'),
    'a clock with functions `now` and `timer`',
  ),
  random: callable,
  newId: callable,
  leaseMs: milliseconds,
  pollMs: milliseconds,
  askMs: milliseconds,
  limits,
  owner: name,
  onCrash: callable,
  onMissing: callable,
  carry: must((value) => ['all', 'own', 'none'].includes(value as string), '"all", "own" or "none"'),
  tracing: must((value) => value === false || isObject(value), 'an object or false'),
  http,
  ledger: flag,
} satisfies RowsOf<AppOptions>

/** It goes into headers and URLs of those who are called. */
const sendable = must(
  (value) => typeof value === 'string' && value.isWellFormed(),
  'a text of whole characters',
)

function isSignal(value: unknown): boolean {
  return value instanceof AbortSignal
}

const runRows = {
  runId: (value: unknown, at: Pointer) => [...name(value, at), ...sendable(value, at)].slice(0, 1),
  tenant: name,
  threadId: name,
  correlationId: name,
  draft: () => [],
  signal: must(isSignal, 'an AbortSignal'),
  traceparent: name,
} satisfies RowsOf<RunOptions>

const replayRows = {
  policies: each(object),
  nodeData: (value: unknown, at: Pointer) =>
    isObject(value)
      ? Object.entries(value).flatMap(([id, data]) => object(data, child(at, id)))
      : object(value, at),
} satisfies RowsOf<ReplayChanges>

const watchRows = {
  // Anything else would be after every event, and waited for in vain.
  after: must((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a sequence number, 0 or more'),
  signal: must(isSignal, 'an AbortSignal'),
} satisfies RowsOf<WatchOptions>

const estimateRows = {
  draft: must((value) => value !== null, 'a draft', 'Write one, or let `search` make it'),
}

/** Throws `option/invalid` with every issue. */
export function checkAppOptions(options: unknown): void {
  refuseOptions('createApp', options, appRows)
}

export function checkWatchOptions(options: unknown): void {
  refuseOptions('watch', options, watchRows)
}

/** Required: there is no estimate of what nobody has drafted. */
export function checkEstimateOptions(options: unknown): void {
  const given = isObject(options) ? { ...options, draft: options['draft'] ?? null } : options
  refuseOptions('estimate', given, estimateRows)
}

export function checkReplayChanges(options: unknown): void {
  refuseOptions('a replay', options, replayRows)
}

/** It is the second argument itself, unlike the options of `watch`. */
export function checkResultSignal(signal: unknown): void {
  refuseOptions(
    'result',
    { signal },
    { signal: must(isSignal, 'an AbortSignal', 'Give the signal itself: app.result(runId, signal)') },
  )
}

export function checkRunOptions(options: unknown): void {
  refuseOptions('a run', options, runRows)
}
