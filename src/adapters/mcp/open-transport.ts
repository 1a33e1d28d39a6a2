/** Opens the transport of an MCP server: a process of its own, or streamable HTTP behind the filter of addresses. */
import type { Transport } from '@modelcontextprotocol/client'
import { createParser } from 'eventsource-parser'
import { type AddressFilter, createAddressFilter } from '../net/address-filter.ts'
import type { Sdk, StdioSdk } from './load-sdk.ts'
import type { McpEndpoint, McpProcess, McpServerOptions } from './mcp-options.ts'

export interface OpenTransport {
  readonly transport: Transport
  /** Process id of a server that was started here. */
  readonly pid: () => number | undefined
  /** Releases the connections of an endpoint. */
  readonly release: () => Promise<void>
}

type AllSdk = Sdk & StdioSdk

export function openTransport(sdk: AllSdk, server: McpServerOptions, events: TransportEvents): OpenTransport {
  return 'url' in server ? openEndpoint(sdk, server, events) : openProcess(sdk, server, events)
}

interface TransportEvents {
  readonly onStderr: (text: string) => void
  /**
   * The stream with the answer to the call under this key is over, and cannot be resumed; `tooLong` says that it was ended
   * here.
   */
  readonly onStreamEnd: (idempotencyKey: string, tooLong?: string) => void
  /** A question with this id is in the stream of the call under this key; called before the SDK reads it. */
  readonly onQuestion: (idempotencyKey: string, id: string | number) => void
}

/** Member of `_meta` of a call, by which servers can recognise a repetition. */
export const keyMember = 'proviso/idempotencyKey'

function openProcess(sdk: AllSdk, server: McpProcess, { onStderr }: TransportEvents): OpenTransport {
  const { command, args = [], env = {}, cwd, maxBytes = mostBytes } = server
  const transport = new sdk.StdioClientTransport({
    command,
    args: [...args],
    env: { ...sdk.getDefaultEnvironment(), ...env },
    ...(cwd !== undefined && { cwd }),
    stderr: 'pipe',
    // A result is one message; what is around it is small.
    maxBufferSize: maxBytes * 2 + 65_536,
  })
  transport.stderr?.on('data', (chunk: Buffer) => onStderr(chunk.toString('utf8')))
  return { transport, pid: () => transport.pid ?? undefined, release: async () => {} }
}

function openEndpoint(sdk: AllSdk, server: McpEndpoint, events: TransportEvents): OpenTransport {
  const { url, headers = {}, allow, oauth, authProvider, maxBytes = mostBytes } = server
  // The operator chose the host, so any port is allowed; private addresses only by name.
  const filter = createAddressFilter({ ...(allow && { allow }), ports: 'any' })
  const provider = oauth
    ? new sdk.ClientCredentialsProvider({
        clientId: oauth.clientId,
        clientSecret: oauth.clientSecret,
        expectedIssuer: oauth.issuer,
        ...(oauth.scope !== undefined && { scope: oauth.scope }),
      })
    : authProvider
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: guardedFetch(filter, maxBytes * 2 + 65_536, events),
    requestInit: { headers: { ...headers }, redirect: 'error' },
    // The types of the SDK are not part of the options.
    ...(provider && { authProvider: provider as never }),
    // A lost stream is a failed call here; the engine decides whether it is repeated.
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  })
  return { transport, pid: () => undefined, release: () => filter.close() }
}

const mostBytes = 1_048_576

/** Fetches from allowed addresses only, also for the metadata of OAuth, whose URLs come from the server. */
function guardedFetch(filter: AddressFilter, longest: number, events: TransportEvents) {
  return async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const refused = filter.check(String(input))
    if (refused) throw Object.assign(new Error(refused.message), { code: 'PROVISO_ADDRESS_REFUSED' })
    const { fetch } = await import('undici')
    const dispatcher = await filter.connections()
    const response = (await fetch(input, {
      ...(init as object),
      redirect: 'error',
      dispatcher,
    })) as unknown as Response
    if (response.body === null) return response
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    return through(response, isStream ? watchStream(longest, keyIn(init?.body), events) : countBytes(longest))
  }
}

function through(
  response: Response,
  body: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>,
): Response {
  const { status, statusText, headers } = response
  const made = response.body === null ? null : body(response.body)
  return new Response(made, { status, statusText, headers: [...headers.entries()] })
}

const countBytes = (longest: number) => (body: ReadableStream<Uint8Array>) => {
  let bytes = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > longest) controller.error(new Error(`The answer has more than ${longest} bytes`))
        else controller.enqueue(chunk)
      },
    }),
  )
}

/**
 * Limits the events of a stream, which the SDK keeps until they are complete. Reports the questions in the stream of a call,
 * and that it is over, whether it ended or broke. The SDK resumes streams whose events have ids.
 */
const watchStream =
  (longest: number, key: string | undefined, { onStreamEnd, onQuestion }: TransportEvents) =>
  (body: ReadableStream<Uint8Array>) => {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    const countEvent = createEventCounter()
    let isResumable = false
    const parser = createParser({
      onEvent({ id, data }) {
        isResumable ||= id !== undefined
        const question = questionIn(data)
        if (key !== undefined && question !== undefined) onQuestion(key, question)
      },
    })
    const end = () => {
      if (key !== undefined && !isResumable) onStreamEnd(key)
    }
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) {
            controller.close()
            end()
            return
          }
          if (countEvent(value) > longest) {
            const tooLong = `An event of the stream has more than ${longest} bytes`
            controller.error(new Error(tooLong))
            if (key !== undefined) onStreamEnd(key, tooLong)
            await reader.cancel(tooLong).catch(() => {})
            return
          }
          if (key !== undefined) parser.feed(decoder.decode(value, { stream: true }))
          controller.enqueue(value)
        } catch (cause) {
          controller.error(cause)
          end()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }

const lineFeed = 10
const carriageReturn = 13

/** Returns the most bytes that an event has so far in a chunk. A blank line ends an event; lines end with CR, LF or both. */
function createEventCounter(): (chunk: Uint8Array) => number {
  let bytes = 0
  let line = 0
  let isAfterReturn = false
  return (chunk) => {
    let most = 0
    for (const byte of chunk) {
      bytes++
      if (byte !== lineFeed && byte !== carriageReturn) line++
      else if (!(byte === lineFeed && isAfterReturn)) {
        if (line === 0) {
          most = Math.max(most, bytes)
          bytes = 0
        }
        line = 0
      }
      isAfterReturn = byte === carriageReturn
    }
    return Math.max(most, bytes)
  }
}

/** Id of the question in an event. Escapes can hide the method from a search in the text, so every event is parsed. */
function questionIn(data: string): string | number | undefined {
  try {
    const { method, id } = JSON.parse(data) as { readonly method?: unknown; readonly id?: unknown }
    return method === 'elicitation/create' && (typeof id === 'string' || typeof id === 'number')
      ? id
      : undefined
  } catch {
    // The SDK reports what is not JSON.
    return undefined
  }
}

function keyIn(body: unknown): string | undefined {
  if (typeof body !== 'string' || !body.includes(keyMember)) return undefined
  const { params } = JSON.parse(body) as {
    readonly params?: { readonly _meta?: { readonly [name: string]: unknown } }
  }
  const key = params?._meta?.[keyMember]
  return typeof key === 'string' ? key : undefined
}
