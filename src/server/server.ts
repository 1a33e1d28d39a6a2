/** The server: every route of the table behind one pipeline, and an end that keeps nobody waiting. */
import { setMaxListeners } from 'node:events'
import createFastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import { type Clock, systemClock } from '../base/clock.ts'
import { ProvisoError } from '../base/error.ts'
import { eventLoop } from '../base/pace.ts'
import { serveStrangers } from '../schema/regex.ts'
import { type AuthOptions, createAuthenticate, nobody } from './authenticate.ts'
import {
  corsHeaders,
  isLoopbackAddress,
  isLoopbackName,
  preflightHeaders,
  requireOrigins,
  securityHeaders,
} from './cross-origin.ts'
import { answerNoise, ofFastify, unreadable } from './fastify-errors.ts'
import { type Known, type Mounting, mountRoute, sendRefusal } from './mount.ts'
import { createMethodsOf } from './other-methods.ts'
import { refusal, statusOf } from './problem.ts'
import { createRateLimit, type RateOptions } from './rate-limit.ts'
import { readBody } from './read-body.ts'
import type { Route } from './route.ts'
import { coreRoutes } from './route-table.ts'
import { metricsRoute } from './routes/metrics.ts'
import { openApiRoute } from './routes/openapi.ts'
import { createRunQuota } from './run-quota.ts'
import type { Served } from './served.ts'
import { createStreams } from './streams.ts'
import type { LogOptions } from './telemetry/log.ts'
import { createTelemetry } from './telemetry/telemetry.ts'
import { traceIdOf } from './trace-id.ts'

export interface ServerOptions {
  /** Whom the server knows besides the tokens of the store. */
  readonly auth?: AuthOptions
  /** Routes in addition to those of runs, asks and proofs. */
  readonly routes?: readonly Route[]
  /** Origins whose pages may call, such as `https://console.example`. Default: none. */
  readonly cors?: readonly string[]
  readonly limits?: ServerLimits
  /** Log lines of what runs do (FLEX-70). Default: none. */
  readonly log?: Omit<LogOptions, 'redactor'>
  /** Of the program, for the OpenAPI document. */
  readonly version?: string
  readonly clock?: Clock
  /** What went wrong here and is told to callers as 500 only. */
  readonly onError?: (cause: unknown, given: { readonly traceId: string; readonly route: string }) => void
}

export interface ServerLimits extends RateOptions {
  /** The longest body in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Most runs under way of one tenant. Default 1,000. */
  readonly runs?: number
  /** Most open streams. Default 2,000. */
  readonly streams?: number
  /** How long a request may take to arrive, in milliseconds. Default 30 s. */
  readonly requestMs?: number
}

export interface Server {
  /** Returns the address, such as `http://127.0.0.1:3003`. */
  listen(given?: { readonly host?: string; readonly port?: number }): Promise<string>
  /** Ready no more; streams end with a hint to come back; requests under way may end for at most `graceMs` (default 5 s). */
  close(given?: { readonly graceMs?: number }): Promise<void>
  readonly address: string | undefined
  readonly routes: readonly Route[]
  /** Streams that are open at this moment. */
  readonly streams: number
}

export const defaultPort = 3003

/** How long requests are turned away, at the end, before nobody listens any more. */
const turnAwayMs = 250
/** How often, after the grace, connections that are left are cut. */
const cutEveryMs = 50

