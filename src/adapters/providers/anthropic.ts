/** Entry point `proviso/providers/anthropic`: Claude models through the Messages API. */
import { missingPackage } from '../../base/errors/missing-package.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { anthropicEffort } from './call/model-settings.ts'
import { safeFetch } from './call/safe-fetch.ts'
import { sdkProvider } from './call/sdk-provider.ts'

export interface AnthropicOptions {
  readonly apiKey: string
  /** Default: Anthropic's own. */
  readonly baseURL?: string
  /** Mark what turns of an agent send again as worth caching. Default true. */
  readonly cache?: boolean
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/** What Anthropic writes around a tool itself, at most. */
const toolWords = 800

/** Where a model has no structured output, the package asks for a tool call instead; its arguments are the answer. */
export function anthropic({ apiKey, fetch, cache = true, ...rest }: AnthropicOptions): Provider {
  const settings = { apiKey, ...rest, fetch: safeFetch(fetch) }
  return sdkProvider({
    name: 'anthropic',
    dialect: 'anthropic',
    files: /^(image\/(png|jpeg|gif|webp)|application\/pdf|text\/plain)$/,
    jsonObject: false,
    overhead: toolWords,
    toEffort: anthropicEffort,
    ...(cache && { cacheHints: { anthropic: { cacheControl: { type: 'ephemeral' } } } }),
    secrets: [apiKey],
    model: async (id) => (await loadPackage()).createAnthropic(settings)(id),
  })
}

async function loadPackage(): Promise<typeof import('@ai-sdk/anthropic')> {
  try {
    return await import('@ai-sdk/anthropic')
  } catch (cause) {
    throw missingPackage(
      { name: '@ai-sdk/anthropic', version: '3', purpose: 'call models of Anthropic' },
      cause,
    )
  }
}
