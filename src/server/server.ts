/** The HTTP server: mounts every route of the table on one request pipeline and shuts down gracefully. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyError, FastifyInstance } from 'fastify'
import { ProvisoError } from '../base/errors/error.ts'
import { missingPackage } from '../base/errors/missing-package.ts'
import { isObject, pick } from '../base/json.ts'
import { refuseOptions, rowIssues } from '../base/option-rows.ts'
import { createStop } from '../base/stop.ts'
import { type Clock, systemClock } from '../base/time/clock.ts'
import type { Store } from '../domain/ports/store.ts'
import { boundReads } from '../engine/journal/bound-reads.ts'
import { getAnswerMs } from '../engine/runs/engine-settings.ts'
import {
  type AuthOptions,
  createAuthenticate,
  requireAnyToken,
  requireLongToken,
} from './auth/authenticate.ts'
import { createJwtVerify, type JwtOptions, type JwtParts } from './auth/jwt.ts'
import { type ConsoleOptions, type FindConsoleFile, loadConsole } from './console/console-files.ts'
import { requireLoopback, toListenError } from './http/free-address.ts'
import { createHandlers } from './http/handlers.ts'
import { createOnceServer } from './http/idempotency.ts'
import {
  contextOf,
  createRequestContexts,
  isForeignPage,
  isLoopbackName,
  preflightHeaders,
  readBody,
  readTraceId,
  requireOrigins,
} from './http/read-request.ts'
import { type Mounting, mountRoute, sendRefusal } from './mount.ts'
import { type AdmissionOptions, createAdmission, createLoopLag } from './overload/admission.ts'
import {
  createRateLimit,
  createTenantQuota,
  type RateOptions,
  type RunQuota,
  type TenantQuotas,
} from './overload/rate-limit.ts'
import { answerMalformed, fromFastify, getStatus, refusal, unreadable } from './problem.ts'
import { createMethodLookup, type Route } from './route.ts'
import { coreRoutes } from './route-table.ts'
import { meRoute } from './routes/me.ts'
import { metricsRoute, openApiRoute } from './routes/operations.ts'
import { signInRoutes } from './routes/sign-in.ts'
import type { Served, ServedApp } from './served.ts'
import { createStreams, type Streams } from './stream/streams.ts'
import { createTelemetry, type LogOptions } from './telemetry/telemetry.ts'

export interface ServerOptions {
  /** Authentication in addition to the tokens in the store. Default: the token in `FLEX_TOKEN`, if it is set. */
  readonly auth?: AuthOptions
  /** Additional routes. */
  readonly routes?: readonly Route[]
  /** Serves the web console beside the API. Default: the API alone. */
  readonly console?: ConsoleOptions
  /** Allowed CORS origins, such as `https://console.example`. Default: none. */
  readonly cors?: readonly string[]
  readonly limits?: ServerLimits
  /** Logs the lifecycle of runs (FLEX-70). Default: no log. */
  readonly log?: Omit<LogOptions, 'redactor'>
  /** Version in the OpenAPI document. */
  readonly version?: string
  readonly clock?: Clock
  /** Called for internal errors, which clients see only as status 500. */
  readonly onError?: (cause: unknown, given: { readonly traceId: string; readonly route: string }) => void
}

export interface ServerLimits extends RateOptions, AdmissionOptions, TenantQuotas {
  /** Maximum body size in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Maximum open streams. Default 2,000. */
  readonly streams?: number
  /** Maximum open streams of one tenant. Default 1,000. */
  readonly tenantStreams?: number
  /** Time for a whole request to arrive, in milliseconds. Default 30 s. */
  readonly requestMs?: number
  /** Time for the headers of a request to arrive, in milliseconds. Default 10 s, at most `requestMs`. */
  readonly headersMs?: number
}

export interface Server {
  /** Returns the address, such as `http://127.0.0.1:3003`. */
  listen(given?: { readonly host?: string; readonly port?: number }): Promise<string>
  /** Shuts down gracefully: readiness turns off, streams end with a reconnect delay, and active requests have `graceMs` (default 5 s) to finish. */
  close(given?: { readonly graceMs?: number }): Promise<void>
  /** Handles one request of the Fetch API, without a port: for Hono, Next and other frameworks of that kind. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Handles one request of `node:http`: for Express, Fastify and a server of your own. Its body must not be read before. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void
  readonly address: string | undefined
  readonly routes: readonly Route[]
  /** Number of open streams. */
  readonly streams: number
}

