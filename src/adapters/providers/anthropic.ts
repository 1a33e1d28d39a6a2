/** Entry point `proviso/providers/anthropic`: Claude models through the Messages API. */
import { createAnthropic } from '@ai-sdk/anthropic'
import type { Provider } from '../../domain/ports/provider.ts'
import { safeFetch } from './call/safe-fetch.ts'
import { sdkProvider } from './call/sdk-provider.ts'

export interface AnthropicOptions {
  readonly apiKey: string
  /** Default: Anthropic's own. */
  readonly baseURL?: string
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/** What Anthropic writes around a tool itself, at most. */
const toolWords = 800

/** Where a model has no structured output, the package asks for a tool call instead; its arguments are the answer. */
export function anthropic({ apiKey, fetch, ...rest }: AnthropicOptions): Provider {
  const make = createAnthropic({ apiKey, ...rest, fetch: safeFetch(fetch) })
  return sdkProvider({
    name: 'anthropic',
    dialect: 'anthropic',
    jsonObject: false,
    overhead: toolWords,
    secrets: [apiKey],
    model: (id) => make(id),
  })
}
