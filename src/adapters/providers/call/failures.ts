/** Classifies failed calls by the errors of the provider's package: one row per kind of failure. */
import { APICallError } from '@ai-sdk/provider'
import { isObject, own } from '../../../base/json.ts'
import type { ModelAnswer } from '../../../domain/ports/provider.ts'
import { broken, codesOf, retryAfterMs, silent, unreachable } from '../../net/connection-failures.ts'
import { refusalIn } from './refusal.ts'

/** Turned away before anything was generated: trying again is safe. */
const refusedEarly: ReadonlySet<number> = new Set([429, 503, 529])
const tooSlow: ReadonlySet<number> = new Set([408, 504, 522, 524])

/** The address itself is wrong. */
const impossible: ReadonlySet<string> = new Set(['ERR_INVALID_URL'])

export interface FailureContext {
  readonly signal: AbortSignal
  /** Milliseconds since 1970, for dates in `Retry-After`. */
  readonly now: () => number
}

/** Never throws, and reveals no more than the provider's message. */
export function failureOf(cause: unknown, { signal, now }: FailureContext): ModelAnswer {
  if (signal.aborted) return { kind: 'cancelled', message: 'The call was cancelled' }
  if (!APICallError.isInstance(cause)) return lost(cause)
  const { statusCode: status, responseHeaders = {}, responseBody } = cause
  const message = `The provider answered ${status ?? 'nothing'}: ${cause.message}`
  if (status === undefined) return lost(cause)
  // The package for Responses takes a refusal for a broken body.
  const refusal = status === 200 ? refusalIn(parsed(responseBody ?? '')) : undefined
  if (refusal !== undefined) return { kind: 'refused', message: refusal, usage: {} }
  if (refusedEarly.has(status) && !isExhausted(cause)) {
    const wait = retryAfterMs(responseHeaders, now())
    return { kind: 'throttled', message, ...(wait !== undefined && { retryAfterMs: wait }) }
  }
  if (tooSlow.has(status)) return { kind: 'timed_out', message }
  const text = textIn(status, responseBody)
  if (text !== undefined) return { kind: 'error', message, text }
  return {
    kind: 'error',
    message,
    ...(isForbidden.has(status) && { hint: keyHint }),
    ...(status >= 300 && status < 500 && { fatal: true }),
  }
}

/** The key is missing, wrong or not for this model: waiting does not help. */
const isForbidden: ReadonlySet<number> = new Set([401, 403])
const keyHint =
  'Set or replace the API key of the provider (such as OPENAI_API_KEY or ANTHROPIC_API_KEY), or choose a model that the key may use'

/** A way of asking for structured output that the server does not know or take; another way may do. */
export function isFormatRefusal(cause: unknown): boolean {
  if (!APICallError.isInstance(cause) || cause.statusCode === undefined) return false
  if (![400, 404, 415, 422, 501].includes(cause.statusCode)) return false
  if (textIn(cause.statusCode, cause.responseBody) !== undefined) return false
  const said = `${cause.message} ${cause.responseBody ?? ''}`
  return /response_?format|json_?schema|json[ _]mode|structured[ _]output|guided|grammar|output_config|response_?schema/i.test(
    said,
  )
}

/** There was no connection, or it broke before an answer began. */
function lost(cause: unknown): ModelAnswer {
  const message = `The provider could not be reached: ${wordsOf(cause)}`
  const codes = codesOf(cause)
  if (codes.some((code) => unreachable.has(code))) return { kind: 'unavailable', message, notSent: true }
  if (codes.some((code) => silent.has(code))) return { kind: 'timed_out', message }
  if (codes.some((code) => broken.has(code))) return { kind: 'unavailable', message }
  return { kind: 'error', message, ...(codes.some((code) => impossible.has(code)) && { fatal: true }) }
}

/** An exhausted quota: waiting does not help. */
function isExhausted(cause: APICallError): boolean {
  return /insufficient_quota|billing/i.test(cause.responseBody ?? '')
}

/** What the model had written when its provider refused it as JSON, or a whole body that is no JSON of the protocol. */
function textIn(status: number, body: string | undefined): string | undefined {
  if (body === undefined) return undefined
  const read = parsed(body)
  if (status === 200) return read === undefined && body.trim() !== '' ? body : undefined
  const error = isObject(read) ? (own(read, 'error') ?? read) : undefined
  if (!isObject(error)) return undefined
  for (const name of ['failed_generation', 'failedGeneration', 'raw_output', 'generated_text']) {
    const text = own(error, name)
    if (typeof text === 'string' && text !== '') return text
  }
  return undefined
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const inner = cause.cause instanceof Error && cause.cause.message ? ` (${cause.cause.message})` : ''
  return `${cause.message}${inner}`
}
