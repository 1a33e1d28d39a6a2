/** Entry point `proviso/providers/google`: Gemini models through the Generative Language API. */
import { missingPackage } from '../../base/errors/missing-package.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { googleEffort } from './call/model-settings.ts'
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
  const settings = { apiKey, ...rest, fetch: safeFetch(fetch) }
  return sdkProvider({
    name: 'google',
    dialect: 'google',
    files: /^(image\/.+|audio\/.+|video\/.+|application\/pdf|text\/plain)$/,
    toEffort: googleEffort,
    secrets: [apiKey],
    model: async (id) => (await loadPackage()).createGoogleGenerativeAI(settings)(id),
  })
}

async function loadPackage(): Promise<typeof import('@ai-sdk/google')> {
  try {
    return await import('@ai-sdk/google')
  } catch (cause) {
    throw missingPackage({ name: '@ai-sdk/google', version: '3', purpose: 'call models of Google' }, cause)
  }
}
