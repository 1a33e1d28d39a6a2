/** What tests of the server share: a real one on a port of its own, callers with tokens, and streams read by a parser that is not ours. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { AppOptions } from '../../src/index.ts'
import { createServer, createToken, type Server, type ServerOptions } from '../../src/server/index.ts'
import { afterEachTest } from '../cleanup.ts'
import { envelope, local, open, rao, says, text } from '../journeys/support.ts'
import type { Role } from '../seams/domain.ts'
import { createConformance } from './openapi-support.ts'

export { envelope, local, open, rao, says, text }

export const api = '/api/v1/flex'

const servers = new Set<Server>()

afterEachTest(async () => {
  for (const server of servers) await server.close({ graceMs: 0 })
  servers.clear()
})

/** The token that is admin of everything in its tenant. */
export const flexToken = 'flex-token-of-the-tests'

export interface Asked {
  readonly method?: string
  readonly token?: string
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
}

/** The members that tests read, of all answers. */
export interface Body {
  readonly runId: string
  readonly location: string
  readonly status: string | number
  readonly code: string
  readonly detail: string
  readonly issues: readonly { readonly pointer: string; readonly message: string }[]
  readonly runs: readonly { readonly runId: string }[]
  readonly next?: number
  readonly asks: readonly AskBody[]
  readonly events: readonly SseFrame[]
  readonly warnings: readonly unknown[]
  readonly accepted: boolean
  readonly messages: readonly MessageBody[]
  readonly olderMessages?: true
}

export interface MessageBody {
  readonly requestId: string
  readonly body: { readonly [name: string]: unknown }
}

export interface AskBody {
  readonly grants?: readonly string[]
  readonly requestId: string
  readonly runId: string
  readonly valueHash: string
  readonly value: unknown
}

export interface HttpAnswer extends Response {
  json(): Promise<Body>
}

export type Served = Awaited<ReturnType<typeof serve>>

/** An app and a server on it; `call` speaks HTTP to it. */
export async function serve(options: AppOptions = {}, more: ServerOptions = {}) {
  const app = await open(options)
  const server = createServer({ app }, { auth: { token: flexToken }, ...more })
  servers.add(server)
  const address = await server.listen({ port: 0 })
  const conformance = createConformance(server.routes)
  const call = async (path: string, { method, token = flexToken, body, headers = {} }: Asked = {}) => {
    const verb = method ?? (body === undefined ? 'GET' : 'POST')
    const response = await fetch(`${address}${path}`, {
      method: verb,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    // Whatever a test is about, what came back is what the document says.
    const contradiction = await conformance.check(verb, `${address}${path}`, response)
    if (contradiction !== undefined) throw new Error(contradiction)
    return response as HttpAnswer
  }
  const tokenFor = async (role: Role, tenant = 'default', name: string = role) =>
    (await createToken(app.store.records.tokens, { role, tenant, name })).token
  return { app, server, address, call, tokenFor }
}

export interface SseFrame {
  readonly type: string
  readonly id: number
  readonly runId: string
  readonly nodeId?: string
  readonly payload: { readonly [key: string]: unknown }
}

/** Every frame until the stream ends. */
export async function frames(response: Response): Promise<SseFrame[]> {
  const all: SseFrame[] = []
  for await (const frame of readFrames(response)) all.push(frame)
  return all
}

export async function* readFrames(response: Response): AsyncGenerator<SseFrame, void, void> {
  const waiting: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => void waiting.push(event) })
  const decoder = new TextDecoder()
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    for (const { data, event, id } of waiting.splice(0)) {
      const frame: SseFrame = JSON.parse(data)
      if (frame.type !== event || String(frame.id) !== id)
        throw new Error(`A frame contradicts its line: ${data}`)
      yield frame
    }
  }
}

/** One node "write" that says something about tea. */
export const teaDraft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
export const tea = { capabilities: [local('write', () => ({ text: 'Tea' }))] }
export const start = (more: { [name: string]: unknown } = {}, draft: unknown = teaDraft) => ({
  envelope: envelope(more),
  draft,
})
/** Waits for an approval before the end. */
export const approved = { policies: { requiresHitlApproval: true } }
/** Pauses at once until it is resumed. */
export const paused = {
  policies: {
    runtime: [{ id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not yet' } }],
  },
} as const
