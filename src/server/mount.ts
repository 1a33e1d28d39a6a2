/**
 * Turns a route definition into a fastify route. All routes share one pipeline: authenticate, authorise, rate limit (before
 * the body is read), parse and validate, idempotency, quota, `handle`, respond.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ProvisoError } from '../base/errors/error.ts'
import { type Json, setOwn } from '../base/json.ts'
import { createStop, type Stop } from '../base/stop.ts'
import { type Clock, settleWithin } from '../base/time/clock.ts'
import { type Authenticate, authorise } from './auth/authenticate.ts'
import { type OnceServer, readKey } from './http/idempotency.ts'
import { findIssues, type Known, readParts, refuseIssues } from './http/read-request.ts'
import type { Admission } from './overload/admission.ts'
import type { RateLimit, RunQuota } from './overload/rate-limit.ts'
import { getStatus, problemType, type Refusal, refusal, toProblem } from './problem.ts'
import type { Answer, Call, EventStream, Route } from './route.ts'
import type { Served } from './served.ts'
import { acceptsStream, type Streams } from './stream/streams.ts'
import type { Metrics } from './telemetry/metrics.ts'

export interface Mounting {
  readonly served: Served
  readonly authenticate: Authenticate
  readonly rateLimit: RateLimit
  readonly quota: RunQuota
  readonly streams: Streams
  readonly admission: Admission
  readonly metrics: Pick<Metrics, 'observeAccept' | 'observeResponse'>
  readonly clock: Clock
  /** How long a request waits for the store. */
  readonly answerMs: number
  readonly answerOnce: OnceServer['answerOnce']
  /** Aborted when the server stops. */
  readonly stopping: Stop
  /** Returns the request context, available from the first line of the request. */
  known(request: FastifyRequest): Known
  /** Reports an internal error to the operator. */
  reportError(cause: unknown, request: FastifyRequest): void
}

export function mountRoute(fastify: FastifyInstance, route: Route, mounting: Mounting): void {
  const { streams } = mounting
  const shapes = Object.values(route.replies).filter(({ type }) => type === 'text/event-stream')
  const hasPage = shapes.some(({ schema }) => schema !== undefined)
  const willStream = ({ headers }: FastifyRequest) =>
    shapes.length > 0 && (!hasPage || acceptsStream(headers.accept))
  const countRefusedBody = async (request: FastifyRequest) => {
    if (route.checkHead) await mounting.rateLimit.countRefusedBody(nameTarget(route, request))
  }
  fastify.route({
    // Also for a body that cannot be parsed, which never reaches the handler.
    onError: countRefusedBody,
    method: route.method,
    url: route.path,
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    async onRequest(request, reply) {
      const refused =
        (await inTime(mounting, admit(route, request, mounting))) ??
        checkEncoding(request) ??
        (await waitForTurn(route, { request, reply }, mounting))
      if (refused) return sendRefusal(reply, closeConnection(refused, request), mounting)
    },
    async handler(request, reply) {
      const end = createEnd(reply, mounting.stopping)
      // Many requests may arrive at once: wait for a turn of the event loop before doing any work.
      await mounting.served.app.pace.turn('first')
      const permit = willStream(request) ? streams.acquire(mounting.known(request).caller.tenant) : undefined
      if (permit && 'refused' in permit) return sendRefusal(reply, permit, mounting)
      try {
        const answer = await answerInTime(route, request, { ...mounting, end })
        if ('refused' in answer) await countRefusedBody(request)
        // From here on the response is written, or a stream follows the run.
        mounting.known(request).onAccepted()
        if ('refused' in answer) {
          const isFailure = route.countsFailures && isCallersFault(answer)
          const limited = isFailure ? await mounting.rateLimit.countFailure(request.ip) : undefined
          return sendRefusal(reply, limited ?? answer, mounting)
        }
        if (!('stream' in answer)) return sendAnswer(reply, answer, route)
        const { headers } = mounting.known(request)
        await streams.send(withDeprecation(answer, route), reply, { headers, stop: end }).catch((cause) => {
          if (!reply.raw.headersSent) throw cause
          // The client sees a broken connection and reconnects.
          mounting.reportError(cause, request)
        })
        return reply
      } finally {
        permit?.release()
      }
    },
  })
}

