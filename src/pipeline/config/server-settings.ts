/**
 * The settings of the server and its planner: one table for `proviso.toml`, environment variables and flags
 * of `serve`.
 */
import type { Json } from '../../base/json.ts'
import { type WebhookEvent, webhookEvents } from '../../domain/event/webhook-notice.ts'
import { closed, count, countOrNone, text, texts } from '../../domain/schemas/parts.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

export interface ServerSettings {
  readonly planner: {
    readonly mode: 'search' | 'model' | 'auto'
    /** `provider/model`. Absent: the default model. */
    readonly model?: string
    readonly timeoutMs: number
    /** Maximum number of capabilities in the prompt. */
    readonly maxCapabilities: number
  }
  readonly server: {
    readonly bodyBytes: number
    readonly answerBytes: number
    /** 0: no limit. */
    readonly rateRequests: number
    readonly rateSeconds: number
    readonly failedTokens: number
    readonly failedTokenSeconds: number
    readonly maxRuns: number
    readonly maxStreams: number
    readonly requestTimeoutMs: number
    readonly headerTimeoutMs: number
    readonly callbackRequests: number
    readonly callbackSeconds: number
    readonly registrations: number
    readonly registrationSeconds: number
    readonly tenantStreams: number
    readonly maxHandling: number
    readonly queueWaitMs: number
    /** 0: no limit. */
    readonly maxLagMs: number
  }
  /** Quotas of each tenant. Absent: no limit. */
  readonly quota: {
    readonly storedChars?: number
    readonly dailyTokens?: number
    readonly dailyUsd?: number
  }
  readonly retention: {
    /** How long finished runs are kept, such as `30d`, or `forever`. Absent: until they are pruned manually. */
    readonly keep?: string
    /** The same for one status, instead of `keep`. */
    readonly completed?: string
    readonly failed?: string
    readonly cancelled?: string
    /** The same for one tenant (`acme=90d`), or one status of it (`acme.failed=365d`), instead of the others. */
    readonly tenants: readonly string[]
    readonly everyMinutes: number
  }
  /** Absent without `auth.issuer`: no JSON web tokens are accepted. */
  readonly auth?: {
    readonly issuer: string
    readonly audience: readonly string[]
    readonly jwksUrl?: string
    readonly publicKey?: string
    readonly algorithms?: readonly string[]
    readonly rolesClaim?: string
    /** Entries such as `team-leads=operator`. */
    readonly roles: readonly string[]
    readonly tenantClaim?: string
    readonly taskRolesClaim?: string
    readonly nameClaim?: string
    readonly clockToleranceSeconds: number
    /** Private hosts where the issuer may be reached. */
    readonly allow: readonly string[]
    /** Id of the console at the provider; absent: people sign in by a token. */
    readonly clientId?: string
    readonly scope?: string
  }
  /** Webhooks of the operator, which get the events of all tenants. */
  readonly webhooks: {
    readonly urls: readonly string[]
    readonly events: readonly WebhookEvent[]
    readonly timeoutMs: number
    readonly maxTries: number
  }
  /** Limits of all processes on the store together. */
  readonly limits: {
    /** Entries such as `render=4` (at once) and `render=100/1m` (in a time). */
    readonly capabilities: readonly string[]
    readonly tenants: readonly string[]
    readonly models: readonly string[]
    /** 0: circuits stay closed. */
    readonly circuitFailures: number
    readonly circuitSeconds: number
  }
  readonly threads: {
    readonly whenBusy: 'queue' | 'interrupt' | 'reject'
    readonly contextTokens: number
    readonly summaryModel?: string
  }
  /** Who brings due runs to processes. */
  readonly queue: {
    readonly mode: 'local' | 'restate'
    readonly ingress: string
    readonly admin: string
    /** Absent: the host and port of the worker. */
    readonly address?: string
    readonly host: string
    readonly port: number
    readonly identityKeys: readonly string[]
    readonly service: string
  }
  /** Sets of facets and capabilities that ship with the package. */
  readonly presets: readonly string[]
}

interface Row {
  readonly schema: JsonSchema
  readonly otherwise: Json
  readonly what: string
  /** Environment variables; the first one that is set wins. */
  readonly env: readonly string[]
}

