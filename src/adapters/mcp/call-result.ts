/** Reads what a call of an MCP server brought: a value, a failure that the tool reports, or an error of the connection. */
import { isObject, type Json } from '../../base/json.ts'
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import { broken, listErrorCodes, retryAfterMs, unreachable } from '../net/connection-failures.ts'
import { ServerDown } from './mcp-connection.ts'
import type { LostCall } from './questions.ts'

const usage = { calls: 1 } as const

interface End {
  readonly outcome: Outcome
  readonly notApplied?: true
  readonly final?: true
  readonly retryAfterMs?: number
  readonly hint?: string
}

export function ended({ outcome, hint, ...more }: End, message: string, code?: string): AttemptResult {
  const isFree = more.notApplied || outcome === 'throttled' || outcome === 'unavailable'
  const issue = {
    code: code ?? `attempt/${outcome}`,
    at: { pointer: '' },
    message,
    ...(hint !== undefined && { hint }),
  }
  return { outcome, issues: [issue], usage: isFree ? { calls: 0 } : usage, ...more }
}

/** The value of a result: its structured content where the tool has a schema for it, else its content. */
export function readToolResult(
  result: { readonly [name: string]: unknown },
  { isTyped, maxBytes }: { readonly isTyped: boolean; readonly maxBytes: number },
): AttemptResult {
  const {
    content = [],
    structuredContent,
    isError,
  } = result as {
    readonly content?: Json
    readonly structuredContent?: Json
    readonly isError?: boolean
  }
  if (isError)
    return ended({ outcome: 'provider_error' }, `The tool reports: ${toText(content) || 'it failed'}`)
  const untyped = { content, ...(structuredContent !== undefined && { structuredContent }) }
  if (isTyped && structuredContent === undefined)
    // It was executed: a side effect is in doubt, and not simply repeated.
    return ended({ outcome: 'invalid' }, 'The tool has an output schema, and returned no structured content')
  return readValue(isTyped ? (structuredContent ?? null) : untyped, maxBytes)
}

export function readValue(value: Json, maxBytes: number): AttemptResult {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > maxBytes)
    return ended(
      { outcome: 'invalid' },
      `The result must have at most ${maxBytes} bytes, got ${bytes}`,
      'answer/limit',
    )
  return { outcome: 'ok', output: { value }, issues: [], usage }
}

function toText(content: Json): string {
  if (!Array.isArray(content)) return ''
  const texts = content.flatMap((block: Json) =>
    isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
  )
  return texts.join('\n').slice(0, 500)
}

/** Errors of JSON-RPC after which nothing was done, and the same call would fail again: unknown method or tool, bad arguments. */
const refused: ReadonlySet<number> = new Set([-32_600, -32_601, -32_602])

const sdkTimeout = 'REQUEST_TIMEOUT'
const sdkClosed: ReadonlySet<string> = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED', 'SEND_FAILED'])
const sdkBadResult: ReadonlySet<string> = new Set(['INVALID_RESULT', 'UNSUPPORTED_RESULT_TYPE'])

/** `isSent`: the request may have reached the server. */
export function failedCall(
  cause: unknown,
  call: {
    readonly server: string
    readonly isIdempotent: boolean
    readonly isSent: boolean
    readonly now: number
  },
): AttemptResult {
  const words = toMessage(cause)
  if (cause instanceof ServerDown)
    return ended({ outcome: 'unavailable', notApplied: true, retryAfterMs: cause.retryAfterMs }, words)
  const codes = listErrorCodes(cause)
  if (codes.includes('PROVISO_ADDRESS_REFUSED'))
    return ended(
      {
        outcome: 'provider_error',
        notApplied: true,
        final: true,
        hint: 'Add the host to `allow` of the MCP server',
      },
      words,
      'address/refused',
    )
  const status = getStatus(cause)
  if (status !== undefined) return statusEnd(status, cause, call)
  if (!call.isSent || codes.some((code) => unreachable.has(code)))
    return ended(
      { outcome: 'unavailable', notApplied: true },
      `Cannot reach the MCP server "${call.server}": ${words}`,
    )
  const code = isObject(cause) ? (cause as { readonly code?: unknown }).code : undefined
  if (typeof code === 'number' && refused.has(code))
    return ended(
      { outcome: 'provider_error', notApplied: true, final: true },
      `The MCP server refused the call: ${words}`,
    )
  if (isTimeout(cause))
    return ended({ outcome: 'timed_out' }, `The MCP server "${call.server}" took too long: ${words}`)
  if (sdkBadResult.has(String(code)))
    return ended({ outcome: 'invalid' }, `The result of the tool cannot be used: ${words}`)
  if (
    sdkClosed.has(String(code)) ||
    codes.some((each) => broken.has(each)) ||
    /terminated|fetch failed/.test(words)
  )
    return brokenCall(call, words)
  return ended({ outcome: 'provider_error' }, `The MCP server failed: ${words}`)
}

