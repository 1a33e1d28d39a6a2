/** Errors as they leave: RFC 9457 `application/problem+json`. One table says which status each code has, and nothing internal goes along. */
import { type ErrorCode, ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import type { Redactor } from '../domain/redact.ts'

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** Stable name, `room/what`. */
  readonly code: string
  /** What to do about it. */
  readonly hint?: string
  /** Every problem with its place. */
  readonly issues?: readonly ProblemIssue[]
  readonly traceId: string
}

export interface ProblemIssue {
  readonly pointer: string
  readonly code: string
  readonly message: string
  readonly hint?: string
}

interface Row {
  readonly status: number
  readonly title: string
}

/** What the server itself refuses. */
export const refusalTable = {
  'auth/missing': { status: 401, title: 'A token is needed' },
  'auth/invalid': { status: 401, title: 'The token is not valid' },
  'auth/forbidden': { status: 403, title: 'The token does not allow this' },
  'auth/host': { status: 421, title: 'Development mode answers on loopback names only' },
  'route/missing': { status: 404, title: 'There is nothing here' },
  'request/unreadable': { status: 400, title: 'The request cannot be read' },
  'request/invalid': { status: 422, title: 'The request does not have the form that is asked for' },
  'request/too-large': { status: 413, title: 'The body is too large' },
  'request/media-type': { status: 415, title: 'The body must be JSON' },
  'request/timeout': { status: 408, title: 'The request took too long to arrive' },
  'idempotency/other-body': { status: 422, title: 'The Idempotency-Key was used with another request' },
  'idempotency/in-flight': {
    status: 409,
    title: 'The first request with this Idempotency-Key is still going on',
  },
  'rate/limit': { status: 429, title: 'Too many requests' },
  'quota/runs': { status: 429, title: 'Too many runs at once' },
  'server/streams': { status: 503, title: 'Too many open streams' },
  'server/stopping': { status: 503, title: 'The server is shutting down' },
  internal: { status: 500, title: 'Something went wrong here' },
} as const satisfies Record<string, Row>

/** What comes of the errors of the rooms below. */
export const errorStatus: Readonly<Record<ErrorCode, Row>> = {
  'schema/invalid': { status: 422, title: 'The schema cannot be used' },
  'schema/limit': { status: 422, title: 'The schema is beyond a limit' },
  'json/unrepresentable': { status: 422, title: 'The value is not plain JSON' },
  'output/invalid': { status: 422, title: 'The value does not satisfy the schema' },
  'option/invalid': { status: 422, title: 'A setting of the request cannot be used' },
  'pool/full': { status: 503, title: 'Too much to read at once' },
  'pool/closed': { status: 503, title: 'The server is shutting down' },
  'pool/broken': { status: 500, title: 'Something went wrong here' },
  'envelope/invalid': { status: 422, title: 'The envelope cannot be used' },
  'capability/missing': { status: 409, title: 'Nobody here can do what the run needs' },
  'draft/invalid': { status: 422, title: 'The draft cannot be used' },
  'run/missing': { status: 404, title: 'There is no such run' },
  'run/exists': { status: 409, title: 'There is such a run already' },
  'run/state': { status: 409, title: 'The run does not stand so that this could be done' },
  'run/busy': { status: 503, title: 'Others write to the run all the time' },
  'plan/stale-version': { status: 409, title: 'The run has a newer plan' },
  'policy/unknown': { status: 404, title: 'There is no such policy' },
  'ask/unknown': { status: 404, title: 'There is no such ask' },
  'ask/resolved': { status: 409, title: 'The ask has been answered' },
  'ask/expired': { status: 409, title: 'The ask has expired' },
  'ask/stale': { status: 409, title: 'The reply is about another value' },
  'ask/invalid': { status: 422, title: 'The reply cannot be used' },
  'capability/invalid': { status: 422, title: 'The registration cannot be used' },
  'capability/taken': { status: 409, title: 'The name belongs to somebody else' },
  'capability/limit': { status: 429, title: 'The tenant has too many registrations' },
  'capability/unregistered': { status: 404, title: 'There is no such registration' },
  'capability/forbidden': { status: 403, title: 'The token is not for this capability' },
  'capability/secret-key': { status: 409, title: 'The server cannot keep or read secrets of agents' },
  'callback/unknown': { status: 404, title: 'There is no such call' },
  'callback/forged': { status: 401, title: 'The signature is not valid' },
  'callback/replayed': { status: 409, title: 'The nonce was used before' },
  'callback/settled': { status: 409, title: 'The attempt is over' },
  'agents/off': { status: 404, title: 'This server works with no agents over HTTP' },
  'engine/closed': { status: 503, title: 'The server is shutting down' },
  'store/locked': { status: 503, title: 'The store is not available' },
  'store/newer': { status: 503, title: 'The store is not available' },
  'store/unavailable': { status: 503, title: 'The store is not available' },
  'store/corrupt': { status: 500, title: 'Something went wrong here' },
  'store/closed': { status: 503, title: 'The server is shutting down' },
  'stream/full': { status: 503, title: 'Too many open streams' },
  aborted: { status: 503, title: 'The request was given up' },
}

