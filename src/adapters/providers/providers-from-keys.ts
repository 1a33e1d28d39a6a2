/** The providers for which there is a key or an address, each loaded with its first call. */
import type { Provider } from '../../domain/ports/provider.ts'

export interface Keys {
  readonly openaiApiKey?: string
  readonly openaiBaseUrl?: string
  readonly anthropicApiKey?: string
  readonly googleApiKey?: string
  readonly compatibleBaseUrl?: string
  readonly compatibleApiKey?: string
}

/** `compatible` is always there: model ids can name their server, and local ones need no key. */
export function providersFromKeys(keys: Keys): readonly Provider[] {
  const { openaiApiKey, openaiBaseUrl, anthropicApiKey, googleApiKey } = keys
  const { compatibleBaseUrl, compatibleApiKey } = keys
  const providers: Provider[] = []
  if (openaiApiKey !== undefined)
    providers.push(
      onDemand({
        name: 'openai',
        secrets: [openaiApiKey],
        load: async () =>
          (await import('./openai.ts')).openai({
            apiKey: openaiApiKey,
            ...(openaiBaseUrl !== undefined && { baseURL: openaiBaseUrl }),
          }),
      }),
    )
  if (anthropicApiKey !== undefined)
    providers.push(
      onDemand({
        name: 'anthropic',
        secrets: [anthropicApiKey],
        load: async () => (await import('./anthropic.ts')).anthropic({ apiKey: anthropicApiKey }),
      }),
    )
  if (googleApiKey !== undefined)
    providers.push(
      onDemand({
        name: 'google',
        secrets: [googleApiKey],
        load: async () => (await import('./google.ts')).google({ apiKey: googleApiKey }),
      }),
    )
  providers.push(
    onDemand({
      name: 'compatible',
      secrets: compatibleApiKey === undefined ? [] : [compatibleApiKey],
      load: async () =>
        (await import('./compatible.ts')).compatible({
          ...(compatibleBaseUrl !== undefined && { baseURL: compatibleBaseUrl }),
          ...(compatibleApiKey !== undefined && { apiKey: compatibleApiKey }),
        }),
    }),
  )
  return providers
}

/** A provider whose package is loaded with its first call, so that an app starts without those it does not use. */
interface OnDemand {
  readonly name: string
  readonly secrets: readonly string[]
  readonly load: () => Promise<Provider>
}

function onDemand({ name, secrets, load }: OnDemand): Provider {
  let loading: Promise<Provider> | undefined
  return {
    name,
    secrets: () => secrets,
    async structured(request) {
      loading ??= load()
      return (await loading).structured?.(request) ?? { kind: 'skipped', reason: `${name} has no JSON mode` }
    },
    async generate(request) {
      loading ??= load()
      return (await loading).generate(request)
    },
  }
}
