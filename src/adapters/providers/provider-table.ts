/** The providers of models, one row each: its environment variables, its default model, and the module that is loaded with its first call. */
import type { Provider } from '../../domain/ports/provider.ts'

/** What the environment has for a provider. */
interface ProviderAccess {
  readonly apiKey: string
  readonly baseURL?: string
}

interface ProviderRow {
  /** Variables of the API key; the first that is set counts. The setting is `NAMEApiKey` and redacted everywhere. */
  readonly apiKey: readonly string[]
  /** Variables of the server address, where it can be changed. The setting is `NAMEBaseUrl`. */
  readonly baseUrl?: readonly string[]
  /** Name for people. */
  readonly title: string
  /** Model of a server that has this key and no other choice. Absent: chosen by name only. */
  readonly defaultModel?: string
  /** The optional package that calls it, with the version to install. */
  readonly package?: string
  /** Works without a key: model ids can name their server. */
  readonly isKeyless?: true
  load(access: ProviderAccess | Partial<ProviderAccess>): Promise<Provider>
}

/** By the part of a model id before the slash. The first provider with a key gives the default model. */
export const providerTable = {
  openai: {
    apiKey: ['FLEX_OPENAI_API_KEY', 'OPENAI_API_KEY'],
    baseUrl: ['OPENAI_BASE_URL'],
    title: 'OpenAI',
    defaultModel: 'openai/gpt-5-mini',
    package: '@ai-sdk/openai@3',
    load: async (access: ProviderAccess) => (await import('./openai.ts')).openai(access),
  },
  anthropic: {
    apiKey: ['ANTHROPIC_API_KEY'],
    title: 'Anthropic',
    defaultModel: 'anthropic/claude-haiku-4-5',
    package: '@ai-sdk/anthropic@3',
    load: async (access: ProviderAccess) => (await import('./anthropic.ts')).anthropic(access),
  },
  google: {
    apiKey: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    title: 'Google',
    defaultModel: 'google/gemini-2.5-flash',
    package: '@ai-sdk/google@3',
    load: async (access: ProviderAccess) => (await import('./google.ts')).google(access),
  },
  compatible: {
    apiKey: ['PROVISO_COMPATIBLE_API_KEY'],
    baseUrl: ['PROVISO_COMPATIBLE_BASE_URL'],
    title: 'a compatible server',
    package: '@ai-sdk/openai-compatible@2',
    isKeyless: true,
    load: async (access: Partial<ProviderAccess>) => (await import('./compatible.ts')).compatible(access),
  },
} as const satisfies { readonly [name: string]: ProviderRow }

type Table = typeof providerTable
type WithBaseUrl = {
  [N in keyof Table]: Table[N] extends { readonly baseUrl: unknown } ? N : never
}[keyof Table]
type KeyNames = `${keyof Table}ApiKey` | `${WithBaseUrl}BaseUrl`

/** Keys and addresses of providers, by setting: `openaiApiKey`, `openaiBaseUrl`, … */
export type Keys = { readonly [name in KeyNames]?: string }

/** The rows by name; the type of the table itself is as narrow as its values. */
export const providerRows: readonly (readonly [name: string, row: ProviderRow])[] =
  Object.entries(providerTable)

/** The environment variables of every setting in `Keys`. */
export const keyVariables = Object.fromEntries(
  providerRows.flatMap(([name, { apiKey, baseUrl }]) => [
    [`${name}ApiKey`, apiKey],
    ...(baseUrl ? [[`${name}BaseUrl`, baseUrl]] : []),
  ]),
) as { readonly [name in KeyNames]: readonly string[] }

/** Returns the providers for which the environment has a key or an address, each loaded with its first call. */
export function providersFromKeys(keys: Keys): readonly Provider[] {
  const settings = keys as { readonly [setting: string]: string | undefined }
  return providerRows.flatMap(([name, { isKeyless = false, load }]) => {
    const apiKey = settings[`${name}ApiKey`]
    const baseURL = settings[`${name}BaseUrl`]
    if (apiKey === undefined && !isKeyless) return []
    const access = { ...(apiKey !== undefined && { apiKey }), ...(baseURL !== undefined && { baseURL }) }
    return [loadOnDemand({ name, secrets: apiKey === undefined ? [] : [apiKey], load: () => load(access) })]
  })
}

/** A provider whose package is loaded with its first call, so that an app starts without those it does not use. */
interface OnDemand {
  readonly name: string
  readonly secrets: readonly string[]
  readonly load: () => Promise<Provider>
}

function loadOnDemand({ name, secrets, load }: OnDemand): Provider {
  let loading: Promise<Provider> | undefined
  return {
    name,
    tools: true,
    secrets: () => secrets,
    async structured(request) {
      loading ??= load()
      return (await loading).structured?.(request) ?? { kind: 'skipped', reason: `${name} has no JSON mode` }
    },
    async takesFile(file) {
      loading ??= load()
      return (await loading).takesFile?.(file) ?? false
    },
    async generate(request) {
      loading ??= load()
      return (await loading).generate(request)
    },
  }
}