export const defaultPort = 3003

const serverStopping = new DOMException('The server is stopping', 'AbortError')

/** Development mode has no rate limits unless they are set. */
const noRates = { rate: false, failures: false, callbacks: false, registrations: false } as const

/** The lease of a server whose app does not state its own. */
const defaultLeaseMs = 15_000
/** How long requests are refused during shutdown before the listener closes. */
const turnAwayMs = 250
/** How often remaining connections are closed after the grace period. */
const cutEveryMs = 50

/**
 * Creates the server of an app. Options may be in the first argument, beside `app`, or in the second.
 *
 * @example
 * const server = createServer({ app, auth: { token: 'at least 16 characters' } })
 */
export function createServer(served: Served & ServerOptions, more: ServerOptions = {}): Server {
  const given: Served = pick(served, ['app', 'isStopping'])
  const options: ServerOptions = { ...served, ...more }
  const { cors = [], limits = {}, clock = systemClock } = options
  requireUsable(given, options)
  const auth = withServerToken(options.auth, given.app)
  requireLongToken(auth)
  requireOrigins(cors)
  const leaseMs = given.app.leaseMs ?? defaultLeaseMs
  const answerMs = getAnswerMs(leaseMs)
  const app = withStore(given.app, boundReads(given.app.store, { clock, ms: answerMs }))
  app.acceptUntrustedSchemas()
  const telemetry = createTelemetry(app, options.log)
  const metrics = metricsRoute(telemetry.metrics)
  const openApi = openApiRoute(() => routes, options.version ?? 'development')
  const isOpen = auth.open ?? false
  const { me, findFile } = openConsole(options, isOpen)
  const onVerifyError = (cause: unknown) => options.onError?.(cause, { traceId: '', route: 'auth' })
  const jwt = auth.jwt && openJwt(auth.jwt, given.app, { clock, onError: onVerifyError })
  const signIn = signInRoutes(auth.signIn, jwt)
  const routes: readonly Route[] = [...coreRoutes, ...signIn, me, metrics, openApi, ...(options.routes ?? [])]
  assertUniqueRoutes(routes)
  const stop = createStop()
  const { streams: most = 2_000, tenantStreams: perTenant = 1_000 } = limits
  const streams = createStreams(app, { most, perTenant }, clock)
  const lag = createLoopLag()
  const admission = createAdmission(limits, { lag, clock, onRefused: telemetry.metrics.countRefused })
  telemetry.metrics.watchServer({ app, lag, queue: admission.queue, streams, clock })
  const known = createRequestContexts(cors)
  const keys = createOnceServer({ once: app.store.records.once, clock, leaseMs, owner: randomUUID() })
  const mounting: Mounting = {
    served: { ...given, app, isStopping: () => stop.aborted },
    authenticate: createAuthenticate(app.store.records.tokens, auth, {
      onVerifyError,
      verifyJwt: jwt?.verify,
    }),
    rateLimit: createRateLimit(auth.open ? { ...noRates, ...limits } : limits),
    quota: createTenantQuota(app.store, limits, clock),
    streams,
    admission,
    metrics: telemetry.metrics,
    clock,
    answerMs,
    answerOnce: keys.answerOnce,
    stopping: stop,
    known,
    reportError: (cause, request) =>
      options.onError?.(cause, { traceId: known(request).traceId, route: request.routeOptions.url ?? '' }),
  }
  limitLaterRuns(app, mounting.quota)
  const router = loadRouter(routes, mounting, { limits, isOpen, cors, findFile })
  let address: string | undefined
  let closing: Promise<void> | undefined
  const end = () => {
    lag.stop()
    telemetry.end()
  }
  const close = async (graceMs: number) => {
    stop.abort(serverStopping)
    await shutDown(router, { graceMs, streams, clock, onClosed: end })
    await keys.close()
    address = undefined
  }
  return {
    async listen({ host = '127.0.0.1', port = defaultPort } = {}) {
      if (auth.open) requireLoopback(host)
      await requireAnyToken(app.store.records.tokens, auth)
      address = await (await router).listen({ host, port }).catch((cause) => {
        throw toListenError(cause, { host, port })
      })
      return address
    },
    close({ graceMs = 5_000 } = {}) {
      closing ??= close(graceMs)
      return closing
    },
    ...createHandlers(router),
    get address() {
      return address
    },
    routes,
    get streams() {
      return streams.open
    },
  }
}

