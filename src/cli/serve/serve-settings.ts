/** Settings of `proviso serve`: its flags that are also settings of `proviso.toml`, the limits of the HTTP server, and a check of the environment variables. */
import type { Command } from 'commander'
import { providerTable } from '../../adapters/providers/provider-table.ts'
import type { AppOptions } from '../../app.ts'
import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Role } from '../../domain/ports/records.ts'
import { type EnvConfig, envNames } from '../../env.ts'
import {
  type ArosKey,
  arosTable,
  envName,
  type ServerKey,
  type ServerSettings,
  type SettingFlag,
  serverKeys,
  serverTable,
} from '../../pipeline/index.ts'
import { type JwtOptions, type ServerLimits, type SignInOptions, shortestToken } from '../../server/index.ts'

interface FlagRow {
  readonly flag: string
  readonly argument: string
  readonly key: ServerKey
  readonly what: string
}

/** Each flag with its setting; `proviso config --explain` lists all settings, including those without a flag. */
const flagTable: readonly FlagRow[] = [
  {
    flag: '--planner',
    argument: '<mode>',
    key: 'planner.mode',
    what: 'draft plans by search, model, or auto: the model first, then search (default: auto with a planner model, else search)',
  },
  {
    flag: '--planner-model',
    argument: '<id>',
    key: 'planner.model',
    what: 'planner model, as provider/model (default: $FLEX_PLANNER_MODEL, else the default model)',
  },
  {
    flag: '--planner-timeout',
    argument: '<ms>',
    key: 'planner.timeout_ms',
    what: 'timeout of one planner call (default: $FLEX_PLANNER_TIMEOUT_MS, else 240000)',
  },
  {
    flag: '--planner-rows',
    argument: '<n>',
    key: 'planner.max_capabilities',
    what: 'maximum number of capabilities in the planner prompt (default: $FLEX_PLANNER_CRCS_MAX_ROWS, else 80)',
  },
  {
    flag: '--body-limit',
    argument: '<bytes>',
    key: 'server.body_bytes',
    what: 'maximum size of a request body (default: 1048576)',
  },
  {
    flag: '--answer-limit',
    argument: '<bytes>',
    key: 'server.answer_bytes',
    what: 'maximum size of an answer of an HTTP agent (default: 1048576)',
  },
  {
    flag: '--rate-limit',
    argument: '<n>',
    key: 'server.rate_requests',
    what: 'requests per token in ten seconds, 0 for no limit (default: 1000)',
  },
  {
    flag: '--retention',
    argument: '<time>',
    key: 'retention.keep',
    what: 'delete finished runs after this time, such as 12h or 30d (default: keep them)',
  },
]

/** Flags of `serve` and `worker`: which runs they execute, and which queue brings them. */
const executionFlagTable: readonly FlagRow[] = [
  {
    flag: '--labels',
    argument: '<list>',
    key: 'placement.labels',
    what: 'execute also the runs whose placement has no other labels than these, such as region=eu,gpu=yes (default: $PROVISO_LABELS)',
  },
  {
    flag: '--queue',
    argument: '<mode>',
    key: 'queue.mode',
    what: 'who brings due runs to workers: local polls the store, restate delivers them (default: $PROVISO_QUEUE, else local)',
  },
  {
    flag: '--restate-ingress',
    argument: '<url>',
    key: 'queue.ingress',
    what: 'URL where Restate takes requests (default: http://127.0.0.1:8080)',
  },
  {
    flag: '--restate-admin',
    argument: '<url>',
    key: 'queue.admin',
    what: 'URL of the admin API of Restate, where workers register (default: http://127.0.0.1:9070)',
  },
  {
    flag: '--restate-address',
    argument: '<url>',
    key: 'queue.address',
    what: 'URL under which Restate reaches the workers (default: the host and port of this worker)',
  },
  {
    flag: '--restate-host',
    argument: '<address>',
    key: 'queue.host',
    what: 'address to listen on for Restate (default: 127.0.0.1)',
  },
  {
    flag: '--restate-port',
    argument: '<n>',
    key: 'queue.port',
    what: 'port to listen on for Restate; 0 for a free one (default: 9080)',
  },
]

export function addSettingFlags(command: Command): Command {
  return addFlags(command, flagTable)
}

