/** Entry point `proviso/providers/compatible`: any server with OpenAI's chat format (Ollama, vLLM, SGLang, llama.cpp, OpenRouter). */
import { missingPackage } from '../../base/errors/missing-package.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { secretsIn } from '../../domain/redaction/redact.ts'
import type { AiSdkModel } from './call/as-v3.ts'
import { compatibleEffort } from './call/model-settings.ts'
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
  const servers = new Map<string, (model: string) => AiSdkModel>()
  const serverAt = async (baseURL: string) => {
    const { createOpenAICompatible } = await loadPackage()
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
      fetch: withTextArguments(safeFetch(fetch)),
    })
    if (servers.size < mostServers) servers.set(baseURL, (model) => made.chatModel(model))
    return (model: string) => made.chatModel(model)
  }
  return sdkProvider({
    name,
    dialect: 'openai',
    guides: guided,
    unsure: true,
    files: /^(image\/.+|application\/pdf|audio\/(wav|mpeg|mp3))$/,
    toEffort: compatibleEffort,
    // The package reports the signatures of Gemini under the name of the provider, and reads them as Google's.
    replayed: (metadata) => ({ ...metadata, google: { ...metadata[name], ...metadata['google'] } }),
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...secretsIn(headers)],
    async model(id) {
      const { baseURL = options.baseURL, model } = splitServer(id)
      if (baseURL === undefined) throw new Error(`"${id}" names no server: write URL#model, or give baseURL`)
      if (!URL.canParse(baseURL)) throw new Error(`"${baseURL}" is no address of a server`)
      const { username, password } = new URL(baseURL)
      if (username !== '' || password !== '')
        throw new Error(`"${baseURL}" has a user or a password in it: give apiKey or headers instead`)
      return (await serverAt(baseURL))(model)
    },
    extras: (_request, way) =>
      way?.guided && {
        [name]: { guided_json: way.guided.schema as Json, guided_decoding_backend: way.guided.backend },
      },
  })
}

const mostServers = 64

async function loadPackage(): Promise<typeof import('@ai-sdk/openai-compatible')> {
  try {
    return await import('@ai-sdk/openai-compatible')
  } catch (cause) {
    const name = '@ai-sdk/openai-compatible'
    throw missingPackage({ name, version: '2', purpose: 'call models of a compatible server' }, cause)
  }
}

/** Some servers answer with arguments of tools as objects, and the package takes texts only. */
function withTextArguments(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const { status, statusText, headers } = response
    const hasTools = typeof init?.body === 'string' && init.body.includes('"tools"')
    const type = headers.get('content-type') ?? ''
    if (hasTools && /^text\/event-stream\b/i.test(type) && response.body)
      return new Response(response.body.pipeThrough(textArgumentLines()), { status, statusText, headers })
    if (!hasTools || !/^application\/json\b/i.test(type)) return response
    // An answer that is cut off fails where the package reads it: here it would pass for a call that was not answered.
    const text = await response
      .clone()
      .text()
      .catch(() => '')
    if (!objectArguments.test(text)) return response
    return new Response(toTextArguments(text), { status, statusText, headers })
  }
}

const objectArguments = /"arguments"\s*:\s*\{/

/** The same for the lines of a stream. */
function textArgumentLines(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  return new TransformStream({
    transform(bytes, controller) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) controller.enqueue(encoder.encode(`${lines.map(toTextLine).join('\n')}\n`))
    },
    flush(controller) {
      const last = rest + decoder.decode()
      if (last !== '') controller.enqueue(encoder.encode(toTextLine(last)))
    },
  })
}

function toTextLine(line: string): string {
  const [, head, data] = /^(data:\s*)(.*)$/.exec(line) ?? []
  return data !== undefined && objectArguments.test(data) ? `${head}${toTextArguments(data)}` : line
}

function toTextArguments(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (key, value: Json) =>
      key === 'arguments' && isObject(value) ? JSON.stringify(value) : value,
    )
  } catch {
    return text
  }
}
