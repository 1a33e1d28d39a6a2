/**
 * What is known of a request from its first line: its trace, its caller, and the browser-facing headers of its response
 * (security headers, and CORS for the origins on the allowlist).
 */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ProvisoError } from '../../base/errors/error.ts'
import { anonymous } from '../auth/authenticate.ts'
import type { Caller } from '../route.ts'

export interface Known {
  readonly traceId: string
  /** Headers of every response: security headers and CORS. */
  readonly headers: Readonly<Record<string, string>>
  caller: Caller
  rawBody: Uint8Array
  /** Call it when the request is accepted: others may be handled. */
  onAccepted: () => void
}

/** Returns a function that finds or creates the context of a request. */
export function createRequestContexts(cors: readonly string[]): (request: FastifyRequest) => Known {
  const requests = new WeakMap<FastifyRequest, Known>()
  return (request) => {
    const found = requests.get(request)
    if (found) return found
    const traceparent = request.headers['traceparent']
    const fresh: Known = {
      traceId: readTraceId(typeof traceparent === 'string' ? traceparent : undefined),
      headers: { ...securityHeaders, ...corsHeaders(request.headers.origin, cors) },
      caller: anonymous,
      rawBody: new Uint8Array(),
      onAccepted: () => {},
    }
    requests.set(request, fresh)
    return fresh
  }
}

/** Returns the trace id in `traceparent` (W3C Trace Context), or a new one if it is absent or invalid. */
export function readTraceId(traceparent: string | undefined): string {
  const [, given] = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent ?? '') ?? []
  if (given !== undefined && !/^0+$/.test(given)) return given
  return randomBytes(16).toString('hex')
}

/** The API serves no pages: block scripts, frames, MIME sniffing and caching. */
const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** Rejects entries that no browser sends as an origin; such an entry would block its pages without an error. */
export function requireOrigins(origins: readonly string[]): void {
  const wrong = origins.find((each) => !URL.canParse(each) || new URL(each).origin !== each)
  if (wrong !== undefined)
    throw new ProvisoError('option/invalid', `"${wrong}" is not a valid CORS origin`, {
      hint: 'Write scheme, host and port only, such as https://console.example: no path, no trailing slash, no *',
    })
}

/** Returns the CORS headers for an origin on the allowlist, and none for other origins: browsers then block the response. */
function corsHeaders(
  origin: string | undefined,
  allowed: readonly string[],
): Readonly<Record<string, string>> {
  if (allowed.length === 0) return {}
  if (origin === undefined || !allowed.includes(origin)) return { vary: 'origin' }
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'location, retry-after, allow, proviso-run-id, idempotency-replayed, deprecation, warning, link',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'origin',
  }
}

/** The answer to a CORS preflight request. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, accept, idempotency-key, last-event-id, traceparent',
  'access-control-max-age': '600',
}

/** Development mode needs no token. Accepting only loopback names stops DNS rebinding: pages that resolve their own name to loopback. */
export function isLoopbackName(host: string | undefined): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host ?? '')
}

/**
 * Returns whether a browser sent the request for a page of another origin (cross-site request forgery). Development mode
 * needs no token, so any page could otherwise start or cancel runs with a request that needs no preflight. Programs such as
 * curl send neither header.
 */
export function isForeignPage(
  { origin, host, ...headers }: IncomingHttpHeaders,
  allowed: readonly string[],
): boolean {
  if (origin !== undefined)
    return origin !== `http://${host}` && origin !== `https://${host}` && !allowed.includes(origin)
  const site = headers['sec-fetch-site']
  // A link to a page of the API is followed by the user; its response is not readable for the page with the link.
  return (site === 'cross-site' || site === 'same-site') && headers['sec-fetch-mode'] !== 'navigate'
}

export function isLoopbackAddress(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)
}