async function admit(
  route: Route,
  request: FastifyRequest,
  mounting: Mounting,
): Promise<Refusal | undefined> {
  if (route.checkHead) return checkHead(route, request, mounting)
  if (route.countsFailures) return mounting.rateLimit.checkFailures(request.ip)
  if (route.roles === 'anyone') return undefined
  if (mounting.stopping.aborted) return stopping
  const caller = await mounting.authenticate(request.headers.authorization)
  if ('refused' in caller)
    return (isCallersFault(caller) ? await mounting.rateLimit.countFailure(request.ip) : undefined) ?? caller
  mounting.known(request).caller = caller
  const { rateLimit } = mounting
  return (
    authorise(caller, route) ??
    (await rateLimit.count(caller)) ??
    (route.registers ? await rateLimit.countRegistration(caller) : undefined)
  )
}

/** Waits until the request may be handled. The permit is released when the request is accepted, answered or gone. */
async function waitForTurn(
  route: Route,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { admission, known, metrics }: Mounting,
): Promise<Refusal | undefined> {
  if (route.roles === 'anyone') return undefined
  const context = known(request)
  const entered = await admission.enter(route, context.caller)
  if ('refused' in entered) return entered
  context.onAccepted = () => {
    context.onAccepted = () => {}
    entered.release()
    if (route.startsRun) metrics.observeAccept(reply.elapsedTime)
  }
  // Also if the client disconnects, or its body cannot be read.
  reply.raw.once('close', entered.release)
  if (reply.raw.destroyed) entered.release()
  return undefined
}

/** Checks the head of a request of a route without tokens. Rates come first: the check reads the store. */
async function checkHead(
  route: Route,
  request: FastifyRequest,
  { rateLimit, served }: Mounting,
): Promise<Refusal | undefined> {
  const limited =
    (await rateLimit.countCallback(request.ip)) ??
    (await rateLimit.checkRefusedBodies(nameTarget(route, request)))
  if (limited) return limited
  // Fastify parses path parameters as strings.
  const params = request.params as Call['params']
  const wrong = findIssues(route.params ?? true, params, 'the path')
  if (wrong.length > 0) return refuseIssues('request/unreadable', wrong)
  const refused = await route.checkHead?.({ params, headers: readHeaders(request) }, served)
  const isFailure = refused !== undefined && getStatus(refused) < 500
  return (isFailure ? await rateLimit.countFailure(request.ip) : undefined) ?? refused
}

/** Whether the caller may be guessing. An identity provider that does not answer is no fault of a caller. */
function isCallersFault(refused: Refusal): boolean {
  return [401, 403].includes(getStatus(refused))
}

/** Names what a URL stands for: another query or spelling of the path is not another target. */
function nameTarget({ operation }: Route, { params }: FastifyRequest): string {
  return JSON.stringify([operation, params])
}

/** Refuses compressed bodies: they are not decompressed, because a small body could become a huge one. */
function checkEncoding({ headers }: FastifyRequest): Refusal | undefined {
  if (headers['content-encoding'] === undefined && headers['transfer-encoding'] === undefined)
    return undefined
  if (!hasBody(headers)) return undefined
  const codings = [headers['content-encoding'], headers['transfer-encoding']]
  const compressed = codings
    .flatMap((value) => (value ?? '').split(','))
    .map((name) => name.trim().toLowerCase())
    .find((name) => !['', 'identity', 'chunked'].includes(name))
  if (compressed === undefined) return undefined
  return refusal(
    'request/encoding',
    `The body must not be compressed, got the encoding ${compressed.slice(0, 40)}`,
    {
      headers: { 'accept-encoding': 'identity' },
    },
  )
}

function hasBody(headers: FastifyRequest['headers']): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

/** Longest body that is read and discarded to keep the connection after a refusal. */
const longestDiscarded = 65_536

/** Closes the connection after a refusal if the rest of the body is long: otherwise it would be read to the end. */
function closeConnection(refused: Refusal, { headers }: FastifyRequest): Refusal {
  const length = Number(headers['content-length'] ?? 0)
  if (headers['transfer-encoding'] === undefined && length <= longestDiscarded) return refused
  return { ...refused, headers: { ...refused.headers, connection: 'close' } }
}

/**
 * Answers a call, or rejects at the deadline if the store has not answered: a client must not wait for ever. A run that was
 * accepted has no deadline here: what follows, such as waiting for its end, is bounded by its own.
 */