export function createServer(given: Served, options: ServerOptions = {}): Server {
  serveStrangers()
  const { auth = {}, cors = [], limits = {}, clock = systemClock } = options
  requireOrigins(cors)
  const { app } = given
  const telemetry = createTelemetry(app, options.log)
  const metrics = metricsRoute(telemetry.metrics)
  const openApi = openApiRoute(() => routes, options.version ?? 'development')
  const routes: readonly Route[] = [...coreRoutes, metrics, openApi, ...(options.routes ?? [])]
  refuseTwins(routes)
  const stop = new AbortController()
  // One listener per request under way is no leak.
  setMaxListeners(0, stop.signal)
  const served: Served = { ...given, isStopping: () => stop.signal.aborted }
  const streams = createStreams(app, limits.streams ?? 2_000, clock)
  const requests = new WeakMap<FastifyRequest, Known>()
  const known = (request: FastifyRequest): Known => {
    const found = requests.get(request)
    if (found) return found
    const traceparent = request.headers['traceparent']
    const fresh: Known = {
      traceId: traceIdOf(typeof traceparent === 'string' ? traceparent : undefined),
      headers: { ...securityHeaders, ...corsHeaders(request.headers.origin, cors) },
      caller: nobody,
      rawBody: new Uint8Array(),
    }
    requests.set(request, fresh)
    return fresh
  }
  const mounting: Mounting = {
    served,
    authenticate: createAuthenticate(app.store.records.tokens, auth),
    rateLimit: createRateLimit(auth.open ? { rate: false, failures: false, ...limits } : limits),
    quota: createRunQuota(app.store, limits.runs ?? 1_000, clock),
    streams,
    clock,
    stopping: stop.signal,
    known,
    tell: (cause, request) =>
      options.onError?.(cause, { traceId: known(request).traceId, route: request.routeOptions.url ?? '' }),
  }

  const fastify: FastifyInstance = createFastify({
    bodyLimit: limits.bodyBytes ?? 1_048_576,
    requestTimeout: limits.requestMs ?? 30_000,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 500 },
    http: { maxHeaderSize: 16_384, headersTimeout: 10_000 },
    frameworkErrors: (error, _request, reply) => void sendRefusal(reply, ofFastify(error, 0), mounting),
    clientErrorHandler: (error, socket) => answerNoise(error, socket, app.redactor),
  })

  // Node takes one new connection in each pass of the loop: as long as they come, passes are short.
  fastify.server.on('connection', eventLoop.hurry)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    known(request).rawBody = bytes as Buffer
    const body = readBody(bytes as Buffer)
    if ('unreadable' in body) done(unreadable(body.unreadable))
    else done(null, body.value)
  })
  fastify.addHook('onRequest', async (request, reply) => {
    reply.headers(known(request).headers)
    if (auth.open && !isLoopbackName(request.headers.host)) return sendRefusal(reply, otherHost, mounting)
    const isPreflight = request.method === 'OPTIONS' && 'access-control-request-method' in request.headers
    if (isPreflight && 'access-control-allow-origin' in known(request).headers)
      return reply.code(204).headers(preflightHeaders).send()
  })
  const methodsOf = createMethodsOf(routes)
  fastify.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const detail = `There is no ${request.method} ${path.slice(0, 200)}`
    const allow = methodsOf(path).join(', ')
    const refused =
      allow === ''
        ? refusal('route/missing', detail)
        : refusal('request/method', detail, { headers: { allow } })
    return sendRefusal(reply, refused, mounting)
  })
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const refused = ofFastify(error, request.routeOptions.bodyLimit ?? 0)
    if (statusOf(refused) >= 500) mounting.tell(error, request)
    return sendRefusal(reply, refused, mounting)
  })
  for (const route of routes) mountRoute(fastify, route, mounting)

  let address: string | undefined
  let closing: Promise<void> | undefined
  const close = async (graceMs: number) => {
    const until = clock.now() + graceMs
    stop.abort()
    await streams.ended()
    // Requests on their way meet a refusal that says when to come back, not a door that shuts.
    await pause(clock, Math.min(turnAwayMs, graceMs))
    let open = true
    const closed = fastify.close().finally(() => {
      open = false
    })
    // Again and again: a connection may come in until the very moment at which nobody listens any more.
    const cut = () => {
      fastify.server.closeAllConnections()
      if (open) clock.timer(clock.now() + cutEveryMs, cut)
    }
    const takeBack = clock.timer(until, cut)
    await closed
    telemetry.end()
    takeBack()
    address = undefined
  }
  return {
    async listen({ host = '127.0.0.1', port = defaultPort } = {}) {
      if (auth.open && !isLoopbackAddress(host))
        throw new ProvisoError(
          'option/invalid',
          `Development mode is open to everybody and does not listen on ${host}`,
          {
            hint: 'Listen on 127.0.0.1, or configure tokens',
          },
        )
      address = await fastify.listen({ host, port }).catch((cause) => {
        throw cannotListen(cause, host, port)
      })
      return address
    },
    close({ graceMs = 5_000 } = {}) {
      closing ??= close(graceMs)
      return closing
    },
    get address() {
      return address
    },
    routes,
    get streams() {
      return streams.open
    },
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.timer(clock.now() + ms, resolve))
}

/** A path that is there twice would be answered by whoever came first. */
function refuseTwins(routes: readonly Route[]): void {
  const seen = new Set<string>()
  for (const { method, path, operation } of routes) {
    for (const name of [`${method} ${path}`, `operation ${operation}`]) {
      if (seen.has(name)) throw new ProvisoError('option/invalid', `There are two routes for ${name}`)
      seen.add(name)
    }
  }
}

const otherHost = refusal(
  'auth/host',
  'Development mode answers only requests for localhost, 127.0.0.1 or [::1]',
  {
    hint: 'Call it by one of these names, or start the server with tokens',
  },
)

function cannotListen(cause: unknown, host: string, port: number): unknown {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new ProvisoError('option/invalid', `Port ${port} on ${host} is taken by another process`, {
      hint: 'Choose another one with --port, or stop that process',
      cause,
    })
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return new ProvisoError('option/invalid', `Cannot listen on ${host} port ${port}: ${code}`, { cause })
  return cause
}
