/** The options of `createApp`, `run`, `watch` and `replay`: each with its meaning, default and validation rule. */

import type { HttpDispatcherOptions } from './adapters/executors/http.ts'
import type { NodePartial } from './adapters/executors/model.ts'
import type { McpLogLine } from './adapters/mcp/mcp-client.ts'
import { type McpServers, mcpServers } from './adapters/mcp/mcp-options.ts'
import type { Price } from './adapters/models/index.ts'
import type { AddressFilterOptions } from './adapters/net/address-filter.ts'
import { checkRestateOptions, type RestateOptions } from './adapters/queues/restate/restate-options.ts'
import type { TracingOptions } from './adapters/telemetry/tracing.ts'
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
  type Rows,
  refuseOptions,
  rowIssues,
} from './base/option-rows.ts'
import { child, type Pointer } from './base/pointer.ts'
import type { Clock } from './base/time/clock.ts'
import type { DefinedCapability } from './domain/capability/define-capability.ts'
import type { Endpoint } from './domain/capability/endpoint.ts'
import { checkProcessing, type GivenProcessing } from './domain/draft/processing.ts'
import type { DraftInput } from './domain/envelope/envelope-input.ts'
import { webhookEvents } from './domain/event/webhook-notice.ts'
import type { Facet } from './domain/facet.ts'
import { below } from './domain/parse/parsed.ts'
import { labelPattern, mostLabels } from './domain/placement.ts'
import type { Dispatcher } from './domain/ports/dispatcher.ts'
import type { Planner } from './domain/ports/planner.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { Store } from './domain/ports/store.ts'
import { checkPrices } from './domain/settings/check-prices.ts'
import type { EngineOptions } from './engine/engine.ts'
import type { WatchOptions } from './engine/journal/journal.ts'
import type { ReplayChanges } from './engine/replay/replay.ts'
import type { EnvConfig } from './env.ts'
import type { CustomStage } from './output/index.ts'
import type { AgentsOptions } from './server/agents/agents.ts'
import type { WebhookEndpoint, WebhookOptions } from './server/webhooks/webhooks.ts'

export interface AppOptions
  extends Partial<
    Pick<
      EngineOptions,
      | 'leaseMs'
      | 'pollMs'
      | 'askMs'
      | 'limits'
      | 'owner'
      | 'onCrash'
      | 'onMissing'
      | 'claim'
      | 'labels'
      | 'plannedOnly'
      | 'storeRaw'
    >
  > {
  /** Where runs are stored: an open store, or `memory:` (default), `sqlite:PATH`, `postgres://…`. */
  readonly store?: Store | string
  /**
   * Who brings due runs to this process: `local` (default), it polls the store for them; or Restate delivers them, to any process
   * with the same options. Restate needs a PostgreSQL store, and the package `@restatedev/restate-sdk` where runs are executed.
   */
  readonly queue?: 'local' | RestateOptions
  /** Keeps a ledger of corrections in a store that is opened here (AROS-66). Default: `PROVISO_LEDGER=1`, else false. */
  readonly ledger?: boolean
  /**
   * Schemas may come from untrusted callers: their patterns run on a linear-time engine, which a crafted pattern cannot
   * slow down. Apps with a server get this automatically. Default false.
   */
  readonly untrustedSchemas?: boolean
  readonly capabilities?: readonly DefinedCapability[]
  /** Facets of the catalog. A preset such as `proviso/presets/marketing` has some; default: none. */
  readonly facets?: readonly Facet[]
  /** Custom stages for reading answers, referenced by `processing.stages` of steps and capabilities. */
  readonly stages?: readonly CustomStage[]
  /** Drafts plans for envelopes without a draft: a planner, or the choice of a built-in one. Default: the search planner. */
  readonly planner?: Planner | PlannerChoice
  /**
   * Providers that call models. Default: one for each API key in the environment, loaded on its first call. The rehearsal
   * model of `proviso/testing`, which needs no key, is only used when it is listed here.
   */
  readonly providers?: readonly Provider[]
  /** Model of capabilities without a preference. Default: from the environment (FLEX-108), else `openai/gpt-5-mini`. */
  readonly defaultModel?: string
  /** API keys and models. Default: read from the environment; an empty object reads nothing. */
  readonly env?: EnvConfig
  /** Default processing of model answers, for nodes without their own. Default: structured output `auto`, full reading, repair. */
  readonly processing?: GivenProcessing
  /** Prices of models; they take precedence over the list prices. */
  readonly prices?: readonly Price[]
  /**
   * Secrets to redact from prompts, events, evidence and the store. API keys of providers, of the environment and in
   * settings of capabilities are redacted automatically.
   */
  readonly secrets?: readonly string[]
  /** If set, models stream, and partial values are passed here; they are never stored. */
  readonly onPartial?: (partial: NodePartial) => void
  /**
   * OpenTelemetry spans of runs, plans and calls, with the tracer of the host; `false`: none. Without a tracer this has no
   * effect.
   */
  readonly tracing?: TracingOptions | false
  /** If set, agents can register over HTTP, and are planned with and called. */
  readonly http?: HttpOptions
  /** Webhooks for all tenants, and how they are delivered. With `http`, tenants can add webhooks of their own over HTTP. */
  readonly webhooks?: WebhooksChoice
  /**
   * MCP servers by name. Their tools become capabilities `NAME.TOOL` of kind `mcp`. Needs the package
   * `@modelcontextprotocol/client`.
   */
  readonly mcp?: McpServers
  /** Receives what MCP servers write to their standard error or log, and changes of their connections; redacted. */
  readonly onMcpLog?: (line: McpLogLine) => void
  /** Adds `memory.remember`, `memory.recall` and `memory.forget`, which agents can use as tools. Default false. */
  readonly memory?: boolean
  /** Conversations: runs with the same `threadId`. */
  readonly threads?: ThreadOptions
  /** Dispatchers for custom kinds of capabilities; a dispatcher for a known kind replaces it. */
  readonly dispatchers?: readonly Dispatcher[]
  /** How texts of models and agents are read; `false`: all of them on the main thread. With a `clock` of its own, an app does so, too. */
  readonly reading?: ReadingOptions | false
  readonly clock?: Clock
  /** Random numbers from 0 to below 1, for the jitter of retry delays. Default `Math.random`. */
  readonly random?: () => number
  /** Creates run ids. Default `flex_` and a UUID that sorts by time. */
  readonly newId?: () => string
}

