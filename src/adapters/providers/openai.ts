/** Entry point `proviso/providers/openai`: OpenAI's models through the Responses API, or chat completions. */
import { createOpenAI } from '@ai-sdk/openai'
import type { Provider } from '../../domain/ports/provider.ts'
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
  const make = createOpenAI({ apiKey, ...rest, fetch: safeFetch(fetch) })
  return sdkProvider({
    name: 'openai',
    dialect: 'openai',
    secrets: [apiKey],
    model: (id) => (api === 'chat' ? make.chat(id) : make.responses(id)),
    // Nothing of a run is kept at the provider's side.
    extras: () => ({ openai: { strictJsonSchema: true, ...(api === 'responses' && { store: false }) } }),
  })
}