export function addExecutionFlags(command: Command): Command {
  return addFlags(command, executionFlagTable)
}

function addFlags(command: Command, table: readonly FlagRow[]): Command {
  for (const { flag, argument, what } of table) command.option(`${flag} ${argument}`, what)
  return command
}

/** Converts the flags that commander parsed to settings. */
export function settingFlags(flags: Readonly<Record<string, unknown>>): readonly SettingFlag[] {
  return [...flagTable, ...executionFlagTable].flatMap(({ flag, key }) => {
    const text = flags[camelName(flag)]
    return typeof text === 'string' ? [{ key, flag, text }] : []
  })
}

function camelName(flag: string): string {
  return flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

// Limits of the HTTP server, from its settings.

/** Development mode has no rate limits, unless `isSet` reports that one is configured. */
export function serverLimits(
  { server, quota }: ServerSettings,
  { dev, isSet }: { readonly dev: boolean; readonly isSet: (key: string) => boolean },
): ServerLimits {
  const rate = (requests: number, seconds: number) => (requests === 0 ? false : { requests, seconds })
  const applies = (key: string) => !dev || isSet(key)
  return {
    bodyBytes: server.bodyBytes,
    runs: server.maxRuns,
    streams: server.maxStreams,
    requestMs: server.requestTimeoutMs,
    headersMs: server.headerTimeoutMs,
    tenantStreams: server.tenantStreams,
    handling: server.maxHandling,
    queueMs: server.queueWaitMs,
    lagMs: server.maxLagMs,
    ...quota,
    rate: applies('server.rate_requests') && rate(server.rateRequests, server.rateSeconds),
    failures: applies('server.failed_tokens') && rate(server.failedTokens, server.failedTokenSeconds),
    callbacks: applies('server.callback_requests') && rate(server.callbackRequests, server.callbackSeconds),
    registrations: applies('server.registrations') && rate(server.registrations, server.registrationSeconds),
  }
}

/** The identity provider, from the settings; undefined without an issuer. */
export function chooseJwt(
  auth: ServerSettings['auth'],
  { authSecret }: Pick<EnvConfig, 'authSecret'>,
): JwtOptions | undefined {
  if (auth === undefined) return undefined
  const { roles, clientId: _clientId, scope: _scope, ...given } = auth
  const entries = roles.map((entry) => {
    const cut = entry.lastIndexOf('=')
    // Validated by the schema of the setting.
    return [entry.slice(0, cut), entry.slice(cut + 1) as Role] as const
  })
  return {
    ...given,
    ...(authSecret !== undefined && { secret: authSecret }),
    ...(entries.length > 0 && { roles: Object.fromEntries(entries) }),
  }
}

/** The sign-in of the console at the identity provider; undefined without a client id. */
export function chooseSignIn(
  auth: ServerSettings['auth'],
  { authClientSecret }: Pick<EnvConfig, 'authClientSecret'>,
): SignInOptions | undefined {
  if (auth?.clientId === undefined) return undefined
  return {
    clientId: auth.clientId,
    ...(auth.scope !== undefined && { scope: auth.scope }),
    ...(authClientSecret !== undefined && { clientSecret: authClientSecret }),
  }
}

/** The queue, from the settings. */
export function chooseQueue(
  { mode, ...given }: ServerSettings['queue'],
  { restateToken: token }: Pick<EnvConfig, 'restateToken'>,
): NonNullable<AppOptions['queue']> {
  if (mode === 'local') return mode
  return { kind: mode, ...given, ...(token !== undefined && { token }) }
}

// Webhooks of the operator, from the settings.

/** Throws if there are webhooks and no secret: an unsigned webhook could be forged. */
export function chooseWebhooks(
  { urls, events, timeoutMs, maxTries }: ServerSettings['webhooks'],
  { webhookSecret: secret = '' }: Pick<EnvConfig, 'webhookSecret'>,
): NonNullable<AppOptions['webhooks']> {
  if (urls.length > 0 && secret.length < shortestToken)
    throw new ProvisoError(
      'option/invalid',
      `webhooks.urls is set, so ${envNames.webhookSecret[0]} must have at least ${shortestToken} characters`,
      { hint: 'Create one with `openssl rand -hex 32`' },
    )
  return { endpoints: urls.map((url) => ({ url, secret, events })), timeoutMs, retry: { max: maxTries } }
}

// Reports environment variables that have no effect: misspelled, specified but not implemented, or with an invalid value.

/** Specified variables that this server does not read, with what to set instead. */
const notBuilt: Readonly<Record<string, string>> = {
  FLEX_CAPABILITY_POST_CONDITION_MAX_RETRIES: 'set `retry` on the nodes of a draft',
  FLEX_GOAL_CONDITION_REPLAN_LIMIT: 'a policy replans at most as often as its `maxAttempts` says',
  FLUJO_CONFIG_PATH: 'set PROVISO_CONFIG',
  FLUJO_FIX_RULES: 'set PROVISO_FIX_RULES',
  FLUJO_VALIDATE_LARGE_LITERAL_THRESHOLD: 'the threshold is fixed',
  HITL_MAX_REQUESTS: 'set `constraints.maxAsks` of the envelope (default 3)',
  SSE_CONCURRENCY: 'set PROVISO_MAX_STREAMS',
  SSE_MAX_PENDING: 'set PROVISO_MAX_STREAMS',
}

const ours = /^(PROVISO|FLEX|FLUJO|HITL|SSE|USE_FLEX|VITE_USE_FLEX)_/

/** Variables read by the CLI itself, by agents of the examples and by tests. */
const otherVariables = [
  'PROVISO_CONFIG',
  'PROVISO_PRESET',
  'PROVISO_STORE',
  'PROVISO_FIX_RULES',
  'PROVISO_URL',
  'PROVISO_TOKEN',
]

/** Returns one line for each variable that is set but not read. */
export function findUnusedVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set<string>([
    ...otherVariables,
    ...Object.values(envNames).flat(),
    ...(Object.keys(arosTable) as ArosKey[]).map(envName),
    ...serverKeys.flatMap((key) => serverTable[key].env),
  ])
  return Object.keys(env)
    .filter((name) => ours.test(name) && env[name] !== '' && env[name] !== undefined && !known.has(name))
    .sort()
    .map((name) => describe(name, [...known]))
}

