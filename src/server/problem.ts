/** Converts errors to RFC 9457 `application/problem+json`. Statuses are in `problem-table.ts`; internal details are left out. */

import type { Socket } from 'node:net'
import { type ErrorCode, errorTable, ProvisoError } from '../base/errors/error.ts'
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { Redactor } from '../domain/redaction/redact.ts'
import type { RegisterIssueCode } from '../plan/index.ts'
import {
  errorStatus,
  type ProblemRow,
  type RefusalCode,
  refusalTable,
  type requestIssueTable,
} from './problem-table.ts'

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** Stable code, `area/reason`. */
  readonly code: RefusalCode | ErrorCode
  /** How to fix it. */
  readonly hint: string
  /** Every problem with its location. */
  readonly issues?: readonly ProblemIssue[]
  readonly traceId: string
}

/** Code of an issue of a problem. Open, because issues of runs have codes of capabilities. */
export type ProblemIssueCode =
  | keyof typeof requestIssueTable
  | RegisterIssueCode
  | RefusalCode
  | ErrorCode
  | (string & {})

export interface ProblemIssue {
  readonly pointer: string
  readonly code: ProblemIssueCode
  readonly message: string
  readonly hint?: string
}

/** Why a request is refused. */
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

/** Converts a thrown error. Errors with status 500 and above show only their title, because messages may contain paths and SQL. */
function toRefusal(cause: unknown): Refusal {
  if (!(cause instanceof ProvisoError)) return refusal('internal', refusalTable.internal.title)
  const { status, title } = errorStatus[cause.code]
  if (cause.code === 'store/replaced' || cause.code === 'store/lost' || cause.code === 'store/corrupt')
    return refusal(cause.code, title, { hint: cause.hint, headers: { 'retry-after': '60' } })
  if (status === 503) return refusal(cause.code, title, { hint: later, headers: { 'retry-after': '1' } })
  if (status >= 500) return refusal(cause.code, title, { hint: refusalTable.internal.hint })
  const issues =
    cause.issues ?? (cause.at ? [{ code: cause.code, at: cause.at, message: cause.message }] : [])
  return refusal(cause.code, cause.message, {
    hint: cause.hint,
    ...(issues.length > 0 && { issues }),
  })
}

const later = 'Retry after the number of seconds in Retry-After; acknowledged writes are kept'

export const problemType = 'application/problem+json'

export function toProblem(given: Refusal, traceId: string, redactor: Redactor): Problem {
  const { status, title } = getRow(given.refused)
  const { detail, issues } = given
  const hint = given.hint ?? getHint(given.refused)
  const problem: Problem = {
    type: `urn:proviso:problem:${given.refused.replace('/', ':')}`,
    title,
    status,
    detail: redactor.text(detail),
    code: given.refused,
    hint: redactor.text(hint),
    ...(issues && { issues: issues.slice(0, mostIssues).map((issue) => toProblemIssue(issue, redactor)) }),
    traceId,
  }
  return problem
}

export function getStatus(given: Refusal): number {
  return getRow(given.refused).status
}

/** Maximum number of issues in a response. */
const mostIssues = 100

function getRow(code: RefusalCode | ErrorCode): ProblemRow {
  return isRefusalCode(code) ? refusalTable[code] : errorStatus[code]
}

function getHint(code: RefusalCode | ErrorCode): string {
  return isRefusalCode(code) ? refusalTable[code].hint : errorTable[code].hint
}

function isRefusalCode(code: RefusalCode | ErrorCode): code is RefusalCode {
  return Object.hasOwn(refusalTable, code)
}

function toProblemIssue({ at, code, message, hint }: Issue, redactor: Redactor): ProblemIssue {
  return {
    pointer: redactor.text('pointer' in at ? at.pointer : ''),
    code,
    message: redactor.text(message),
    ...(hint !== undefined && { hint: redactor.text(hint) }),
  }
}

/** JSON Schema of a problem, for the replies of routes. */
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

// Errors that fastify and Node raise before a route is reached.

const unreadableCode = 'PROVISO_UNREADABLE'

/** Creates an error that fastify passes to its error handler. */
export function unreadable(message: string): Error {
  return Object.assign(new Error(message), { code: unreadableCode })
}

/** Converts fastify's errors to refusals; any other error is one of our own, or a bug. */
export function fromFastify(error: Error & { readonly code?: string }, bodyLimit: number): Refusal {
  switch (error.code) {
    case unreadableCode:
      return refusal('request/unreadable', error.message, {
        hint: 'Send plain JSON in UTF-8',
        issues: [{ code: 'request/json', at: { pointer: '' }, message: error.message }],
      })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refusal('request/too-large', `The body must have at most ${bodyLimit} bytes`, {
        hint: 'Send a smaller body, or ask the operator to raise `limits.bodyBytes`',
        headers: { connection: 'close' },
      })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refusal('request/media-type', 'The content type of the body must be application/json', {
        hint: 'Send the header "Content-Type: application/json"',
        headers: { connection: 'close' },
      })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return refusal('request/unreadable', 'The body length does not match Content-Length', {
        hint: 'Send as many bytes as Content-Length declares, or omit the header',
      })
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return refusal('request/unreadable', 'Cannot decode the path', {
        hint: 'Percent-encode each path segment and keep it below 500 characters',
      })
    default:
      return toRefusal(error)
  }
}

/** Answers connections that send malformed HTTP, oversized headers or incomplete requests. */
export function answerMalformed(
  error: Error & { code?: string },
  socket: Socket,
  { redactor, traceId }: { readonly redactor: Redactor; readonly traceId: string },
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const refused = late
    ? refusal('request/timeout', 'The request took too long to arrive')
    : refusal('request/unreadable', 'Cannot parse the HTTP request, or its headers are larger than 16 KiB')
  const body = JSON.stringify(toProblem(refused, traceId, redactor))
  const lines = [
    `HTTP/1.1 ${late ? '408 Request Timeout' : '400 Bad Request'}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ]
  if (socket.writable) socket.write(lines.join('\r\n'))
  socket.destroy(error)
}