interface ThreadOptions {
  /** Budget of the earlier turns that a run of a thread begins with, in tokens. Default 4,000. */
  readonly contextTokens?: number
  /** `provider/model` that writes the summary of turns beyond the budget. Default: one line for each turn. */
  readonly summaryModel?: string
  /** What happens to a further run while a run of the thread is not over. Default `queue`. */
  readonly whenBusy?: 'queue' | 'interrupt' | 'reject'
}

/** Limits of reading long texts on other threads. A text beyond one is an issue (`limit/deadline`, `limit/memory`) of its attempt. */
export interface ReadingOptions {
  /** Longest text, in characters, that is read on the main thread. Default 16,384. */
  readonly longestHere?: number
  /** Time limit for one text. Default 10,000. */
  readonly deadlineMs?: number
  /** Heap limit of one thread. Default 256. */
  readonly memoryMb?: number
  /** Maximum number of threads. Default: one less than there are cores, at least 1 and at most 4. */
  readonly workers?: number
  /** URL of `off-thread-worker.js`, if a bundler moved it. */
  readonly workerUrl?: URL
}

/** Selects a built-in planner. */
export interface PlannerChoice {
  /** `search`: branch and bound over the catalog; `model`: a model alone; `auto`: the model first, then the search. */
  readonly mode: 'search' | 'model' | 'auto'
  /** `provider/model`. Default: the default model. */
  readonly model?: string
  /** Timeout of each model call. Default 240,000. */
  readonly timeoutMs?: number
  /** Maximum capabilities in the prompt. Default 80. */
  readonly maxCapabilities?: number
}

/** Webhooks of the operator. Their addresses must be allowed as those of agents are (`http`). */
type WebhooksChoice = Partial<Pick<WebhookOptions, 'endpoints' | 'retry' | 'timeoutMs' | 'onGiveUp'>>

