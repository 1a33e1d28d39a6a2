/** The errors of the client: a request that failed, and a run that ended without an answer. */
import type { Problem } from './types.ts'

export interface ClientErrorOptions {
  /** HTTP status; 0 if there was no response. */
  readonly status?: number
  readonly hint?: string
  readonly issues?: Problem['issues']
  readonly traceId?: string
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/** The codes of the client itself; all others come from the server. */
export type ClientCode =
  | 'client/unreachable'
  | 'client/unexpected-response'
  | 'client/output-invalid'
  | 'client/option'

/**
 * A request that was refused or could not be sent. `code` is the code of the server's problem, such as `auth/invalid` or
 * `run/missing`; codes of the client itself begin with `client/`.
 */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
  readonly code: ClientCode | (string & {})
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  /** What to do. */
  readonly hint: string | undefined
  /** Every problem of the request with its location. */
  readonly issues: NonNullable<Problem['issues']>
  /** For the operator of the server: the log has this id. */
  readonly traceId: string | undefined
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(code: string, message: string, options: ClientErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = options.status ?? 0
    this.hint = options.hint
    this.issues = options.issues ?? []
    this.traceId = options.traceId
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Statuses after which the same request may succeed. Requests that change something carry an idempotency key. */
const retryable = new Set([408, 425, 429, 502, 503, 504])

/** Returns whether the same request may succeed later. */
export function isRetryable(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  return (
    error.code === 'client/unreachable' ||
    error.code === 'idempotency/in-flight' ||
    retryable.has(error.status)
  )
}

/** Converts a refused response. Responses that are not of the server, such as pages of proxies, keep their status. */
export async function toClientError(response: Response): Promise<ClientError> {
  const { status } = response
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'))
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs }
  const problem = await readProblem(response)
  if (problem === undefined)
    return new ClientError('client/unexpected-response', `The server answered ${status} without a problem`, {
      status,
      hint: 'Check that `url` is the address of a Proviso server, and what is between it and this program',
      ...wait,
    })
  const { code, detail, hint, issues, traceId } = problem
  return new ClientError(code, detail, { status, hint, traceId, ...(issues && { issues }), ...wait })
}

async function readProblem(response: Response): Promise<Problem | undefined> {
  try {
    const body: unknown = await response.json()
    const isProblem = typeof body === 'object' && body !== null && 'code' in body && 'detail' in body
    return isProblem ? (body as Problem) : undefined
  } catch {
    return undefined
  }
}

/** Reads `Retry-After`: seconds, or a date. Returns milliseconds. */
function readRetryAfter(text: string | null, now = Date.now()): number | undefined {
  if (text === null) return undefined
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
