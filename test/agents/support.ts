/** What the tests of agents share: an app whose routes are mounted on a real server, and agents that really listen. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import type { App, AppOptions } from '../../src/app.ts'
import { ProvisoError } from '../../src/base/error.ts'
import type { Json } from '../../src/base/json.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import type { Caller, Route } from '../../src/server/route.ts'
import { callbackRoutes } from '../../src/server/routes/callbacks.ts'
import { capabilityRoutes } from '../../src/server/routes/capabilities.ts'
import { open } from '../journeys/support.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** Listens on a free port of this machine until the test is over. */
export async function listen(
  handle: RequestListener,
  host = '127.0.0.1',
): Promise<{ url: string; server: Server }> {
  const server = createServer(handle)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, server }
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const routes: readonly Route[] = [...capabilityRoutes, ...callbackRoutes]
const statuses: { readonly [code: string]: number } = {
  'capability/invalid': 422,
  'capability/taken': 409,
  'capability/missing': 404,
  'capability/forbidden': 403,
  'callback/unknown': 404,
  'callback/forged': 401,
  'callback/replayed': 409,
  'callback/settled': 409,
  'agents/off': 404,
}

/** Who the tokens of the tests stand for: `tenant/role/tokenId`, and the one capability of an agent that has one. */
function callerOf(authorization = ''): Caller | undefined {
  const [tenant, role, tokenId, capabilityId] = authorization.replace(/^Bearer /, '').split('/')
  if (!tenant || !tokenId) return undefined
  const more = capabilityId === undefined ? {} : { capabilityId }
  return { tenant, role: role as Caller['role'], tokenId, name: tokenId, ...more }
}

/** The routes as a server mounts them: rights and shapes are checked before `handle` is called. */
async function answer(app: App, request: IncomingMessage): Promise<{ status: number; body?: Json }> {
  const url = new URL(request.url ?? '', 'http://server')
  const raw = Buffer.from(await bodyOf(request))
  for (const route of routes) {
    const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`)
    const match = pattern.exec(url.pathname)
    if (match === null || route.method !== request.method) continue
    const caller = callerOf(request.headers.authorization)
    const anyone = { tenant: 'default', role: 'caller', tokenId: '', name: '' } as const
    if (route.roles !== 'anyone' && (!caller || ![...route.roles, 'admin'].includes(caller.role)))
      return { status: caller ? 403 : 401 }
    const body = raw.length === 0 ? null : JSON.parse(raw.toString())
    const issues = route.body === undefined ? [] : compileSchema(route.body).validate(body)
    if (issues.length > 0) return { status: 422, body: JSON.parse(JSON.stringify({ issues })) }
    const params = Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
    )
    const done = await route.handle(
      {
        caller: caller ?? anyone,
        params,
        query: Object.fromEntries(url.searchParams),
        body,
        headers: request.headers as { [name: string]: string },
        traceId: randomUUID(),
        rawBody: raw,
        signal: new AbortController().signal,
      },
      { app },
    )
    return 'status' in done ? done : { status: 500 }
  }
  return { status: 404 }
}

export interface AgentServer {
  readonly app: App
  readonly url: string
  /** A request with a token of the form `tenant/role/tokenId[/capabilityId]`. */
  call(
    method: string,
    path: string,
    given?: { token?: string; body?: unknown },
  ): Promise<{ status: number; body: { [name: string]: unknown } }>
}

/** A server with the routes of agents on a free port, and the app behind it, which may call this machine. */
export async function serve(options: AppOptions = {}): Promise<AgentServer> {
  let app: App | undefined
  const { url } = await listen(async (request, response) => {
    const done = await answer(app as App, request).catch((cause: unknown) => {
      if (!(cause instanceof ProvisoError)) throw cause
      const { code, message, hint, issues } = cause
      return {
        status: statuses[code] ?? 500,
        body: JSON.parse(JSON.stringify({ code, message, hint, issues })),
      }
    })
    response.writeHead(done.status, { 'content-type': 'application/json' })
    response.end(done.body === undefined ? '' : JSON.stringify(done.body))
  })
  app = await open({ ...options, http: { allowLoopback: true, callbackUrl: url, ...options.http } })
  return {
    app,
    url,
    async call(method, path, { token, body } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
  }
}

/** What an agent that writes copy sends when it starts. */
export const writer = (url: string, more: { [field: string]: unknown } = {}) => ({
  capabilityId: 'writer.en',
  version: '1.0.0',
  displayName: 'Writer',
  summary: 'Writes variants of copy',
  inputContract: ['writerBrief'],
  outputContract: ['copyVariants'],
  idempotent: true,
  endpoint: { url },
  ...more,
})
