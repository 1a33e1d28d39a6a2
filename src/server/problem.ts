/** Errors as they leave: RFC 9457 `application/problem+json`. One table says which status each code has, and nothing internal goes along. */
import { type ErrorCode, errorTable, ProvisoError } from '../base/error.ts'
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
  readonly hint: string
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
  'auth/missing': {
    status: 401,
    title: 'A token is needed',
    hint: 'Send the header "Authorization: Bearer pvs_…"; `proviso token create` makes a token',
  },
  'auth/invalid': {
    status: 401,
    title: 'The token is not valid',
    hint: 'Ask for a new token: `proviso token create`',
  },
  'auth/forbidden': {
    status: 403,
    title: 'The token does not allow this',
    hint: 'Use a token whose role may do this',
  },
  'auth/host': {
    status: 421,
    title: 'Development mode answers on loopback names only',
    hint: 'Call it by a loopback name, or start the server with tokens',
  },
  'route/missing': {
    status: 404,
    title: 'There is nothing here',
    hint: 'GET /openapi.json lists every route; check the ids in the path',
  },
  'request/method': {
    status: 405,
    title: 'The method is not allowed here',
    hint: 'Use one of the methods that the header Allow names',
  },
  'request/unreadable': {
    status: 400,
    title: 'The request cannot be read',
    hint: 'Correct what is named; GET /openapi.json says what each route takes',
  },
  'request/invalid': {
    status: 422,
    title: 'The request does not have the form that is asked for',
    hint: 'Look at the issues: each says where and why; GET /openapi.json has the schema',
  },
  'request/too-large': {
    status: 413,
    title: 'The body is too large',
    hint: 'Send less, or ask the operator for a higher limit',
  },
  'request/media-type': {
    status: 415,
    title: 'The body must be JSON',
    hint: 'Send the header "Content-Type: application/json"',
  },
  'request/timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    hint: 'Send the request again over a connection that is fast enough',
  },
  'idempotency/other-body': {
    status: 422,
    title: 'The Idempotency-Key was used with another request',
    hint: 'Use a new key for a new request',
  },
  'idempotency/in-flight': {
    status: 409,
    title: 'The first request with this Idempotency-Key is still going on',
    hint: 'Try again in a moment',
  },
  'rate/limit': {
    status: 429,
    title: 'Too many requests',
    hint: 'Try again after the seconds that Retry-After names',
  },
  'quota/runs': {
    status: 429,
    title: 'Too many runs at once',
    hint: 'Wait until some have ended, or cancel them',
  },
  'server/streams': {
    status: 503,
    title: 'Too many open streams',
    hint: 'Try again later, or read the events page by page',
  },
  'server/stopping': {
    status: 503,
    title: 'The server is shutting down',
    hint: 'Try again in a moment: another one may have taken over',
  },
  internal: {
    status: 500,
    title: 'Something went wrong here',
    hint: 'Tell the operator the traceId: the log of the server has the cause under it',
  },
} as const satisfies Record<string, Row & { readonly hint: string }>

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
  if (status === 503) return refusal(cause.code, title, { hint: later, headers: { 'retry-after': '1' } })
  if (status >= 500) return refusal(cause.code, title, { hint: refusalTable.internal.hint })
  const issues =
    cause.issues ?? (cause.at ? [{ code: cause.code, at: cause.at, message: cause.message }] : [])
  return refusal(cause.code, cause.message, {
    hint: cause.hint,
    ...(issues.length > 0 && { issues }),
  })
}

const later = 'Try again after the seconds that Retry-After names; nothing that was acknowledged is lost'

export const problemType = 'application/problem+json'

export function problemOf(given: Refusal, traceId: string, redactor: Redactor): Problem {
  const { status, title } = rowOf(given.refused)
  const { detail, issues } = given
  const hint = given.hint ?? hintOf(given.refused)
  const problem: Problem = {
    type: `urn:proviso:problem:${given.refused.replace('/', ':')}`,
    title,
    status,
    detail: redactor.text(detail),
    code: given.refused,
    hint: redactor.text(hint),
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

function hintOf(code: RefusalCode | ErrorCode): string {
  return isRefusalCode(code) ? refusalTable[code].hint : errorTable[code].hint
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
  required: ['type', 'title', 'status', 'detail', 'code', 'hint', 'traceId'],
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
