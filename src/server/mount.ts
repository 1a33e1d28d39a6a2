/**
 * Turns a route definition into a fastify route. All routes share one pipeline: authenticate, authorise, rate limit (before
 * the body is read), parse and validate, idempotency, quota, `handle`, respond.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Json } from '../base/json.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Authenticate, authorise } from './auth/authenticate.ts'
import type { RateLimit } from './auth/rate-limit.ts'
import type { RunQuota } from './auth/run-quota.ts'
import { answerOnce, readKey } from './http/idempotency.ts'
import { readParts } from './http/read-parts.ts'
import { getStatus, problemType, type Refusal, refusal, toProblem } from './problem.ts'
import type { Answer, Call, Caller, EventStream, Route } from './route.ts'
import type { Served } from './served.ts'
import { acceptsStream, type Streams } from './stream/streams.ts'

export interface Mounting {
  readonly served: Served
  readonly authenticate: Authenticate
  readonly rateLimit: RateLimit
  readonly quota: RunQuota
  readonly streams: Streams
  readonly clock: Clock
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
  /** Returns the request context, available from the first line of the request. */
  known(request: FastifyRequest): Known
  /** Reports an internal error to the operator. */
  reportError(cause: unknown, request: FastifyRequest): void
}

export interface Known {
  readonly traceId: string
  /** Headers of every response: security headers and CORS. */
  readonly headers: Readonly<Record<string, string>>
  caller: Caller
  rawBody: Uint8Array
}

export function mountRoute(fastify: FastifyInstance, route: Route, mounting: Mounting): void {
  const { streams } = mounting
  const shapes = Object.values(route.replies).filter(({ type }) => type === 'text/event-stream')
  const hasPage = shapes.some(({ schema }) => schema !== undefined)
  const willStream = ({ headers }: FastifyRequest) =>
    shapes.length > 0 && (!hasPage || acceptsStream(headers.accept))
  fastify.route({
    method: route.method,
    url: route.path,
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    async onRequest(request, reply) {
      const refused = await admit(route, request, mounting)
      if (refused) return sendRefusal(reply, refused, mounting)
    },
    async handler(request, reply) {
      const signal = endSignal(reply, mounting.stopping)
      // Many requests may arrive at once: wait for a turn of the event loop before doing any work.
      await mounting.served.app.pace.turn('first')
      const permit = willStream(request) ? streams.acquire() : undefined
      if (permit && 'refused' in permit) return sendRefusal(reply, permit, mounting)
      try {
        const answer = await answerCall(route, request, { ...mounting, signal })
        if ('refused' in answer) return sendRefusal(reply, answer, mounting)
        if (!('stream' in answer)) return sendAnswer(reply, answer, route)
        const { headers } = mounting.known(request)
        await streams.send(withDeprecation(answer, route), reply, { headers, signal }).catch((cause) => {
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
  if (route.roles === 'anyone') return undefined
  if (mounting.stopping.aborted) return stopping
  const caller = await mounting.authenticate(request.headers.authorization)
  if ('refused' in caller) return (await mounting.rateLimit.countFailure(request.ip)) ?? caller
  mounting.known(request).caller = caller
  return authorise(caller, route) ?? (await mounting.rateLimit.count(caller))
}

async function answerCall(
  route: Route,
  request: FastifyRequest,
  mounting: Mounting & { readonly signal: AbortSignal },
): Promise<Answer | Refusal> {
  const { served, quota, clock, signal } = mounting
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
  const keyed = readKey(route, caller, { key, parts: { ...parts } })
  if (keyed && 'refused' in keyed) return keyed
  const call: Call = {
    caller,
    ...parts,
    headers,
    traceId,
    rawBody,
    signal,
    ...(keyed && { onceId: keyed.onceId }),
  }
  const execute = async () =>
    (route.startsRun && (await quota.take(caller.tenant))) || route.handle(call, served)
  return keyed ? answerOnce(keyed, { once: served.app.store.records.once, clock }, execute) : execute()
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
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )
}

/**
 * Returns a signal that aborts when the connection closes or the server stops. Its listeners are removed with the
 * connection: `AbortSignal.any` would keep them for as long as the server's own signal lives.
 */
function endSignal({ raw }: FastifyReply, stopping: AbortSignal): AbortSignal {
  const end = new AbortController()
  const abort = () => {
    stopping.removeEventListener('abort', abort)
    end.abort()
  }
  raw.once('close', abort)
  stopping.addEventListener('abort', abort)
  if (stopping.aborted) abort()
  return end.signal
}

const stopping = refusal('server/stopping', 'The server is shutting down and accepts no requests', {
  hint: 'Retry in a second: another server may have taken over',
  headers: { 'retry-after': '1', connection: 'close' },
})
