/** Maps failed calls to outcomes: one row per HTTP status and per network failure. */
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import { broken, listErrorCodes, retryAfterMs, silent, unreachable } from '../net/connection-failures.ts'

interface End {
  readonly outcome: Outcome
  /** Nothing was done, so a retry is safe under a new key. */
  readonly notApplied?: true
  /** Non-retryable: the same call would be refused again. */
  readonly final?: true
}

/** Statuses with a meaning of their own; the others are mapped by class (4xx, 5xx). */
const statusTable: Readonly<Record<number, End>> = {
  408: { outcome: 'timed_out' },
  // The same key may be in progress at the agent.
  409: { outcome: 'provider_error' },
  // Locked, and too early: the next call may succeed.
  423: { outcome: 'provider_error', notApplied: true },
  425: { outcome: 'provider_error', notApplied: true },
  429: { outcome: 'throttled', notApplied: true },
  503: { outcome: 'throttled', notApplied: true },
  504: { outcome: 'timed_out' },
}

const byHundred: Readonly<Record<number, End>> = {
  // Redirects are not followed, and the agent may have done the work before it redirected.
  3: { outcome: 'provider_error' },
  4: { outcome: 'provider_error', notApplied: true, final: true },
  5: { outcome: 'provider_error' },
}

export const usage = { calls: 1 } as const

const agent = 'The agent'

/** A refused or undelivered call costs nothing. */
const free: ReadonlySet<Outcome> = new Set(['throttled', 'unavailable'])

export function statusEnd(
  status: number,
  headers: Readonly<Record<string, string>>,
  said: { readonly text: string; readonly now: number; readonly who?: string },
): AttemptResult {
  const end = statusTable[status] ?? byHundred[Math.floor(status / 100)] ?? { outcome: 'provider_error' }
  const wait = end.outcome === 'throttled' ? retryAfterMs(headers, said.now) : undefined
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  const words = said.text.trim() === '' ? '' : `: ${said.text.trim().slice(0, 300)}`
  const { who = agent } = said
  const result = ended(end, `${who} answered ${status}${redirect}${words}`)
  const hint = who === agent && (status === 401 || status === 403) ? tokenHint : undefined
  return {
    ...result,
    ...(hint && { issues: result.issues.map((issue) => ({ ...issue, hint })) }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  }
}

const tokenHint =
  "Set or replace the agent's token: register it again with `auth.token`, and check that it accepts the signature"

/**
 * Classifies a network error. A call that was not sent had no effect and may be retried. A connection that broke before an
 * answer began may be retried if the agent is `repeatable`, because it is unknown whether the call arrived.
 */
export function failureEnd(
  cause: unknown,
  { repeatable, who = agent }: { readonly repeatable: boolean; readonly who?: string },
): AttemptResult {
  const whom = who.toLowerCase()
  const codes = listErrorCodes(cause)
  const words = toMessage(cause)
  if (codes.includes('PROVISO_ADDRESS_REFUSED')) return refusedAddress(words)
  if (codes.some((code) => unreachable.has(code)))
    return ended({ outcome: 'unavailable', notApplied: true }, `Cannot reach ${whom}: ${words}`)
  if (repeatable && codes.some((code) => broken.has(code)))
    return ended({ outcome: 'unavailable' }, `${who} closed the connection without an answer: ${words}`)
  if (codes.some((code) => silent.has(code)))
    return ended({ outcome: 'timed_out' }, `${who} took too long: ${words}`)
  return ended({ outcome: 'provider_error' }, `The connection to ${whom} broke: ${words}`)
}

export function refusedAddress(message: string, hint?: string): AttemptResult {
  const issue = { code: 'address/refused', at: { pointer: '' }, message, ...(hint !== undefined && { hint }) }
  return { outcome: 'provider_error', issues: [issue], usage: { calls: 0 }, notApplied: true, final: true }
}

export function ended({ outcome, notApplied, final }: End, message: string): AttemptResult {
  return {
    outcome,
    issues: [{ code: `attempt/${outcome}`, at: { pointer: '' }, message }],
    usage: free.has(outcome) ? { calls: 0 } : usage,
    ...(notApplied && { notApplied }),
    ...(final && { final }),
  }
}

function toMessage(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const [first] = cause instanceof AggregateError ? cause.errors : []
  return cause.message || (first instanceof Error ? first.message : cause.name)
}
