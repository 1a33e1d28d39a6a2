/** Sends requests with the token, repeats requests that may succeed later, and reads JSON. Uses `fetch` and nothing else. */
import { ClientError, toClientError } from './client-error.ts'
import { type RetryOptions, toUnreachable, withRetries } from './retry.ts'

export interface ClientOptions {
  /**
   * Address of the server, such as `http://127.0.0.1:3003`; with a path if it is mounted below one. In a browser, a path alone
   * (`/`) means the server that the page comes from.
   */
  readonly url: string
  /** The token, or a function that is called for every request. Not needed in development mode. */
  readonly token?: string | (() => string | Promise<string>)
  /** Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** How requests and streams are repeated. */
  readonly retry?: RetryOptions
  /** A stream that is silent for so many milliseconds is opened again. The server sends a ping every 15 s. Default 45,000. */
  readonly idleMs?: number
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly query?: { readonly [name: string]: unknown }
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal | undefined
}

export interface Transport {
  readonly retry: RetryOptions
  readonly idleMs: number
  /** Sends a request once. Resolves to a response without an error status, else rejects with a `ClientError`. */
  send(path: string, options?: RequestOptions): Promise<Response>
  /** Sends a request, repeats it where that may help, and reads its JSON. The route decides the type. */
  json<T>(path: string, options?: RequestOptions): Promise<T>
}

/** Prefix of every route. */
export const api = '/api/v1/flex'

export function createTransport(options: ClientOptions): Transport {
  const { token, retry = {}, idleMs = 45_000 } = options
  const base = options.url.replace(/\/+$/, '')
  // A function of its own: browsers refuse `fetch` that is called as a method of something else.
  const send = options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init))
  const once: Transport['send'] = async (path, { method = 'GET', query, body, headers, signal } = {}) => {
    const url = `${base}${path}${toSearch(query)}`
    const bearer = typeof token === 'function' ? await token() : token
    const init: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }
    const response = await send(url, init).catch((cause) => {
      throw toUnreachable(cause, base, signal)
    })
    if (!response.ok) throw await toClientError(response)
    return response
  }
  return {
    retry,
    idleMs,
    send: once,
    json: <T>(path: string, given: RequestOptions = {}) =>
      withRetries(async () => readJson<T>(await once(path, given), base, given.signal), {
        retry,
        signal: given.signal,
      }),
  }
}

/** Reads a body of JSON. A body that is cut off counts as a connection that failed. */
async function readJson<T>(response: Response, base: string, signal: AbortSignal | undefined): Promise<T> {
  const text = await response.text().catch((cause) => {
    throw toUnreachable(cause, base, signal)
  })
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ClientError('client/unexpected-response', 'The response is not JSON', {
      status: response.status,
      hint: 'Check that `url` is the address of a Proviso server',
      cause,
    })
  }
}

function toSearch(query: RequestOptions['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) search.append(name, String(each))
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** Creates an idempotency key. `randomUUID` is missing on pages without TLS. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