/** Read by `readLimits` of the engine. */
const limitEntries = {
  type: 'array',
  items: { type: 'string', pattern: '^.+=[1-9][0-9]{0,8}(/([1-9][0-9]{0,4})?[smh])?$' },
} as const
const age = { type: 'string', pattern: '^([1-9][0-9]{0,5}[smhdw]|forever)$' } as const

/** Every key by its dotted name in `proviso.toml`. */
export const serverTable = {
  'planner.mode': {
    schema: { enum: ['search', 'model', 'auto'] },
    otherwise: null,
    what: 'who drafts plans; auto asks the model first, then searches (default: auto with planner.model, else search)',
    env: ['PROVISO_PLANNER'],
  },
  'planner.model': {
    schema: text,
    otherwise: null,
    what: 'model that drafts plans, as provider/model (default: the default model)',
    env: ['FLEX_PLANNER_MODEL'],
  },
  'planner.timeout_ms': {
    schema: count,
    otherwise: 240_000,
    what: 'timeout of one call of the planner model',
    env: ['FLEX_PLANNER_TIMEOUT_MS'],
  },
  'planner.max_capabilities': {
    schema: count,
    otherwise: 80,
    what: 'most capabilities in the prompt of the planner model',
    env: ['FLEX_PLANNER_CRCS_MAX_ROWS'],
  },
  'server.body_bytes': {
    schema: count,
    otherwise: 1_048_576,
    what: 'longest request body',
    env: ['PROVISO_BODY_BYTES'],
  },
  'server.answer_bytes': {
    schema: count,
    otherwise: 1_048_576,
    what: 'longest answer of an agent over HTTP',
    env: ['PROVISO_ANSWER_BYTES'],
  },
  'server.rate_requests': {
    schema: countOrNone,
    otherwise: 1_000,
    what: 'requests per token in rate_seconds; 0 switches the limit off',
    env: ['PROVISO_RATE_REQUESTS'],
  },
  'server.rate_seconds': {
    schema: count,
    otherwise: 10,
    what: 'window of rate_requests',
    env: ['PROVISO_RATE_SECONDS'],
  },
  'server.failed_tokens': {
    schema: countOrNone,
    otherwise: 60,
    what: 'refused tokens per address in failed_token_seconds; 0 switches the limit off',
    env: ['PROVISO_FAILED_TOKENS'],
  },
  'server.failed_token_seconds': {
    schema: count,
    otherwise: 60,
    what: 'window of failed_tokens',
    env: ['PROVISO_FAILED_TOKEN_SECONDS'],
  },
  'server.max_runs': {
    schema: count,
    otherwise: 1_000,
    what: 'active runs of one tenant',
    env: ['PROVISO_MAX_RUNS'],
  },
  'server.max_streams': {
    schema: count,
    otherwise: 2_000,
    what: 'open event streams',
    env: ['PROVISO_MAX_STREAMS'],
  },
  'server.request_timeout_ms': {
    schema: count,
    otherwise: 30_000,
    what: 'time for a request to arrive',
    env: ['PROVISO_REQUEST_TIMEOUT_MS'],
  },
  'server.header_timeout_ms': {
    schema: count,
    otherwise: 10_000,
    what: 'time for the headers of a request to arrive',
    env: ['PROVISO_HEADER_TIMEOUT_MS'],
  },
  'server.callback_requests': {
    schema: countOrNone,
    otherwise: 1_000,
    what: 'callbacks of agents per address in callback_seconds; 0 switches the limit off',
    env: ['PROVISO_CALLBACK_REQUESTS'],
  },
  'server.callback_seconds': {
    schema: count,
    otherwise: 10,
    what: 'window of callback_requests',
    env: ['PROVISO_CALLBACK_SECONDS'],
  },
  'server.registrations': {
    schema: countOrNone,
    otherwise: 60,
    what: 'registrations of agents per token in registration_seconds; 0 switches the limit off',
    env: ['PROVISO_REGISTRATIONS'],
  },
  'server.registration_seconds': {
    schema: count,
    otherwise: 60,
    what: 'window of registrations',
    env: ['PROVISO_REGISTRATION_SECONDS'],
  },
  'server.tenant_streams': {
    schema: count,
    otherwise: 1_000,
    what: 'open event streams of one tenant',
    env: ['PROVISO_TENANT_STREAMS'],
  },
  'server.max_handling': {
    schema: count,
    otherwise: 16,
    what: 'requests handled at once; the others wait, tenant by tenant',
    env: ['PROVISO_MAX_HANDLING'],
  },
  'server.queue_wait_ms': {
    schema: count,
    otherwise: 1_000,
    what: 'requests that would wait longer for their turn are refused with 429',
    env: ['PROVISO_QUEUE_WAIT_MS'],
  },
  'server.max_lag_ms': {
    schema: countOrNone,
    otherwise: 500,
    what: 'requests are refused with 503 while the event loop lags by more; 0 switches the limit off',
    env: ['PROVISO_MAX_LAG_MS'],
  },
  'quota.stored_chars': {
    schema: count,
    otherwise: null,
    what: 'stored characters of events and values of one tenant (default: no limit)',
    env: ['PROVISO_QUOTA_STORED_CHARS'],
  },
  'quota.daily_tokens': {
    schema: count,
    otherwise: null,
    what: 'tokens of models of one tenant in 24 hours (default: no limit)',
    env: ['PROVISO_QUOTA_DAILY_TOKENS'],
  },
  'quota.daily_usd': {
    schema: { type: 'number', exclusiveMinimum: 0 },
    otherwise: null,
    what: 'spend of one tenant in 24 hours, in US dollars (default: no limit)',
    env: ['PROVISO_QUOTA_DAILY_USD'],
  },
  'retention.keep': {
    schema: age,
    otherwise: null,
    what: 'delete finished runs after this time, such as 12h, 30d or 4w (default: keep them)',
    env: ['PROVISO_RETENTION'],
  },
  'retention.completed': {
    schema: age,
    otherwise: null,
    what: 'the same for completed runs, such as 7d or forever (default: retention.keep)',
    env: ['PROVISO_RETENTION_COMPLETED'],
  },
  'retention.failed': {
    schema: age,
    otherwise: null,
    what: 'the same for failed runs (default: retention.keep)',
    env: ['PROVISO_RETENTION_FAILED'],
  },
  'retention.cancelled': {
    schema: age,
    otherwise: null,
    what: 'the same for cancelled runs (default: retention.keep)',
    env: ['PROVISO_RETENTION_CANCELLED'],
  },
  'retention.tenants': {
    schema: {
      type: 'array',
      items: { type: 'string', pattern: '^.+=\\s*([1-9][0-9]{0,5}[smhdw]|forever)$' },
    },
    otherwise: [],
    what: 'the same for single tenants: acme=90d, or acme.failed=365d for one status',
    env: ['PROVISO_RETENTION_TENANTS'],
  },
  'retention.every_minutes': {
    schema: { type: 'integer', minimum: 1, maximum: 10_080 },
    otherwise: 60,
    what: 'how often old runs are deleted',
    env: ['PROVISO_RETENTION_EVERY_MINUTES'],
  },
  'auth.issuer': {
    schema: text,
    otherwise: null,
    what: 'accept JSON web tokens of this issuer, as in their claim iss (default: none)',
    env: ['PROVISO_AUTH_ISSUER'],
  },
  'auth.audience': {
    schema: texts,
    otherwise: [],
    what: 'the claim aud must have one of these; required with auth.issuer',
    env: ['PROVISO_AUTH_AUDIENCE'],
  },
  'auth.jwks_url': {
    schema: text,
    otherwise: null,
    what: 'the key set of the issuer (default: discovered at the issuer)',
    env: ['PROVISO_AUTH_JWKS_URL'],
  },
  'auth.public_key': {
    schema: text,
    otherwise: null,
    what: 'a public key in PEM, instead of a key set',
    env: ['PROVISO_AUTH_PUBLIC_KEY'],
  },
  'auth.algorithms': {
    schema: texts,
    otherwise: null,
    what: 'accepted algorithms (default: the asymmetric ones; with $PROVISO_AUTH_SECRET: HS256)',
    env: ['PROVISO_AUTH_ALGORITHMS'],
  },
  'auth.roles_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the roles; dots lead into objects (default: roles)',
    env: ['PROVISO_AUTH_ROLES_CLAIM'],
  },
  'auth.roles': {
    schema: { type: 'array', items: { type: 'string', pattern: '^.+=(caller|agent|operator|admin)$' } },
    otherwise: [],
    what: 'which value of that claim has which role: team-leads=operator (default: the names of the roles)',
    env: ['PROVISO_AUTH_ROLES'],
  },
  'auth.tenant_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the tenant; a token without it is refused (default: the tenant "default")',
    env: ['PROVISO_AUTH_TENANT_CLAIM'],
  },
  'auth.task_roles_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the roles of the person for tasks (default: none)',
    env: ['PROVISO_AUTH_TASK_ROLES_CLAIM'],
  },
  'auth.name_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the name of the caller (default: sub)',
    env: ['PROVISO_AUTH_NAME_CLAIM'],
  },
  'auth.clock_tolerance_seconds': {
    schema: { type: 'integer', minimum: 0, maximum: 300 },
    otherwise: 5,
    what: 'accepted difference between the clocks of issuer and server',
    env: ['PROVISO_AUTH_CLOCK_TOLERANCE_SECONDS'],
  },
  'auth.hosts': {
    schema: texts,
    otherwise: [],
    what: 'private hosts, addresses and ranges where the issuer may be reached',
    env: ['PROVISO_AUTH_HOSTS'],
  },
  'auth.client_id': {
    schema: text,
    otherwise: null,
    what: 'offer the sign-in of the issuer in the console, under this client id (default: by token only)',
    env: ['PROVISO_AUTH_CLIENT_ID'],
  },
  'auth.scope': {
    schema: text,
    otherwise: null,
    what: 'what the sign-in asks for (default: openid profile email)',
    env: ['PROVISO_AUTH_SCOPE'],
  },
  'webhooks.urls': {
    schema: { type: 'array', items: { type: 'string', pattern: '^https?://' } },
    otherwise: [],
    what: 'webhooks that get the events of all tenants, signed with $PROVISO_WEBHOOK_SECRET',
    env: ['PROVISO_WEBHOOK_URLS'],
  },
  'webhooks.events': {
    schema: { type: 'array', items: { enum: webhookEvents }, minItems: 1 },
    otherwise: [...webhookEvents],
    what: `events of webhooks.urls: ${webhookEvents.join(', ')}`,
    env: ['PROVISO_WEBHOOK_EVENTS'],
  },
  'webhooks.timeout_ms': {
    schema: count,
    otherwise: 10_000,
    what: 'time for the answer to one webhook, of tenants too',
    env: ['PROVISO_WEBHOOK_TIMEOUT_MS'],
  },
  'webhooks.max_tries': {
    schema: count,
    otherwise: 10,
    what: 'how often a webhook is tried, of tenants too, before it is given up',
    env: ['PROVISO_WEBHOOK_MAX_TRIES'],
  },
  'limits.capabilities': {
    schema: limitEntries,
    otherwise: [],
    what: 'attempts of a capability in the whole fleet: render=4 at once, render=100/1m in a minute; * stands for each without a limit of its own',
    env: ['PROVISO_LIMITS_CAPABILITIES'],
  },
  'limits.tenants': {
    schema: limitEntries,
    otherwise: [],
    what: 'the same for tenants: acme=50, *=20',
    env: ['PROVISO_LIMITS_TENANTS'],
  },
  'limits.models': {
    schema: limitEntries,
    otherwise: [],
    what: 'the same for models, by the first that a capability prefers: openai/gpt-5=500/1m',
    env: ['PROVISO_LIMITS_MODELS'],
  },
  'limits.circuit_failures': {
    schema: countOrNone,
    otherwise: 5,
    what: 'attempts in a row that find a capability or model unavailable or throttled before it is not called for a while; 0 switches this off',
    env: ['PROVISO_LIMITS_CIRCUIT_FAILURES'],
  },
  'limits.circuit_seconds': {
    schema: count,
    otherwise: 10,
    what: 'how long it is not called at first; the pause doubles up to five minutes',
    env: ['PROVISO_LIMITS_CIRCUIT_SECONDS'],
  },
  'threads.when_busy': {
    schema: { enum: ['queue', 'interrupt', 'reject'] },
    otherwise: 'queue',
    what: 'what happens to a message while a run of its thread is not over',
    env: ['PROVISO_THREADS_WHEN_BUSY'],
  },
  'threads.context_tokens': {
    schema: count,
    otherwise: 4_000,
    what: 'budget of the earlier turns that a run of a thread begins with, in tokens',
    env: ['PROVISO_THREADS_CONTEXT_TOKENS'],
  },
  'threads.summary_model': {
    schema: text,
    otherwise: null,
    what: 'model that writes the summary of earlier turns, as provider/model (default: one line for each turn)',
    env: ['PROVISO_THREADS_SUMMARY_MODEL'],
  },
  'queue.mode': {
    schema: { enum: ['local', 'restate'] },
    otherwise: 'local',
    what: 'who brings due runs to workers: local, each polls the store; restate, a Restate server delivers them',
    env: ['PROVISO_QUEUE'],
  },
  'queue.ingress': {
    schema: text,
    otherwise: 'http://127.0.0.1:8080',
    what: 'URL where Restate takes requests',
    env: ['PROVISO_RESTATE_INGRESS'],
  },
  'queue.admin': {
    schema: text,
    otherwise: 'http://127.0.0.1:9070',
    what: 'URL of the admin API of Restate, where workers register',
    env: ['PROVISO_RESTATE_ADMIN'],
  },
  'queue.address': {
    schema: text,
    otherwise: null,
    what: 'URL under which Restate reaches the workers (default: the host and port of the worker)',
    env: ['PROVISO_RESTATE_ADDRESS'],
  },
  'queue.host': {
    schema: text,
    otherwise: '127.0.0.1',
    what: 'address where a worker listens for Restate',
    env: ['PROVISO_RESTATE_HOST'],
  },
  'queue.port': {
    schema: { type: 'integer', minimum: 0, maximum: 65_535 },
    otherwise: 9_080,
    what: 'port where a worker listens for Restate; 0 for a free one',
    env: ['PROVISO_RESTATE_PORT'],
  },
  'queue.identity_keys': {
    schema: texts,
    otherwise: [],
    what: 'public keys of the Restate server, publickeyv1_…; workers refuse requests without its signature',
    env: ['PROVISO_RESTATE_IDENTITY_KEYS'],
  },
  'queue.service': {
    schema: text,
    otherwise: 'proviso-run',
    what: 'name of the Restate service; installations that share a server need different ones',
    env: ['PROVISO_RESTATE_SERVICE'],
  },
  'catalog.presets': {
    schema: texts,
    otherwise: [],
    what: 'facets and capabilities of the package to register: marketing, memory',
    env: ['PROVISO_CATALOG_PRESETS'],
  },
} as const satisfies Record<string, Row>

