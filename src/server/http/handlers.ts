/** Handlers of single requests, for programs that have a server of their own: the same router and checks, without a port. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, InjectOptions } from 'fastify'

interface Handlers {
  fetch(request: Request): Promise<Response>
  handler(request: IncomingMessage, response: ServerResponse): void
}

export function createHandlers(router: Promise<FastifyInstance>): Handlers {
  return {
    fetch: async (request) => answerFetch(await router, request),
    handler(request, response) {
      const ready = router.then(async (fastify) => {
        await fastify.ready()
        return fastify
      })
      ready.then(
        (fastify) => fastify.routing(request, response),
        (cause) => response.destroy(cause),
      )
    },
  }
}

/** Statuses whose responses have no body: the Fetch API refuses one. */
const bodiless = new Set([204, 205, 304])

/** Answers a request of the Fetch API. Its stream reads the run as fast as the client does, and ends when the client cancels. */
async function answerFetch(fastify: FastifyInstance, request: Request): Promise<Response> {
  const { pathname, search, host } = new URL(request.url)
  const gone = new AbortController()
  const abort = () => gone.abort()
  request.signal.addEventListener('abort', abort, { once: true })
  if (request.signal.aborted) abort()
  const done = () => request.signal.removeEventListener('abort', abort)
  try {
    const answer = await fastify.inject({
      method: request.method as NonNullable<InjectOptions['method']>,
      url: `${pathname}${search}`,
      headers: { host, ...Object.fromEntries(request.headers) },
      // Read by the router, within its limit of the size.
      ...(request.body && {
        payload: Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]),
      }),
      payloadAsStream: true,
      signal: gone.signal,
    })
    const headers = new Headers()
    for (const [name, value] of Object.entries(answer.headers))
      for (const each of [value].flat()) if (each !== undefined) headers.append(name, String(each))
    const stream = answer.stream()
    stream.once('close', () => {
      done()
      // Ends the response if the client cancelled it; the router takes this for a closed connection.
      answer.raw.res.destroy()
    })
    if (bodiless.has(answer.statusCode)) {
      stream.resume()
      return new Response(null, { status: answer.statusCode, headers })
    }
    return new Response(Readable.toWeb(stream) as ReadableStream, { status: answer.statusCode, headers })
  } catch (cause) {
    done()
    throw cause
  }
}
