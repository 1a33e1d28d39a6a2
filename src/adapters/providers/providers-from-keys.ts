/** The providers for which there is a key or an address, each loaded with its first call. */
import type { Provider } from '../../domain/ports/provider.ts'
import { onDemand } from './on-demand.ts'

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
