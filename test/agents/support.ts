/** What the tests of agents share: a server that takes agents of this machine, and agents that really listen. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AppOptions } from '../../src/index.ts'
import { createToken, type ServerOptions } from '../../src/server/index.ts'
import { afterEachTest } from '../cleanup.ts'
import { signatureHeaders, verify } from '../seams/agents.ts'
import { api, serve } from '../server/support.ts'

export { api }

const listening = new Set<Server>()
afterEachTest(async () => {
  for (const server of listening) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  listening.clear()
})

/** Listens on a free port of this machine until the test is over. */
export async function listen(onRequest: RequestListener, host = '127.0.0.1') {
  const server = createServer(onRequest)
  listening.add(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return { server, port, url: `http://${host.includes(':') ? `[${host}]` : host}:${port}` }
}

/** A server whose agents live on this machine, and how agents come to it. */
export async function serveAgents(options: AppOptions = {}, more: ServerOptions = {}) {
  let address: string | undefined
  const http = { allowLoopback: true, callbackUrl: () => address, ...options.http }
  const served = await serve({ ...options, http }, more)
  address = served.address
  const agentToken = async (capabilityId?: string, tenant = 'default') => {
    const bound = capabilityId === undefined ? {} : { capabilityId }
    const { token } = await createToken(served.app.store.records.tokens, {
      tenant,
      role: 'agent',
      name: 'agent',
      ...bound,
    })
    return token
  }
  const register = async (body: object, token: string): Promise<Registered> => {
    const response = await served.call(`${api}/capabilities/register`, { body, token })
    return { status: response.status, ...((await response.json()) as object) } as Registered
  }
  return { ...served, agentToken, register }
}

export interface Registered {
  readonly status: number
  readonly signingKey?: string
  readonly heartbeat: { readonly intervalSeconds: number; readonly timeoutSeconds: number }
  readonly code?: string
  readonly issues?: readonly { readonly pointer: string; readonly message: string; readonly hint?: string }[]
  readonly [name: string]: unknown
}

/** What an agent that writes copy says when it comes. */
export const writer = (url: string, more: { readonly [field: string]: unknown } = {}) => ({
  capabilityId: 'writer.en',
  version: '1.0.0',
  displayName: 'Writer',
  summary: 'Writes variants of copy for a brief',
  inputContract: ['writerBrief'],
  outputContract: ['copyVariants'],
  idempotent: true,
  endpoint: { url },
  ...more,
})

export const brief = { angle: 'Tea calms', keyPoints: ['It is warm'] }
export const copyVariants = [{ headline: 'Tea', body: 'It is warm.', callToAction: 'Sip' }]

/** Wants copy for the brief. */
export const wanted = (more: { readonly [name: string]: unknown } = {}) => ({
  objective: 'Copy about tea',
  inputs: { writerBrief: brief },
  outputContract: {
    schema: {
      type: 'object',
      properties: { copyVariants: { type: 'array', items: { type: 'object' } } },
      required: ['copyVariants'],
    },
  },
  ...more,
})

/** One node, done by the writer. */
export const writing = (more: { readonly [name: string]: unknown } = {}) => ({
  nodes: [
    {
      id: 'write',
      capabilityId: 'writer.en',
      inputs: { writerBrief: { envelope: '/inputs/writerBrief' } },
      ...more,
    },
  ],
})

export interface ReceivedCall {
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly call: {
    readonly runId: string
    readonly nodeId: string
    readonly attempt: number
    readonly callbackUrl?: string
    readonly inputs: unknown
    readonly clarifications: readonly unknown[]
  }
}

type Reply = (response: ServerResponse, received: ReceivedCall) => void | Promise<void>

/** An agent that listens: notes every call and does what the next of the replies says, the last one again and again. */
export async function agent(...replies: Reply[]) {
  const received: ReceivedCall[] = []
  const { url, server, port } = await listen(async (request, response) => {
    const body = await text(request)
    // A cancellation of an accepted call is no call.
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    const one: ReceivedCall = { headers: request.headers, body, call: JSON.parse(body) }
    received.push(one)
    await replies[Math.min(received.length, replies.length) - 1]?.(response, one)
  })
  return { url, server, port, received }
}

export const json =
  (value: unknown, status = 200): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

export const status =
  (code: number, headers: { readonly [name: string]: string } = {}): Reply =>
  (response) => {
    response.writeHead(code, headers).end('said the agent')
  }

/** Whether a call was signed with this key, as an agent would find out. */
export function isSigned({ headers, body, call }: ReceivedCall, secret: string): boolean {
  const header = (name: string) => String(headers[name] ?? '')
  const { runId, nodeId, attempt } = call
  const signed = {
    timestamp: header(signatureHeaders.timestamp),
    nonce: header(signatureHeaders.nonce),
    runId,
    nodeId,
    attempt,
    body,
  }
  return (
    decodeURIComponent(header(signatureHeaders.runId)) === runId &&
    verify(signed, { signature: header(signatureHeaders.signature), secrets: [secret], now: Date.now() }) ===
      'good'
  )
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