/** The route that describes the caller to a user interface, and the files of the console if they are served. */
function openConsole({ routes = [], console }: ServerOptions, development: boolean) {
  const hasSandbox = routes.some(({ operation }) => operation === 'sandboxMetadata')
  const createPost = console?.createPost ?? false
  return {
    me: meRoute({ development, sandbox: hasSandbox, createPost }),
    findFile: console && loadConsole(console, { hasSandbox }),
  }
}

/** Names of the options of access: a misspelled one would let no one in, or too many. */
const authRows: { readonly [name in keyof Required<AuthOptions>]: () => [] } = {
  token: () => [],
  verify: () => [],
  jwt: () => [],
  signIn: () => [],
  open: () => [],
}

/** Rejects, for programs without types, what is not an app and misspelled options of access. */
function requireUsable({ app }: Partial<Served>, { auth }: ServerOptions): void {
  if (typeof app?.acceptUntrustedSchemas !== 'function')
    throw new ProvisoError('option/invalid', 'Cannot create a server: `app` is not an app', {
      hint: 'Call `createServer({ app, auth })` with the app that createApp returns',
    })
  refuseOptions('createServer', pick({ auth }, ['auth']), {
    auth: (value, at) => (isObject(value) ? rowIssues(value, at, authRows) : []),
  })
}

/** The token of the app's environment counts unless the options name another one, or none is needed. */
function withServerToken(auth: AuthOptions = {}, app: ServedApp): AuthOptions {
  const token = auth.token ?? (auth.open ? undefined : app.getServerToken?.())
  return token === undefined ? auth : { ...auth, token }
}

/** Throws if the app cannot reach the issuer safely. */
function openJwt(jwt: JwtOptions, app: ServedApp, parts: Omit<JwtParts, 'fetch'>) {
  const fetch = app.guardFetch?.(pick(jwt, ['allow', 'allowLoopback']))
  if (fetch) return { ...parts, fetch, issuer: jwt.issuer, verify: createJwtVerify(jwt, { ...parts, fetch }) }
  throw new ProvisoError('option/invalid', '`auth.jwt` needs an app with `guardFetch`', {
    hint: 'Pass the app that createApp returns',
  })
}

/** The app with another view of its store. Its other members are read on every use: some of them are getters. */
function withStore(app: ServedApp, store: Store): ServedApp {
  return new Proxy(app, {
    get: (target, name) => (name === 'store' ? store : Reflect.get(target, name)),
  })
}

interface MountOptions {
  readonly limits: ServerLimits
  /** Development mode. */
  readonly isOpen: boolean
  readonly cors: readonly string[]
  readonly findFile: FindConsoleFile | undefined
}

/** Loads the web framework, which an installation may omit. */
async function loadFastify(): Promise<typeof import('fastify').default> {
  try {
    return (await import('fastify')).default
  } catch (cause) {
    throw missingPackage({ name: 'fastify', version: '5', purpose: 'serve HTTP' }, cause)
  }
}

/** Creates the router once the framework is loaded; `listen`, `fetch` and `handler` report a failure. */
function loadRouter(
  routes: readonly Route[],
  mounting: Mounting,
  options: MountOptions,
): Promise<FastifyInstance> {
  const router = loadFastify().then((createFastify) => mountRoutes(createFastify, routes, mounting, options))
  router.catch(() => {})
  return router
}

