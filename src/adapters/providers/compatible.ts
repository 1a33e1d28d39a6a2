/** Entry point `proviso/providers/compatible`: any server with OpenAI's chat format (Ollama, vLLM, SGLang, llama.cpp, OpenRouter). */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3 } from '@ai-sdk/provider'
import type { Provider } from '../../domain/ports/provider.ts'
import { secretsIn } from '../../domain/redaction/redact.ts'
import { safeFetch } from './call/safe-fetch.ts'
import { sdkProvider, splitServer } from './call/sdk-provider.ts'

export interface CompatibleOptions {
  /** The part of a model's name before the slash. Default `compatible`. */
  readonly name?: string
  /** Where the server is, such as `http://127.0.0.1:11434/v1`; model ids of the form `URL#model` name their own. */
  readonly baseURL?: string
  readonly apiKey?: string
  /** Further headers, such as OpenRouter's. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether to request `outlines` and `xgrammar` (vLLM's `guided_json`). Default true: falls back if the server refuses. */
  readonly guided?: boolean
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * @example
 * compatible({ baseURL: 'http://127.0.0.1:11434/v1' }) // models: compatible/llama3.2
 */
export function compatible(options: CompatibleOptions = {}): Provider {
  const { name = 'compatible', apiKey, headers, guided = true, fetch } = options
  const servers = new Map<string, (model: string) => LanguageModelV3>()
  const serverAt = (baseURL: string) => {
    const known = servers.get(baseURL)
    if (known) return known
    const made = createOpenAICompatible({
      name,
      baseURL,
      includeUsage: true,
      supportsStructuredOutputs: true,
      // Keys go to the server they were given for; one that a model id names gets none.
      ...(baseURL === options.baseURL && apiKey !== undefined && { apiKey }),
      ...(baseURL === options.baseURL && headers && { headers: { ...headers } }),
      fetch: safeFetch(fetch),
    })
    if (servers.size < mostServers) servers.set(baseURL, (model) => made.chatModel(model))
    return (model: string) => made.chatModel(model)
  }
  return sdkProvider({
    name,
    dialect: 'openai',
    guides: guided,
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...secretsIn(headers)],
    model(id) {
      const { baseURL = options.baseURL, model } = splitServer(id)
      if (baseURL === undefined) throw new Error(`"${id}" names no server: write URL#model, or give baseURL`)
      if (!URL.canParse(baseURL)) throw new Error(`"${baseURL}" is no address of a server`)
      const { username, password } = new URL(baseURL)
      if (username !== '' || password !== '')
        throw new Error(`"${baseURL}" has a user or a password in it: give apiKey or headers instead`)
      return serverAt(baseURL)(model)
    },
    extras: (_request, way) =>
      way?.guided && {
        [name]: {
          // The schema is already JSON; the package's type needs the cast.
          guided_json: way.guided.schema as never,
          guided_decoding_backend: way.guided.backend,
        },
      },
  })
}

const mostServers = 64