function answerInTime(
  route: Route,
  request: FastifyRequest,
  mounting: Mounting & { readonly end: Stop },
): Promise<Answer | Refusal> {
  const { clock, answerMs } = mounting
  let stopWaiting = () => {}
  const answer = answerCall(route, request, { ...mounting, onAccepted: () => stopWaiting() })
  if (route.takesLong) return answer
  return new Promise((resolve, reject) => {
    stopWaiting = clock.timer(clock.now() + answerMs, () => reject(unanswered(answerMs)))
    answer.then(resolve, reject).finally(() => stopWaiting())
  })
}

const inTime = <T>({ clock, answerMs }: Mounting, work: Promise<T>): Promise<T> =>
  settleWithin(work, { clock, until: clock.now() + answerMs, late: () => unanswered(answerMs) })

function unanswered(answerMs: number): ProvisoError {
  return new ProvisoError('store/unavailable', `The store has not answered within ${answerMs} ms`, {
    hint: 'Retry with the same `Idempotency-Key`: the request may have taken effect. The operator sees the store in GET /readyz',
  })
}

async function answerCall(
  route: Route,
  request: FastifyRequest,
  mounting: Mounting & { readonly end: Stop; readonly onAccepted: () => void },
): Promise<Answer | Refusal> {
  const { served, quota, end } = mounting
  const { caller, traceId, rawBody } = mounting.known(request)
  const parts = readParts(route, {
    // Fastify parses path parameters as strings; query parameters may repeat.
    params: request.params as Call['params'],
    query: request.query as { [name: string]: string | string[] },
    body: (request.body ?? null) as Json,
  })
  if ('refused' in parts) return parts
  const headers = readHeaders(request)
  const key = headers['idempotency-key']
  const keyed = key === undefined ? undefined : readKey(route, caller, { key, parts: { ...parts } })
  if (keyed && 'refused' in keyed) return keyed
  const call: Call = {
    caller,
    ...parts,
    headers,
    // Asks the system: few routes need it.
    get address() {
      return request.ip
    },
    traceId,
    rawBody,
    get signal() {
      return end.signal
    },
    onAccepted() {
      mounting.onAccepted()
      mounting.known(request).onAccepted()
    },
    ...(keyed && { onceId: keyed.onceId }),
  }
  const execute = async () =>
    (route.startsRun && (await quota.take(caller.tenant))) || route.handle(call, served)
  return keyed ? mounting.answerOnce(keyed, execute) : execute()
}

export function sendRefusal(
  reply: FastifyReply,
  refused: Refusal,
  { served, known }: Pick<Mounting, 'served' | 'known'>,
): FastifyReply {
  const { traceId } = known(reply.request)
  const problem = toProblem(refused, traceId, served.app.redactor)
  return reply
    .code(getStatus(refused))
    .headers(refused.headers ?? {})
    .type(problemType)
    .send(JSON.stringify(problem))
}

function sendAnswer(reply: FastifyReply, answer: Exclude<Answer, EventStream>, route: Route): FastifyReply {
  const { status, body, headers = {} } = withDeprecation(answer, route)
  reply.code(status).headers(headers)
  if (body === undefined) return reply.send()
  const type = route.replies[status]?.type ?? 'application/json'
  if (type === 'text/plain' && typeof body === 'string')
    return reply.type(`${type}; charset=utf-8`).send(body)
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
}

function withDeprecation<T extends Answer>(answer: T, { deprecated }: Route): T {
  return deprecated ? { ...answer, headers: { deprecation: 'true', ...answer.headers } } : answer
}

/** Header names are in lower case; repeated headers are joined. */
function readHeaders(request: FastifyRequest): Call['headers'] {
  const headers: { [name: string]: string | undefined } = {}
  for (const [name, value] of Object.entries(request.headers))
    setOwn(headers, name, Array.isArray(value) ? value.join(', ') : value)
  return headers
}

/** One for all requests: a reason of its own costs each of them a stack trace. */
const over = new DOMException('The request is over', 'AbortError')

/** Creates a stop that aborts when the connection closes or the server stops. Its listener is removed with the connection. */
function createEnd({ raw }: FastifyReply, stopping: Stop): Stop {
  const end = createStop()
  const leave = stopping.listen(() => end.abort(over))
  raw.once('close', () => {
    leave()
    end.abort(over)
  })
  return end
}

const stopping = refusal('server/stopping', 'The server is shutting down and accepts no requests', {
  hint: 'Retry in a second: another server may have taken over',
  headers: { 'retry-after': '1', connection: 'close' },
})
