/** `proviso mcp`: serves capabilities and runs of this process as MCP tools, over stdio or HTTP. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '../../app.ts'
import { ProvisoError, toErrorMessage } from '../../base/errors/error.ts'
import { readEnv } from '../../env.ts'
import { createMcpServers, loadServerSdk, type McpApp } from '../../server/mcp/serve-mcp.ts'
import type { ConfigFlags } from '../input/config-option.ts'
import { printMcpLog } from '../input/mcp-servers.ts'
import { readWork } from '../input/read-work.ts'
import { onInterrupt } from '../interrupt.ts'
import { chooseStore } from '../options/store-option.ts'
import { continueWithoutOutput, printNote, refuse } from '../print.ts'
import { version } from '../version.ts'

export interface ServeMcpFlags extends ConfigFlags {
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly capability: readonly string[]
  /** Port for HTTP; absent: stdio. */
  readonly http?: number
}

export async function serveMcp(flags: ServeMcpFlags): Promise<number> {
  const work = await readWork(flags)
  if ('unreadable' in work) return refuse(work.unreadable)
  const env = readEnv()
  const { http } = flags
  const token = http === undefined ? undefined : env.flexToken
  if (http !== undefined && token === undefined)
    throw new ProvisoError('option/invalid', 'Cannot serve MCP over HTTP without a token', {
      hint: 'Set FLEX_TOKEN, and send it as `Authorization: Bearer`',
    })
  if (http !== undefined) continueWithoutOutput()
  const sdk = await loadServerSdk()
  const { capabilities, facets, stages = [], mcp } = work
  const app = await createApp({
    store: chooseStore(flags.store).spec,
    capabilities,
    facets,
    stages,
    untrustedSchemas: true,
    claim: 'own',
    ...(mcp && { mcp, onMcpLog: printMcpLog }),
  })
  try {
    const create = createMcpServers(sdk, app as McpApp, {
      capabilities: flags.capability,
      version: version(),
      key: env.secretKey ?? randomBytes(32),
    })
    const stopped = new Promise<void>((resolve) => {
      onInterrupt(() => resolve())
      process.once('SIGTERM', () => resolve())
    })
    if (http === undefined) {
      // Standard output belongs to the protocol.
      const handle = sdk.serveStdio(create)
      const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve))
      await Promise.race([stopped, ended])
      await handle.close()
      return 0
    }
    const handler = sdk.createMcpHandler(create)
    const server = listenHttp(handler.fetch, token ?? '')
    await listen(server, http)
    printNote(`Serving MCP on http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
    await stopped
    await handler.close()
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    return 0
  } finally {
    await app.close()
  }
}

/** Throws `option/invalid` if the port cannot be used. */
async function listen(server: Server, port: number): Promise<void> {
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'it is used by another process' : (code ?? toErrorMessage(cause))
    throw new ProvisoError('option/invalid', `Cannot listen on 127.0.0.1 port ${port}: ${why}`, {
      hint: 'Choose another port with --http, or stop that process',
      cause,
    })
  }
}

type Fetch = (request: Request, options?: { authInfo?: never }) => Promise<Response>

const mostBytes = 1_048_576

/** Serves on loopback only, for callers with the token; browsers of other origins are refused. */
function listenHttp(fetch: Fetch, token: string): Server {
  return createServer(async (request, response) => {
    try {
      const status = refuseRequest(request, token)
      if (status !== undefined) {
        response.writeHead(status, status === 401 ? { 'www-authenticate': 'Bearer' } : {}).end()
        return
      }
      const body = await readBody(request)
      const aborted = new AbortController()
      response.once('close', () => aborted.abort())
      const answer = await fetch(
        new Request(`http://localhost${request.url}`, {
          method: request.method ?? 'POST',
          headers: toHeaders(request),
          signal: aborted.signal,
          ...(body.length > 0 && { body: new Uint8Array(body) }),
        }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) response.write(chunk)
      response.end()
    } catch {
      if (!response.headersSent) response.writeHead(400)
      response.end()
    }
  })
}

function refuseRequest({ headers, url = '' }: IncomingMessage, token: string): number | undefined {
  if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? '') || headers.origin !== undefined)
    return 403
  // Compared as text: a target such as `//` is no URL.
  if (url.split('?')[0] !== '/mcp') return 404
  const given = Buffer.from(headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? undefined : 401
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error('The request is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toHeaders({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
}