/** Limits and settings of calls to agents over HTTP. */
export interface HttpOptions
  extends AddressFilterOptions,
    Pick<HttpDispatcherOptions, 'maxBytes' | 'timeoutMs' | 'callbackMs'>,
    Pick<AgentsOptions, 'cacheTtlMs' | 'selfRefreshMs'> {
  /** Public URL of this server, such as `https://proviso.example`; without it, agents must answer synchronously. */
  readonly callbackUrl?: string | (() => string | undefined)
  /** How long a worker that polls may be silent before it loses its call. Default 30 s. */
  readonly workerLeaseMs?: number
  /**
   * Keys that encrypt the secrets of registered agents in the store, newest first: the first encrypts, all of them decrypt.
   * 32 bytes each, as hex or base64. Default: `PROVISO_SECRET_KEY` and, to decrypt, `PROVISO_SECRET_KEY_PREVIOUS`.
   */
  readonly secretKeys?: readonly string[]
  /**
   * Whether these secrets may be stored in the clear while there is no key. A function allows it and is called the first
   * time. Default: only in a store in memory; other stores refuse registrations without a key.
   */
  readonly clearSecrets?: boolean | (() => void)
  /** Endpoints of this process's own capabilities of kind `http`, by capability id. */
  readonly agents?: { readonly [capabilityId: string]: Endpoint }
}

export interface RunOptions {
  readonly runId?: string
  readonly tenant?: string
  readonly threadId?: string
  /** While a run of the thread is not over: wait for it, cancel it, or refuse with `thread/busy`. Default: `threads.whenBusy` of the app. */
  readonly whenBusy?: 'queue' | 'interrupt' | 'reject'
  /** Who cancels the current run, with `whenBusy: 'interrupt'`. Default `library`. */
  readonly by?: string
  readonly correlationId?: string
  /** A plan written by hand; without it, a planner drafts one. */
  readonly draft?: DraftInput
  /** Trace context of the caller (W3C): the run's spans are its children. */
  readonly traceparent?: string
  readonly signal?: AbortSignal
  /** Models of the run stream, for `partials()` of its handle. Default: only if something reads them. */
  readonly partials?: boolean
}

/** The options of a run whose draft is of unknown shape. */
export interface PrepareOptions extends Omit<RunOptions, 'draft'> {
  readonly draft?: unknown
}

/** One rule for every option. */
type RowsOf<T> = { readonly [K in keyof Required<T>]: Check }

const wholeNumber = must(
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
  'a whole number above zero',
)
const ports = each(wholeNumber)

const nested =
  (rows: Rows): Check =>
  (value, at) =>
    isObject(value) ? rowIssues(value, at, rows) : object(value, at)

const limitRule = nested({
  concurrency: wholeNumber,
  rate: nested({ count: wholeNumber, perMs: milliseconds }),
})
const limitRules: Check = (value, at) =>
  isObject(value)
    ? Object.entries(value).flatMap(([limited, rule]) => limitRule(rule, child(at, limited)))
    : object(value, at)

const limits: Check = (value, at) =>
  isObject(value)
    ? rowIssues(value, at, {
        process: wholeNumber,
        capability: callable,
        fleet: nested({ capabilities: limitRules, tenants: limitRules, models: limitRules }),
        circuits: (circuits, where) =>
          circuits === false
            ? []
            : nested({ failures: wholeNumber, openMs: milliseconds, waitMs: milliseconds })(circuits, where),
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
  workerLeaseMs: milliseconds,
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

/** Validates the processing block with the schema of nodes. */
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

const readingRows = {
  longestHere: must(
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    'a whole number, 0 or more',
  ),
  deadlineMs: milliseconds,
  memoryMb: wholeNumber,
  workers: wholeNumber,
  workerUrl: must((value) => value instanceof URL, 'a URL'),
} satisfies RowsOf<ReadingOptions>

const reading: Check = (value, at) => {
  if (value === false) return []
  return isObject(value) ? rowIssues(value, at, readingRows) : object(value, at)
}

const whenBusy = must(
  (value) => ['queue', 'interrupt', 'reject'].includes(String(value)),
  '"queue", "interrupt" or "reject"',
)

const threadRows = {
  contextTokens: wholeNumber,
  summaryModel: name,
  whenBusy,
} satisfies RowsOf<ThreadOptions>

const threads: Check = (value, at) => (isObject(value) ? rowIssues(value, at, threadRows) : object(value, at))

const endpointRows = {
  url: must(
    (value) => typeof value === 'string' && URL.canParse(value),
    'a URL',
    'https://hooks.example/runs',
  ),
  secret: must(
    (value) => typeof value === 'string' && value.length >= 16,
    'a text of at least 16 characters',
  ),
  events: each(
    must((value) => webhookEvents.some((event) => event === value), `one of ${webhookEvents.join(', ')}`),
  ),
  tenant: name,
} satisfies RowsOf<WebhookEndpoint>

const webhookRows = {
  endpoints: each((value: unknown, at: Pointer) =>
    isObject(value)
      ? rowIssues({ ...value, url: value['url'] ?? '', secret: value['secret'] ?? '' }, at, endpointRows)
      : object(value, at),
  ),
  retry: object,
  timeoutMs: milliseconds,
  onGiveUp: callable,
} satisfies RowsOf<WebhooksChoice>

function isLabels(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).length > mostLabels) return false
  return Object.entries(value)
    .flat()
    .every((each) => typeof each === 'string' && labelPattern.test(each))
}