export type RefusalCode = keyof typeof refusalTable

/** Why a request is not answered as it was meant. */
export interface Refusal {
  readonly refused: RefusalCode | ErrorCode
  readonly detail: string
  readonly hint?: string
  readonly issues?: readonly Issue[]
  readonly headers?: { readonly [name: string]: string }
}

export function refusal(
  refused: RefusalCode | ErrorCode,
  detail: string,
  more: Omit<Refusal, 'refused' | 'detail'> = {},
): Refusal {
  return { refused, detail, ...more }
}

/** What a thrown error says to the outside. From 500 on only the title: messages may hold paths and SQL. */
export function refusalOf(cause: unknown): Refusal {
  if (!(cause instanceof ProvisoError)) return refusal('internal', refusalTable.internal.title)
  const { status, title } = errorStatus[cause.code]
  const headers = status === 503 ? { 'retry-after': '1' } : {}
  if (status >= 500) return refusal(cause.code, title, { headers })
  const issues =
    cause.issues ?? (cause.at ? [{ code: cause.code, at: cause.at, message: cause.message }] : [])
  return refusal(cause.code, cause.message, {
    ...(cause.hint !== undefined && { hint: cause.hint }),
    ...(issues.length > 0 && { issues }),
  })
}

export const problemType = 'application/problem+json'

export function problemOf(given: Refusal, traceId: string, redactor: Redactor): Problem {
  const { status, title } = rowOf(given.refused)
  const { detail, hint, issues } = given
  const problem: Problem = {
    type: `urn:proviso:problem:${given.refused.replace('/', ':')}`,
    title,
    status,
    detail: redactor.text(detail),
    code: given.refused,
    ...(hint !== undefined && { hint: redactor.text(hint) }),
    ...(issues && { issues: issues.slice(0, mostIssues).map((issue) => issueOf(issue, redactor)) }),
    traceId,
  }
  return problem
}

export function statusOf(given: Refusal): number {
  return rowOf(given.refused).status
}

/** More do not help anybody. */
const mostIssues = 100

function rowOf(code: RefusalCode | ErrorCode): Row {
  return isRefusalCode(code) ? refusalTable[code] : errorStatus[code]
}

function isRefusalCode(code: RefusalCode | ErrorCode): code is RefusalCode {
  return Object.hasOwn(refusalTable, code)
}

function issueOf({ at, code, message, hint }: Issue, redactor: Redactor): ProblemIssue {
  return {
    pointer: redactor.text('pointer' in at ? at.pointer : ''),
    code,
    message: redactor.text(message),
    ...(hint !== undefined && { hint: redactor.text(hint) }),
  }
}

/** As a route's reply may declare it. */
export const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'traceId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string' },
    hint: { type: 'string' },
    issues: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'message'],
        properties: {
          pointer: { type: 'string' },
          code: { type: 'string' },
          message: { type: 'string' },
          hint: { type: 'string' },
        },
      },
    },
    traceId: { type: 'string' },
  },
} as const satisfies Json
