/**
 * Reads a request. From its first line: its trace, its caller, and the browser-facing headers of its response (security
 * headers, and CORS for the origins on the allowlist). Then path, query and body, validated by the schemas of the route.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, own, setOwn } from '../../base/json.ts'
import { takeRandomBytes } from '../../base/random.ts'
import { describeNames } from '../../domain/parse/parsed.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { anonymous } from '../auth/authenticate.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Caller, Route } from '../route.ts'

export interface Known {
  readonly traceId: string
  /** Headers of every response: security headers and CORS. */
  readonly headers: Readonly<Record<string, string>>
  caller: Caller
  rawBody: Uint8Array
  /** Call it when the request is accepted: others may be handled. */
  onAccepted: () => void
}

/** Where a request has its context: a map of all requests would cost each collection of garbage more. */
export const contextOf = Symbol('context')

type Request = FastifyRequest & { [contextOf]?: Known | null }

/** Returns a function that finds or creates the context of a request. */
export function createRequestContexts(cors: readonly string[]): (request: FastifyRequest) => Known {
  const headers = { ...securityHeaders, ...corsHeaders(undefined, cors) }
  return (request: Request) => {
    const found = request[contextOf]
    if (found) return found
    const { origin } = request.headers
    const traceparent = request.headers['traceparent']
    const fresh: Known = {
      traceId: readTraceId(typeof traceparent === 'string' ? traceparent : undefined),
      headers: origin === undefined ? headers : { ...securityHeaders, ...corsHeaders(origin, cors) },
      caller: anonymous,
      rawBody: new Uint8Array(),
      onAccepted: () => {},
    }
    request[contextOf] = fresh
    return fresh
  }
}

/** Returns the trace id in `traceparent` (W3C Trace Context), or a new one if it is absent or invalid. */
export function readTraceId(traceparent: string | undefined): string {
  const [, given] = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent ?? '') ?? []
  if (given !== undefined && !/^0+$/.test(given)) return given
  return Buffer.from(takeRandomBytes(16)).toString('hex')
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

interface Parts {
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: Json }
  readonly body: Json
}

interface GivenParts {
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: string | readonly string[] }
  readonly body: Json
}

const nothing = { type: 'object', additionalProperties: false } as const

export function readParts(route: Route, given: GivenParts): Parts | Refusal {
  const query = readQuery(given.query, route.query ?? nothing)
  const wrong = [
    ...findIssues(route.params ?? true, given.params, 'the path'),
    ...findIssues(route.query ?? nothing, query, 'the query'),
  ]
  if (wrong.length > 0) return refuseIssues('request/unreadable', wrong)
  const inBody =
    route.body === undefined ? checkEmptyBody(given.body) : findIssues(route.body, given.body, 'the body')
  if (inBody.length > 0) return refuseIssues('request/invalid', inBody)
  return { params: given.params, query, body: given.body }
}

/** Converts query strings to numbers, booleans or lists where the schema asks for them and the conversion is exact. */
function readQuery(given: GivenParts['query'], schema: JsonSchema): { [name: string]: Json } {
  const shapes = isObject(schema) ? own(schema, 'properties') : undefined
  const query: { [name: string]: Json } = {}
  for (const [name, value] of Object.entries(given)) {
    const shape = isObject(shapes) ? own(shapes, name) : undefined
    setOwn(query, name, readValue(value, isObject(shape) ? own(shape, 'type') : undefined))
  }
  return query
}

function readValue(value: string | readonly string[], type: unknown): Json {
  if (type === 'array') return typeof value === 'string' ? [value] : value
  if (typeof value !== 'string') return value
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

export function findIssues(schema: JsonSchema, value: unknown, part: string): Issue[] {
  return compileSchema(schema)
    .validate(value)
    .map((issue) => ({ ...issue, ...namesFor(schema, issue), message: `${part}: ${issue.message}` }))
}

/** A caller cannot change the schema of the request. */
function namesFor(schema: JsonSchema, { code, hint, at }: Issue): Pick<Issue, 'hint'> {
  if (code !== 'schema/additionalProperties' || hint?.startsWith('Did you mean')) return {}
  // The body that starts a run is closed only if it has an envelope.
  const closed = isObject(schema) && isObject(schema['then']) ? (schema['then'] as JsonSchema) : schema
  return { hint: describeNames(closed, 'pointer' in at ? at.pointer : '') ?? 'Remove it' }
}

function checkEmptyBody(body: Json): Issue[] {
  if (body === null) return []
  return [{ code: 'request/body', at: { pointer: '' }, message: 'the body: must be empty' }]
}

export function refuseIssues(
  code: 'request/unreadable' | 'request/invalid',
  issues: readonly Issue[],
): Refusal {
  return refusal(code, formatMessage(issues), { issues })
}

/** Formats the first issue with its location, for clients that show only the message. */
function formatMessage([first, ...others]: readonly Issue[]): string {
  if (first === undefined) return ''
  const pointer = 'pointer' in first.at ? first.at.pointer : ''
  const more = others.length > 0 ? ` (and ${others.length} more)` : ''
  return `${first.message}${pointer === '' ? '' : `, at ${pointer}`}${more}`
}

// Parses the body as JSON. Limits the nesting depth and refuses keys that could change prototypes.

/** Maximum nesting depth of a body. */
const bodyDepth = 100

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses the bytes of a body; an empty body is `null`. */
export function readBody(bytes: Uint8Array): { readonly value: Json } | { readonly unreadable: string } {
  if (bytes.length === 0) return { value: null }
  let value: Json
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8'
    return { unreadable: `The body is not JSON: ${why}` }
  }
  const wrong = findForbidden(value)
  return wrong === undefined ? { value } : { unreadable: wrong }
}

function findForbidden(value: Json): string | undefined {
  const stack: { value: Json; depth: number }[] = [{ value, depth: 0 }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (typeof visit.value !== 'object' || visit.value === null) continue
    if (visit.depth >= bodyDepth) return `The body must be nested at most ${bodyDepth} levels deep`
    if (Object.hasOwn(visit.value, '__proto__')) return 'The body must not have a key "__proto__"'
    for (const member of Object.values<Json>(visit.value))
      stack.push({ value: member, depth: visit.depth + 1 })
  }
  return undefined
}