const appRows = {
  store: must(
    (value) => typeof value === 'string' || has(value, 'append', 'function'),
    'an open store or its address',
    'memory:, sqlite:PATH or postgres://…',
  ),
  queue: (value: unknown, at: Pointer) => (value === 'local' ? [] : checkRestateOptions(value, at)),
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
  prices: checkPrices,
  secrets: texts,
  onPartial: callable,
  dispatchers: each(
    must((value) => has(value, 'dispatch', 'function'), 'a dispatcher with a function `dispatch`'),
  ),
  clock: must(
    (value) => has(value, 'now', 'function') && has(value, 'timer', 'function'),
    'a clock with functions `now` and `timer`',
  ),
  reading,
  random: callable,
  newId: callable,
  leaseMs: milliseconds,
  pollMs: milliseconds,
  askMs: milliseconds,
  limits,
  owner: name,
  onCrash: callable,
  onMissing: callable,
  plannedOnly: each(name),
  labels: must(
    isLabels,
    `at most ${mostLabels} labels of letters, digits, dots and dashes, such as { region: 'eu' }`,
  ),
  claim: must((value) => ['all', 'own', 'none'].includes(value as string), '"all", "own" or "none"'),
  tracing: must((value) => value === false || isObject(value), 'an object or false'),
  http,
  webhooks: (value: unknown, at: Pointer) =>
    isObject(value) ? rowIssues(value, at, webhookRows) : object(value, at),
  mcp: mcpServers,
  threads,
  memory: flag,
  onMcpLog: callable,
  ledger: flag,
  storeRaw: flag,
  untrustedSchemas: flag,
} satisfies RowsOf<AppOptions>

/** Used in headers and URLs of calls. */
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
  whenBusy,
  by: name,
  correlationId: name,
  draft: () => [],
  signal: must(isSignal, 'an AbortSignal'),
  traceparent: name,
  partials: flag,
} satisfies RowsOf<RunOptions>

const replayRows = {
  policies: each(object),
  nodeData: (value: unknown, at: Pointer) =>
    isObject(value)
      ? Object.entries(value).flatMap(([id, data]) => object(data, child(at, id)))
      : object(value, at),
} satisfies RowsOf<ReplayChanges>

const watchRows = {
  // Any other value would be after every event, and the caller would wait forever.
  after: must((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a sequence number, 0 or more'),
  signal: must(isSignal, 'an AbortSignal'),
} satisfies RowsOf<WatchOptions>

const estimateRows = {
  draft: must((value) => value !== null, 'a draft', 'Write one, or let `search` make it'),
}

/** Validates the options. Throws `option/invalid` with every issue. */
export function checkAppOptions(options: unknown): void {
  refuseOptions('createApp', options, appRows)
}

export function checkWatchOptions(options: unknown): void {
  refuseOptions('watch', options, watchRows)
}

/** A draft is required: there is no estimate without one. */
export function checkEstimateOptions(options: unknown): void {
  const given = isObject(options) ? { ...options, draft: options['draft'] ?? null } : options
  refuseOptions('estimate', given, estimateRows)
}

export function checkReplayChanges(options: unknown): void {
  refuseOptions('a replay', options, replayRows)
}

/** Validates the second argument of `result`, which is the signal itself, unlike in the options of `watch`. */
export function checkResultSignal(signal: unknown): void {
  refuseOptions(
    'result',
    { signal },
    { signal: must(isSignal, 'an AbortSignal', 'Pass the signal itself: app.result(runId, signal)') },
  )
}

export function checkRunOptions(options: unknown): void {
  refuseOptions('a run', options, runRows)
}
