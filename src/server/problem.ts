/** Errors as they leave: RFC 9457 `application/problem+json`. `problem-table.ts` says which status each code has, and nothing internal goes along. */
import { type ErrorCode, errorTable, ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import type { Redactor } from '../domain/redact.ts'
import { errorStatus, type ProblemRow, type RefusalCode, refusalTable } from './problem-table.ts'

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

function rowOf(code: RefusalCode | ErrorCode): ProblemRow {
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
