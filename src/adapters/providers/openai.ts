/** Entry point `proviso/providers/openai`: OpenAI's models through the Responses API, or chat completions. */
import { missingPackage } from '../../base/errors/missing-package.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { openaiEffort } from './call/model-settings.ts'
import { safeFetch } from './call/safe-fetch.ts'
import { sdkProvider } from './call/sdk-provider.ts'

export interface OpenAiOptions {
  readonly apiKey: string
  /** Default: OpenAI's own. */
  readonly baseURL?: string
  /** Default `responses`. */
  readonly api?: 'responses' | 'chat'
  readonly organization?: string
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * @example
 * const app = await createApp({ providers: [openai({ apiKey })], defaultModel: 'openai/gpt-5-mini' })
 */
export function openai({ apiKey, api = 'responses', fetch, ...rest }: OpenAiOptions): Provider {
  const settings = { apiKey, ...rest, fetch: safeFetch(fetch) }
  return sdkProvider({
    name: 'openai',
    dialect: 'openai',
    formatWithTools: true,
    files:
      api === 'chat'
        ? /^(image\/.+|application\/pdf|audio\/(wav|mpeg|mp3))$/
        : /^(image\/.+|application\/pdf)$/,
    toEffort: openaiEffort,
    secrets: [apiKey],
    async model(id) {
      const make = (await loadPackage()).createOpenAI(settings)
      return api === 'chat' ? make.chat(id) : make.responses(id)
    },
    // Nothing of a run is kept at the provider's side.
    extras: () => ({ openai: { strictJsonSchema: true, ...(api === 'responses' && { store: false }) } }),
  })
}

async function loadPackage(): Promise<typeof import('@ai-sdk/openai')> {
  try {
    return await import('@ai-sdk/openai')
  } catch (cause) {
    throw missingPackage({ name: '@ai-sdk/openai', version: '3', purpose: 'call models of OpenAI' }, cause)
  }
}
