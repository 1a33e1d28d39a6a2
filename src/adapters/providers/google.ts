/** Entry point `proviso/providers/google`: Gemini models through the Generative Language API. */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import type { Provider } from '../../domain/ports/provider.ts'
import { safeFetch } from './call/safe-fetch.ts'
import { sdkProvider } from './call/sdk-provider.ts'

export interface GoogleOptions {
  readonly apiKey: string
  /** Default: Google's own. */
  readonly baseURL?: string
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

export function google({ apiKey, fetch, ...rest }: GoogleOptions): Provider {
  const make = createGoogleGenerativeAI({ apiKey, ...rest, fetch: safeFetch(fetch) })
  return sdkProvider({ name: 'google', dialect: 'google', secrets: [apiKey], model: (id) => make(id) })
}
