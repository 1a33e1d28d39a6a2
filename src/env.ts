/** Reads the environment, in this file only (C52): keys of providers, the choice of models (FLEX-108), timing of the catalog, settings of a server. */
import { type Keys, keyVariables } from './adapters/providers/provider-table.ts'

export interface EnvConfig extends Keys {
  /** Model of capabilities without a preferred model. */
  readonly defaultModel?: string
  /** Public URL of the server: agents call back there. */
  readonly publicUrl?: string
  /** Private hosts, addresses and ranges where agents may be called, separated by commas. */
  readonly agentHosts?: string
  /** Milliseconds after which registered capabilities are read from the store again (FLEX-94). */
  readonly capabilityCacheTtlMs?: string
  /** Milliseconds after which this process renews its own capabilities (FLEX-95; the second name is the older one, C34). */
  readonly capabilityRefreshMs?: string
  /** Milliseconds until an open ask counts as rejected. */
  readonly askMs?: string
  /** Lease duration in milliseconds: after that, another process claims the runs of a dead one. */
  readonly leaseMs?: string
  /** The token of a server with one user, who may do everything (FLEX-93). */
  readonly flexToken?: string
  /** Host and port where a server listens. */
  readonly host?: string
  readonly port?: string
  /** Origins whose pages may call a server, separated by commas. */
  readonly cors?: string
  /** Every key that is set, even if another one takes precedence: all are redacted. */
  readonly secrets?: readonly string[]
  /** Encryption key for the secrets of agents in the store: 32 bytes as hex or base64, the same in every process. */
  readonly secretKey?: string
  /** Earlier keys, separated by commas, used for decryption only. */
  readonly previousSecretKeys?: string
  /** Verifies JSON web tokens that are signed with a shared secret. */
  readonly authSecret?: string
  /** The client secret of the console at the identity provider. */
  readonly authClientSecret?: string
  /** Signs the webhooks of the settings. */
  readonly webhookSecret?: string
  /** Sent to Restate as a bearer token. */
  readonly restateToken?: string
  /** The level of a server's log lines. */
  readonly log?: string
  /** `aros.telemetry.verbose` (FSD-32): trace events of model calls as log lines, too. */
  readonly telemetryVerbose?: string
  /** Record the text of prompts and answers in spans. */
  readonly captureContent?: string
  /** The developer's sandbox (FLEX-104), and where its templates are. */
  readonly sandbox?: string
  readonly sandboxTemplateDir?: string
  /** The dialog of the console that builds an envelope from a short brief (FLEX-110). */
  readonly createPost?: string
  /** `1`: keep a ledger of corrections in the store (AROS-66). */
  readonly ledger?: string
}

/** The variables of each setting; the first one that is set and not empty counts. */
export const envNames = {
  ...keyVariables,
  defaultModel: ['FLEX_OPENAI_DEFAULT_MODEL', 'OPENAI_DEFAULT_MODEL', 'OPENAI_MODEL'],
  publicUrl: ['PROVISO_PUBLIC_URL'],
  agentHosts: ['PROVISO_AGENT_HOSTS'],
  capabilityCacheTtlMs: ['FLEX_CAPABILITY_CACHE_TTL_MS'],
  capabilityRefreshMs: ['FLEX_CAPABILITY_SELF_REGISTER_REFRESH_MS', 'FLEX_CAPABILITY_REFRESH_INTERVAL_MS'],
  askMs: ['PROVISO_ASK_MS'],
  leaseMs: ['PROVISO_LEASE_MS'],
  flexToken: ['FLEX_TOKEN'],
  secretKey: ['PROVISO_SECRET_KEY'],
  previousSecretKeys: ['PROVISO_SECRET_KEY_PREVIOUS'],
  authSecret: ['PROVISO_AUTH_SECRET'],
  authClientSecret: ['PROVISO_AUTH_CLIENT_SECRET'],
  webhookSecret: ['PROVISO_WEBHOOK_SECRET'],
  restateToken: ['PROVISO_RESTATE_TOKEN'],
  host: ['PROVISO_HOST'],
  port: ['PROVISO_PORT', 'PORT'],
  cors: ['PROVISO_CORS'],
  log: ['PROVISO_LOG'],
  telemetryVerbose: ['PROVISO_TELEMETRY_VERBOSE'],
  captureContent: ['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'],
  sandbox: ['USE_FLEX_DEV_SANDBOX', 'VITE_USE_FLEX_DEV_SANDBOX'],
  sandboxTemplateDir: ['FLEX_SANDBOX_TEMPLATE_DIR'],
  createPost: ['USE_FLEX_AGENTS_POPUP', 'VITE_USE_FLEX_AGENTS_POPUP'],
  ledger: ['PROVISO_LEDGER'],
} as const satisfies Record<Exclude<keyof EnvConfig, 'secrets'>, readonly string[]>

/** Splits a list at its commas. */
export function commaList(text = ''): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/**
 * @example
 * readEnv({ OPENAI_MODEL: 'gpt-4o', FLEX_OPENAI_DEFAULT_MODEL: 'gpt-5' }).defaultModel // 'gpt-5'
 */
export function readEnv(env: Readonly<Record<string, string | undefined>> = process.env): EnvConfig {
  const found = Object.entries(envNames).flatMap(([setting, names]) => {
    const value = names.map((name) => env[name]?.trim()).find((text) => text !== undefined && text !== '')
    return value === undefined ? [] : [[setting, value] as const]
  })
  const secrets = [
    ...Object.entries(envNames)
      .filter(([setting]) =>
        /ApiKey$|^(secretKey|webhookSecret|authSecret|authClientSecret|restateToken)$/.test(setting),
      )
      .flatMap(([, names]) => names.flatMap((name) => env[name]?.trim() || [])),
    ...envNames.previousSecretKeys.flatMap((name) => commaList(env[name])),
  ]
  return { ...Object.fromEntries(found), ...(secrets.length > 0 && { secrets }) }
}