export type ServerKey = keyof typeof serverTable

export const serverKeys = Object.keys(serverTable) as readonly ServerKey[]

/** Groups the keys by their table in `proviso.toml`. */
function getTables(): Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> {
  const tables: Record<string, Record<string, JsonSchema>> = {}
  for (const key of serverKeys) {
    const [table = '', name = ''] = key.split('.')
    const { schema, what } = serverTable[key]
    tables[table] = { ...tables[table], [name]: { ...schema, description: what } }
  }
  return tables
}

/** The schemas of the tables; an unknown key is an error. */
export function serverSchema(): Readonly<Record<string, JsonSchema>> {
  const { catalog = {}, ...tables } = getTables()
  const schemas = Object.entries(tables).map(([name, properties]) => [name, closed(properties)] as const)
  return { ...Object.fromEntries(schemas), catalog: closed({ use: texts, ...catalog }) }
}

/** Builds the settings from values by dotted name; absent ones get their defaults. */
export function serverSettings(given: Readonly<Partial<Record<ServerKey, Json>>> = {}): ServerSettings {
  const at = <T>(key: ServerKey): T => (given[key] ?? serverTable[key].otherwise) as T
  const model = at<string | null>('planner.model')
  const storedChars = at<number | null>('quota.stored_chars')
  const dailyTokens = at<number | null>('quota.daily_tokens')
  const dailyUsd = at<number | null>('quota.daily_usd')
  const summaryModel = at<string | null>('threads.summary_model')
  return {
    planner: {
      mode:
        at<ServerSettings['planner']['mode'] | null>('planner.mode') ?? (model === null ? 'search' : 'auto'),
      ...(model !== null && { model }),
      timeoutMs: at('planner.timeout_ms'),
      maxCapabilities: at('planner.max_capabilities'),
    },
    server: {
      bodyBytes: at('server.body_bytes'),
      answerBytes: at('server.answer_bytes'),
      rateRequests: at('server.rate_requests'),
      rateSeconds: at('server.rate_seconds'),
      failedTokens: at('server.failed_tokens'),
      failedTokenSeconds: at('server.failed_token_seconds'),
      maxRuns: at('server.max_runs'),
      maxStreams: at('server.max_streams'),
      requestTimeoutMs: at('server.request_timeout_ms'),
      headerTimeoutMs: at('server.header_timeout_ms'),
      callbackRequests: at('server.callback_requests'),
      callbackSeconds: at('server.callback_seconds'),
      registrations: at('server.registrations'),
      registrationSeconds: at('server.registration_seconds'),
      tenantStreams: at('server.tenant_streams'),
      maxHandling: at('server.max_handling'),
      queueWaitMs: at('server.queue_wait_ms'),
      maxLagMs: at('server.max_lag_ms'),
    },
    quota: {
      ...(storedChars !== null && { storedChars }),
      ...(dailyTokens !== null && { dailyTokens }),
      ...(dailyUsd !== null && { dailyUsd }),
    },
    retention: {
      ...ages(at),
      tenants: at('retention.tenants'),
      everyMinutes: at('retention.every_minutes'),
    },
    ...authSettings(at),
    webhooks: {
      urls: at('webhooks.urls'),
      events: at('webhooks.events'),
      timeoutMs: at('webhooks.timeout_ms'),
      maxTries: at('webhooks.max_tries'),
    },
    limits: {
      capabilities: at('limits.capabilities'),
      tenants: at('limits.tenants'),
      models: at('limits.models'),
      circuitFailures: at('limits.circuit_failures'),
      circuitSeconds: at('limits.circuit_seconds'),
    },
    threads: {
      whenBusy: at('threads.when_busy'),
      contextTokens: at('threads.context_tokens'),
      ...(summaryModel !== null && { summaryModel }),
    },
    queue: queueSettings(at),
    presets: at('catalog.presets'),
  }
}

