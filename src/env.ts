/** The one file of the library that reads the environment: keys of providers, the choice of models (FLEX-108), and where a server listens. Domain code reads none (C52). */

export interface EnvConfig {
  readonly openaiApiKey?: string
  readonly openaiBaseUrl?: string
  readonly anthropicApiKey?: string
  readonly googleApiKey?: string
  /** A server that speaks OpenAI's format. */
  readonly compatibleBaseUrl?: string
  readonly compatibleApiKey?: string
  /** For capabilities that prefer no model. */
  readonly defaultModel?: string
  /** The token of a server with one user, who may do everything (FLEX-93). */
  readonly flexToken?: string
  /** Where a server listens. */
  readonly host?: string
  readonly port?: string
  /** Origins whose pages may call a server, separated by commas. */
  readonly cors?: string
  /** `1`: keep a ledger of corrections in the store (AROS-66). */
  readonly ledger?: string
}

/** For each setting the variables that give it; the first that is set and not empty counts. */
export const envNames = {
  openaiApiKey: ['FLEX_OPENAI_API_KEY', 'OPENAI_API_KEY'],
  openaiBaseUrl: ['OPENAI_BASE_URL'],
  anthropicApiKey: ['ANTHROPIC_API_KEY'],
  googleApiKey: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  compatibleBaseUrl: ['PROVISO_COMPATIBLE_BASE_URL'],
  compatibleApiKey: ['PROVISO_COMPATIBLE_API_KEY'],
  defaultModel: ['FLEX_OPENAI_DEFAULT_MODEL', 'OPENAI_DEFAULT_MODEL', 'OPENAI_MODEL'],
  flexToken: ['FLEX_TOKEN'],
  host: ['PROVISO_HOST'],
  port: ['PROVISO_PORT', 'PORT'],
  cors: ['PROVISO_CORS'],
  ledger: ['PROVISO_LEDGER'],
} as const satisfies Record<keyof EnvConfig, readonly string[]>

/**
 * @example
 * readEnv({ OPENAI_MODEL: 'gpt-4o', FLEX_OPENAI_DEFAULT_MODEL: 'gpt-5' }).defaultModel // 'gpt-5'
 */
export function readEnv(env: Readonly<Record<string, string | undefined>> = process.env): EnvConfig {
  const found = Object.entries(envNames).flatMap(([setting, names]) => {
    const value = names.map((name) => env[name]?.trim()).find((text) => text !== undefined && text !== '')
    return value === undefined ? [] : [[setting, value] as const]
  })
  return Object.fromEntries(found)
}
