import { expect } from 'vitest'
import type { Recipe } from './scratch.ts'

/** A provider whose servers speak OpenAI's format. */
export const provider: Recipe = {
  title: 'Add a provider',
  apply({ create, insertAfter }) {
    create(
      'src/adapters/providers/acme.ts',
      `/** Models of Acme. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Provider } from '../../domain/ports/provider.ts'
import { safeFetch } from './call/safe-fetch.ts'
import { sdkProvider } from './call/sdk-provider.ts'

export interface AcmeOptions {
  readonly apiKey: string
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

export function acme({ apiKey, fetch }: AcmeOptions): Provider {
  const baseURL = 'https://api.acme.example/v1'
  const make = createOpenAICompatible({ name: 'acme', baseURL, apiKey, fetch: safeFetch(fetch) })
  return sdkProvider({ name: 'acme', dialect: 'openai', secrets: [apiKey], model: (id) => make.chatModel(id) })
}
`,
    )
    insertAfter(
      'src/adapters/providers/provider-table.ts',
      'export const providerTable = {\n',
      `  acme: {
    apiKey: ['ACME_API_KEY'],
    title: 'Acme',
    load: async (access: ProviderAccess) => (await import('./acme.ts')).acme(access),
  },
`,
    )
  },
  entries: ['src/adapters/providers/acme.ts', 'src/adapters/providers/provider-table.ts', 'src/env.ts'],
  async check({ import: load }) {
    const { readEnv } = await load<typeof import('../../src/env.ts')>('src/env.ts')
    const { providersFromKeys } = await load<typeof import('../../src/adapters/providers/provider-table.ts')>(
      'src/adapters/providers/provider-table.ts',
    )
    expect(providersFromKeys(readEnv({ ACME_API_KEY: 'k' })).map(({ name }) => name)).toContain('acme')
    const { acme } = await load<{
      acme(options: object): import('../../src/domain/ports/provider.ts').Provider
    }>('src/adapters/providers/acme.ts')
    const message = { role: 'assistant', content: '{"a":1}' }
    const reply = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: {} }
    const fetch = async () => Response.json(reply)
    const answer = await acme({ apiKey: 'k', fetch }).generate({
      model: 'small',
      system: 'Answer in JSON',
      prompt: 'One',
      signal: new AbortController().signal,
    } as never)
    expect(answer).toMatchObject({ text: '{"a":1}' })
  },
}