/** The server has not answered, and may have acted: a person decides about a call that may not be repeated. */
export function lostCall(
  { server, isIdempotent }: { readonly server: string; readonly isIdempotent: boolean },
  lost: LostCall,
): AttemptResult {
  if (lost.why === 'long')
    return ended(
      { outcome: 'invalid' },
      `The result of the tool is too long: ${lost.message}`,
      'answer/limit',
    )
  if (lost.why === 'ended') return brokenCall({ server, isIdempotent }, 'the stream ended without an answer')
  return unknownEnd(
    isIdempotent,
    `Cannot answer the MCP server "${server}": it asked while several of its calls were open, without naming one`,
  )
}

/** The server died or the stream broke during the call. */
function brokenCall(
  { server, isIdempotent }: { readonly server: string; readonly isIdempotent: boolean },
  why: string,
): AttemptResult {
  return unknownEnd(
    isIdempotent,
    `The connection to the MCP server "${server}" broke during the call: ${why}`,
  )
}

function unknownEnd(isIdempotent: boolean, message: string): AttemptResult {
  return isIdempotent
    ? ended({ outcome: 'unavailable' }, message)
    : { ...ended({ outcome: 'outcome_unknown' }, message), usage }
}

/** The time limit of the SDK has passed: the server may still be working. */
export function isTimeout(cause: unknown): boolean {
  return isObject(cause) && (cause as { readonly code?: unknown }).code === sdkTimeout
}

function statusEnd(
  status: number,
  cause: unknown,
  { server, now }: { readonly server: string; readonly now: number },
): AttemptResult {
  const message = `The MCP server "${server}" answered ${status}: ${toMessage(cause).slice(0, 300)}`
  if (status === 429 || status === 503) {
    const wait = retryAfterMs(getHeaders(cause), now)
    return ended(
      { outcome: 'throttled', notApplied: true, ...(wait !== undefined && { retryAfterMs: wait }) },
      message,
    )
  }
  // The session is gone: the next call connects again.
  if (status === 404) return ended({ outcome: 'unavailable', notApplied: true }, message)
  if (status === 401 || status === 403)
    return ended(
      {
        outcome: 'provider_error',
        notApplied: true,
        final: true,
        hint: 'Check `headers` or `oauth` of the MCP server',
      },
      message,
    )
  if (status >= 400 && status < 500)
    return ended({ outcome: 'provider_error', notApplied: true, final: true }, message)
  return ended({ outcome: 'provider_error' }, message)
}

function getStatus(cause: unknown): number | undefined {
  const { status, data } = (isObject(cause) ? cause : {}) as {
    readonly status?: unknown
    readonly data?: unknown
  }
  if (typeof status === 'number') return status
  const inner = isObject(data) ? (data as { readonly status?: unknown }).status : undefined
  return typeof inner === 'number' ? inner : undefined
}

function getHeaders(cause: unknown): Readonly<Record<string, string>> {
  const { data } = cause as { readonly data?: { readonly headers?: unknown } }
  const headers = data?.headers
  if (headers instanceof Headers) return Object.fromEntries(headers.entries())
  return isObject(headers) ? (headers as Record<string, string>) : {}
}

function toMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