/** Creates the router: body parser, hooks, error handlers and every route. */
function mountRoutes(
  createFastify: typeof import('fastify').default,
  routes: readonly Route[],
  mounting: Mounting,
  { limits, isOpen, cors, findFile }: MountOptions,
): FastifyInstance {
  const { app } = mounting.served
  const { known } = mounting
  const requestMs = limits.requestMs ?? 30_000
  const headersMs = Math.min(limits.headersMs ?? 10_000, requestMs)
  const fastify: FastifyInstance = createFastify({
    bodyLimit: limits.bodyBytes ?? 1_048_576,
    requestTimeout: requestMs,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 500 },
    http: {
      maxHeaderSize: 16_384,
      headersTimeout: headersMs,
      // Node compares connections with both limits only this often (by default every 30 s).
      connectionsCheckingInterval: Math.max(10, Math.min(1_000, Math.floor(headersMs / 10))),
    },
    frameworkErrors: (error, _request, reply) => void sendRefusal(reply, fromFastify(error, 0), mounting),
    clientErrorHandler: (error, socket) =>
      answerMalformed(error, socket, { redactor: app.redactor, traceId: readTraceId(undefined) }),
  })

  fastify.decorateRequest(contextOf, null)
  // Node accepts one new connection per loop iteration: keep iterations short while connections arrive.
  fastify.server.on('connection', app.pace.hurry)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    known(request).rawBody = bytes as Buffer
    const body = readBody(bytes as Buffer)
    if ('unreadable' in body) done(unreadable(body.unreadable))
    else done(null, body.value)
  })
  fastify.addHook('onRequest', async (request, reply) => {
    reply.headers(known(request).headers)
    if (isOpen && !isLoopbackName(request.headers.host)) return sendRefusal(reply, otherHost, mounting)
    if (isOpen && isForeignPage(request.headers, cors)) return sendRefusal(reply, otherOrigin, mounting)
    const isPreflight = request.method === 'OPTIONS' && 'access-control-request-method' in request.headers
    if (isPreflight && 'access-control-allow-origin' in known(request).headers)
      return reply.code(204).headers(preflightHeaders).send()
  })
  fastify.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    mounting.metrics.observeResponse({ route, status: reply.statusCode, ms: reply.elapsedTime })
  })
  const findMethods = createMethodLookup(routes)
  fastify.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const file = findFile?.({ method: request.method, path, headers: request.headers })
    // A 304 replaces the headers that the browser keeps, the policy of the page among them.
    if (file) return reply.code(file.status).headers(file.headers).send(file.body)
    const detail = `Route ${request.method} ${path.slice(0, 200)} not found`
    const allow = findMethods(path).join(', ')
    const refused =
      allow === ''
        ? refusal('route/missing', detail)
        : refusal('request/method', detail, { headers: { allow } })
    return sendRefusal(reply, refused, mounting)
  })
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const refused = fromFastify(error, request.routeOptions.bodyLimit ?? 0)
    if (getStatus(refused) >= 500) mounting.reportError(error, request)
    return sendRefusal(reply, refused, mounting)
  })
  for (const route of routes) mountRoute(fastify, route, mounting)
  return fastify
}

interface ShutDownOptions {
  /** How long active requests have to finish. */
  readonly graceMs: number
  readonly streams: Streams
  readonly clock: Clock
  readonly onClosed: () => void
}

/** Shuts down gracefully: waits for streams, refuses requests for a moment, closes the listener, then all connections. */
async function shutDown(
  router: Promise<FastifyInstance>,
  { graceMs, streams, clock, onClosed }: ShutDownOptions,
): Promise<void> {
  const until = clock.now() + graceMs
  const fastify = await router.catch(() => undefined)
  if (fastify === undefined) return onClosed()
  await streams.ended()
  // Answer new requests with a refusal and Retry-After instead of closing the connection.
  await pause(clock, Math.min(turnAwayMs, graceMs))
  let open = true
  const closed = fastify.close().finally(() => {
    open = false
  })
  // Repeat: connections may arrive until the listener is closed.
  const cut = () => {
    fastify.server.closeAllConnections()
    if (open) clock.timer(clock.now() + cutEveryMs, cut)
  }
  const cancelTimer = clock.timer(until, cut)
  await closed
  onClosed()
  cancelTimer()
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.timer(clock.now() + ms, resolve))
}

/** Throws if two routes have the same method and path; the router would serve only one of them. */
function assertUniqueRoutes(routes: readonly Route[]): void {
  const seen = new Set<string>()
  for (const { method, path, operation } of routes) {
    for (const name of [`${method} ${path}`, `operation ${operation}`]) {
      if (seen.has(name)) throw new ProvisoError('option/invalid', `Route ${name} is defined twice`)
      seen.add(name)
    }
  }
}

const otherOrigin = refusal(
  'auth/origin',
  'Development mode needs no token, so it refuses requests that a web page of another origin makes',
)

const otherHost = refusal(
  'auth/host',
  'Development mode answers only requests for localhost, 127.0.0.1 or [::1]',
  {
    hint: 'Use one of these names, or start the server with tokens',
  },
)

/** Holds runs that no request starts to the quotas: runs of schedules, and runs that waited in a thread. */
function limitLaterRuns({ schedules, threads }: ServedApp, quota: RunQuota): void {
  const admit = async (tenant: string) => (await quota.take(tenant))?.detail
  schedules.limit?.(admit)
  threads.limit?.(admit)
}