function queueSettings(at: <T>(key: ServerKey) => T): ServerSettings['queue'] {
  const address = at<string | null>('queue.address')
  return {
    mode: at('queue.mode'),
    ingress: at('queue.ingress'),
    admin: at('queue.admin'),
    ...(address !== null && { address }),
    host: at('queue.host'),
    port: at('queue.port'),
    identityKeys: at('queue.identity_keys'),
    service: at('queue.service'),
  }
}

/** The settings of JSON web tokens, if there is an issuer. */
function authSettings(at: <T>(key: ServerKey) => T): Pick<ServerSettings, 'auth'> {
  const issuer = at<string | null>('auth.issuer')
  if (issuer === null) return {}
  const optional = {
    jwksUrl: 'auth.jwks_url',
    publicKey: 'auth.public_key',
    algorithms: 'auth.algorithms',
    rolesClaim: 'auth.roles_claim',
    tenantClaim: 'auth.tenant_claim',
    taskRolesClaim: 'auth.task_roles_claim',
    nameClaim: 'auth.name_claim',
    clientId: 'auth.client_id',
    scope: 'auth.scope',
  } as const
  const given = Object.entries(optional).flatMap(([name, key]) => {
    const value = at<Json>(key)
    return value === null ? [] : [[name, value]]
  })
  return {
    auth: {
      issuer,
      audience: at('auth.audience'),
      roles: at('auth.roles'),
      clockToleranceSeconds: at('auth.clock_tolerance_seconds'),
      allow: at('auth.hosts'),
      ...Object.fromEntries(given),
    },
  }
}

/** The times of the retention that are set. */
function ages(at: <T>(key: ServerKey) => T): Omit<ServerSettings['retention'], 'tenants' | 'everyMinutes'> {
  const names = ['keep', 'completed', 'failed', 'cancelled'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = at<string | null>(`retention.${name}`)
      return value === null ? [] : [[name, value]]
    }),
  )
}
