/**
 * From a route as data to a route that answers, the same way for all: authenticate, authorise, rate limit (before the body is
 * read), read the parts, idempotency, quota, `handle`, answer.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { Json } from '../base/json.ts'
import { eventLoop } from '../base/pace.ts'
import { acceptsStream } from './accepts-stream.ts'
import { type Authenticate, authorise } from './authenticate.ts'
import { answerOnce, readKey } from './idempotency.ts'
import { problemOf, problemType, type Refusal, refusal, statusOf } from './problem.ts'
import type { RateLimit } from './rate-limit.ts'
import { readParts } from './read-parts.ts'
import type { Answer, Call, Caller, EventStream, Route } from './route.ts'
import type { RunQuota } from './run-quota.ts'
import type { Served } from './served.ts'
import type { Streams } from './streams.ts'

export interface Mounting {
  readonly served: Served
  readonly authenticate: Authenticate
  readonly rateLimit: RateLimit
  readonly quota: RunQuota
  readonly streams: Streams
  readonly clock: Clock
  /** The server stops. */
  readonly stopping: AbortSignal
  /** What is known of a request since its first line. */
  known(request: FastifyRequest): Known
  /** For those who operate the server. */
  tell(cause: unknown, request: FastifyRequest): void
}

export interface Known {
  readonly traceId: string
  /** On every answer: security, and what the origin may see. */
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
      // Many may have come at once: each waits for its turn before anything is done for it.
      await eventLoop.turn('first')
      const place = willStream(request) ? streams.take() : undefined
      if (place && 'refused' in place) return sendRefusal(reply, place, mounting)
      try {
        const answer = await answerCall(route, request, { ...mounting, signal })
        if ('refused' in answer) return sendRefusal(reply, answer, mounting)
        if (!('stream' in answer)) return sendAnswer(reply, answer, route)
        const { headers } = mounting.known(request)
        await streams.send(withDeprecation(answer, route), reply, { headers, signal }).catch((cause) => {
          if (!reply.raw.headersSent) throw cause
          // The reader sees a connection that breaks off, and comes again.
          mounting.tell(cause, request)
        })
        return reply
      } finally {
        place?.leave()
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
    // Fastify gives texts by name; the query's may repeat.
    params: request.params as Call['params'],
    query: request.query as { [name: string]: string | string[] },
    body: (request.body ?? null) as Json,
  })
  if ('refused' in parts) return parts
  const headers = headersOf(request)
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
  const carryOut = async () =>
    (route.startsRun && (await quota.take(caller.tenant))) || route.handle(call, served)
  return keyed ? answerOnce(keyed, { once: served.app.store.records.once, clock }, carryOut) : carryOut()
}

export function sendRefusal(
  reply: FastifyReply,
  refused: Refusal,
  { served, known }: Pick<Mounting, 'served' | 'known'>,
): FastifyReply {
  const { traceId } = known(reply.request)
  const problem = problemOf(refused, traceId, served.app.redactor)
  return reply
    .code(statusOf(refused))
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

/** Names in lower case; what came more than once is joined. */
function headersOf(request: FastifyRequest): Call['headers'] {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )
}

/**
 * The connection is gone, or the server stops. Taken back with the connection: what listens to a signal that lives as long
 * as the server, as `AbortSignal.any` does, would be kept for as long.
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

const stopping = refusal('server/stopping', 'The server takes no more requests', {
  hint: 'Try again in a moment: another one may have taken over',
  headers: { 'retry-after': '1', connection: 'close' },
})