function describe(name: string, known: readonly string[]): string {
  const instead = notBuilt[name]
  if (instead !== undefined) return `${name} has no effect here: ${instead}.`
  const meant = closest(name, known)
  return meant === undefined
    ? `${name} has no effect: unknown variable.`
    : `${name} has no effect: unknown variable. Did you mean ${meant}?`
}

type Variables = Readonly<Record<string, string | undefined>>

/** Providers that a model id can name. */
const providers = Object.keys(providerTable)

const switches = ['sandbox', 'telemetryVerbose', 'captureContent'] as const
const urls = ['openaiBaseUrl', 'compatibleBaseUrl', 'publicUrl'] as const

/** Returns one line for each variable with an invalid value, with the expected values. Throws for an address that cannot be called. */
export function findInvalidVariables(env: Variables): readonly string[] {
  const set = (setting: keyof typeof envNames) =>
    envNames[setting].flatMap((name) => {
      const value = env[name]?.trim()
      return value ? [{ name, value }] : []
    })
  for (const { name, value } of urls.flatMap(set))
    if (!isHttpUrl(value))
      throw new ProvisoError('option/invalid', `${name} must be an http or https URL, got "${value}"`, {
        hint: `Set ${name} to an address such as http://127.0.0.1:11434/v1`,
      })
  const misread = ({ name, value }: { name: string; value: string }, accepted: string) =>
    `${name}="${value}" has no effect: set it to ${accepted}.`
  return [
    ...switches
      .flatMap(set)
      .filter(({ value }) => !/^(1|true|yes|on|0|false|no|off)$/i.test(value))
      .map((each) => misread(each, '1, true, yes or on, or to 0, false, no or off')),
    ...set('ledger')
      .filter(({ value }) => !/^[01]$/.test(value))
      .map((each) => misread(each, '1 or 0')),
    ...set('defaultModel')
      .filter(({ value }) => value.includes('/') && !providers.includes(value.split('/')[0] ?? ''))
      .map(
        ({ name, value }) =>
          `${name}="${value}" names no known provider: set it to PROVIDER/MODEL with one of ${providers.join(', ')}.`,
      ),
  ]
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
