/**
 * A call that has ended, in the words of the port: its answer (text, reasoning and usage apart, and the ways of ending told
 * apart), its refusal or its failure.
 */
import type { APICallError, LanguageModelV3GenerateResult, LanguageModelV3Usage } from '@ai-sdk/provider'
import { isObject, own } from '../../../base/json.ts'
import type { CallUsage, ModelAnswer } from '../../../domain/ports/provider.ts'
import { broken, listErrorCodes, retryAfterMs, silent, unreachable } from '../../net/connection-failures.ts'

/** What a call has brought, whole or piece by piece. */
export interface Gathered {
  readonly text: string
  /** Arguments of a tool call: some servers answer structured requests that way. */
  readonly toolText: string
  readonly reasoning: string
  readonly refusal: string
  readonly finish: string
  readonly usage: CallUsage
}

export function gather(result: LanguageModelV3GenerateResult): Gathered {
  let [text, toolText, reasoning] = ['', '', '']
  for (const part of result.content) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'reasoning') reasoning += part.text
    else if (part.type === 'tool-call') toolText = part.input
  }
  return {
    text,
    toolText,
    reasoning,
    refusal: refusalIn(result.response?.body) ?? '',
    finish: result.finishReason.unified,
    usage: toCallUsage(result.usage),
  }
}

export function toModelAnswer(gathered: Gathered): ModelAnswer {
  const { usage, reasoning, refusal, finish } = gathered
  const text = gathered.text.trim() === '' && gathered.toolText !== '' ? gathered.toolText : gathered.text
  if (refusal !== '') return { kind: 'refused', message: refusal, usage }
  if (finish === 'content-filter')
    return { kind: 'refused', message: text || 'The provider withheld the answer', usage }
  if (finish === 'error')
    return { kind: 'error', message: 'The model stopped with an error', ...(text !== '' && { text }), usage }
  return {
    kind: 'text',
    text,
    finish: finish === 'length' ? 'length' : finish === 'cut' ? 'cut' : 'stop',
    usage,
    ...(reasoning !== '' && { reasoning }),
  }
}

export function toCallUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): CallUsage {
  return {
    ...counted('inputTokens', inputTokens.total),
    ...counted('outputTokens', outputTokens.total),
  }
}

/** Servers that count nothing send nothing, or what is no number. */
function counted(name: 'inputTokens' | 'outputTokens', count: number | undefined): CallUsage {
  return count !== undefined && Number.isFinite(count) ? { [name]: count } : {}
}

// Failed calls, by the errors of the provider's package: one row per kind of failure.

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

/** Its class is marked with this symbol in every copy and version of the package, which is not loaded for the check. */
const apiCallError = Symbol.for('vercel.ai.error.AI_APICallError')

/** What the package cannot say to its provider, such as a file of some type. */
const unsupported = Symbol.for('vercel.ai.error.AI_UnsupportedFunctionalityError')

function isApiCallError(cause: unknown): cause is APICallError {
  return isObject(cause) && apiCallError in cause
}

/** Never throws, and reveals no more than the provider's message. */
export function toFailureAnswer(cause: unknown, { signal, now }: FailureContext): ModelAnswer {
  if (signal.aborted) return { kind: 'cancelled', message: 'The call was cancelled' }
  if (isObject(cause) && unsupported in cause)
    return { kind: 'error', message: getMessage(cause), fatal: true }
  if (!isApiCallError(cause)) return lost(cause)
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
  if (!isApiCallError(cause) || cause.statusCode === undefined) return false
  if (![400, 404, 415, 422, 501].includes(cause.statusCode)) return false
  if (textIn(cause.statusCode, cause.responseBody) !== undefined) return false
  const said = `${cause.message} ${cause.responseBody ?? ''}`
  return /response_?format|json_?schema|json[ _]mode|structured[ _]output|guided|grammar|output_config|response_?schema/i.test(
    said,
  )
}

/** There was no connection, or it broke before an answer began. */
function lost(cause: unknown): ModelAnswer {
  const message = `The provider could not be reached: ${getMessage(cause)}`
  const codes = listErrorCodes(cause)
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

function getMessage(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const inner = cause.cause instanceof Error && cause.cause.message ? ` (${cause.cause.message})` : ''
  return `${cause.message}${inner}`
}

// Refusals of OpenAI's wire formats, which the packages leave in the raw body: chat, Responses, and both as streams.

/** The words of the refusal in one body or one raw chunk; `undefined` if it is not a refusal. */
export function refusalIn(raw: unknown): string | undefined {
  if (!isObject(raw)) return undefined
  return inChoices(own(raw, 'choices')) ?? inOutput(own(raw, 'output')) ?? inEvent(raw)
}

function inChoices(choices: unknown): string | undefined {
  const [first] = Array.isArray(choices) ? choices : []
  if (!isObject(first)) return undefined
  for (const part of [own(first, 'message'), own(first, 'delta')]) {
    const refusal = isObject(part) ? own(part, 'refusal') : undefined
    if (typeof refusal === 'string' && refusal !== '') return refusal
  }
  return undefined
}

function inOutput(output: unknown): string | undefined {
  if (!Array.isArray(output)) return undefined
  for (const item of output) {
    const content = isObject(item) ? own(item, 'content') : undefined
    for (const part of Array.isArray(content) ? content : []) {
      const refusal = isObject(part) && own(part, 'type') === 'refusal' ? own(part, 'refusal') : undefined
      if (typeof refusal === 'string') return refusal
    }
  }
  return undefined
}

function inEvent(raw: Record<string, unknown>): string | undefined {
  const delta = own(raw, 'type') === 'response.refusal.delta' ? own(raw, 'delta') : undefined
  return typeof delta === 'string' ? delta : undefined
}
