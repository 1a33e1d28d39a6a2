/**
 * Calls agents over HTTP: signed, protected against SSRF, within limits. An agent answers at once, as a stream, or returns 202
 * and calls back. Everything it sends is untrusted and is parsed by the reader.
 */

import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Clock } from '../../base/time/clock.ts'
import { signatureHeaders as names, type Signed, sign } from '../../domain/capability/call-signature.ts'
import { type Endpoint, endpointSecrets, liveSecrets } from '../../domain/capability/endpoint.ts'
import type { Capability } from '../../domain/capability.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import { type ParseText, parseHere } from '../../domain/ports/parse-text.ts'
import { createRedactor } from '../../domain/redaction/redact.ts'
import { watchStream } from '../models/generate/stream-watch.ts'
import type { AddressFilter } from '../net/address-filter.ts'
import { callIdOf, type PendingCallbacks } from './callbacks.ts'
import { ended, failureEnd, refusedAddress, statusEnd, usage } from './http-failures.ts'
import type { NodePartial } from './model.ts'
import { readAnswer, readArriving, readAskedText, readPosted } from './read-answer.ts'

export interface HttpDispatcherOptions {
  readonly addressFilter: AddressFilter
  readonly clock: Clock
  /** Returns the endpoint of an agent; `undefined` if it is not registered. */
  readonly findEndpoint: (agent: {
    readonly tenant: string
    readonly capability: Pick<Capability, 'capabilityId'>
  }) => Endpoint | undefined
  readonly callbacks: PendingCallbacks
  /** Public URL of this server; without it, agents must answer synchronously. */
  readonly callbackBase?: () => string | undefined
  /** Maximum answer size in bytes. Default 1 MiB. */
  readonly maxBytes?: number
  /** Timeout of a synchronous answer. Default 2 minutes. */
  readonly timeoutMs?: number
  /** Timeout of a callback, for nodes without their own. Default 1 hour. */
  readonly callbackMs?: number
  /** Reads the answers. Default: on this thread. */
  readonly parseText?: ParseText
  /** If set, receives partial values. */
  readonly onPartial?: (partial: NodePartial) => void
  /** The same for the nodes of one run; asked at the start of every call. */
  readonly listenerOf?: (runId: string) => ((partial: NodePartial) => void) | undefined
}

export function httpDispatcher(options: HttpDispatcherOptions): Dispatcher {
  const { addressFilter, clock, callbacks, parseText = parseHere } = options
  const { timeoutMs = 120_000, callbackMs = 3_600_000, maxBytes = 1_048_576 } = options
  return {
    kind: 'http',
    remote: true,
    plain: true,
    async dispatch(call) {
      const { tenant = 'default', capability } = call
      const endpoint = endpointOr(() => options.findEndpoint({ tenant, capability }))
      if (typeof endpoint === 'string') return never(endpoint)
      if (endpoint === undefined)
        return never(`Cannot call "${capability.capabilityId}": it has no registered endpoint`)
      const secrets = liveSecrets(endpoint, clock.now())
      if (secrets.length === 0)
        return never(`Cannot call "${capability.capabilityId}": it has no valid signing key`)
      const { url, bearer } = endpoint
      const callbackBase = options.callbackBase?.()
      const wrong = addressFilter.check(url)
      if (wrong) return refusedAddress(wrong.message, wrong.hint)
      const early =
        call.attempt > 1 || call.repeated ? await callbacks.earlier(call.idempotencyKey) : undefined
      const sent = async (signal: AbortSignal): Promise<AttemptResult | 'later'> => {
        const parts = callParts(call, {
          secrets,
          now: clock.now(),
          ...(bearer !== undefined && { bearer }),
          ...(callbackBase !== undefined && { callbackBase }),
        })
        return send(call, {
          ...parts,
          url,
          signal,
          addressFilter,
          clock,
          maxBytes,
          parseText,
          onPartial: options.onPartial ?? options.listenerOf?.(call.runId),
        })
      }
      const later = async (signal: AbortSignal) => {
        if (callbackBase === undefined)
          return ended(
            { outcome: 'provider_error' },
            'The agent wants to call back, but this app has no callbackUrl',
          )
        const posted = await callbacks.wait(call.idempotencyKey, signal)
        if (posted === undefined) return call.signal.aborted ? stopped : silence
        return readPosted(posted, { ...call, parseText })
      }
      const within = limiter(call, clock)
      const waitForCallback = () => {
        const now = clock.now()
        const deadlineAt = Math.min(now + callbackMs, call.deadlineAt ?? Number.POSITIVE_INFINITY)
        if (callbackBase !== undefined) call.onAccepted?.({ deadlineAt })
        return within(Math.max(deadlineAt - now, 0), later)
      }
      let result =
        early === undefined
          ? await within(endpoint.timeoutMs ?? timeoutMs, sent)
          : await readPosted(early, { ...call, parseText })
      if (result === 'later') result = await waitForCallback()
      return withoutSecrets(result, endpointSecrets(endpoint))
    },
    async resume(call) {
      const { tenant = 'default', capabilityId, idempotencyKey, deadlineAt } = call
      const late = new AbortController()
      const cancelTimer = clock.timer(deadlineAt, () => late.abort())
      const signal = AbortSignal.any([call.signal, late.signal])
      const posted = await callbacks.wait(idempotencyKey, signal).finally(cancelTimer)
      if (posted === undefined) return undefined
      const endpoint = endpointOr(() => options.findEndpoint({ tenant, capability: { capabilityId } }))
      const secrets = typeof endpoint === 'object' ? endpointSecrets(endpoint) : []
      return withoutSecrets(await readPosted(posted, { ...call, parseText }), secrets)
    },
  }
}

/** Status of an agent that asks a question first: Precondition Required. */
const asksFirst = 428

interface Sending {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly signal: AbortSignal
  readonly addressFilter: AddressFilter
  readonly clock: Clock
  readonly maxBytes: number
  readonly parseText: ParseText
  readonly onPartial: HttpDispatcherOptions['onPartial']
}

async function send(call: Dispatch, sending: Sending): Promise<AttemptResult | 'later'> {
  const { url, headers, body, signal, addressFilter, maxBytes, parseText } = sending
  const { request } = await import('undici')
  const response = await request(url, {
    method: 'POST',
    headers,
    body,
    signal,
    dispatcher: await addressFilter.connections(),
    // The caller's signal limits the time of the whole answer.
    headersTimeout: 0,
    bodyTimeout: 0,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause
    return failureEnd(cause, { repeatable: call.capability.idempotent })
  })
  if ('outcome' in response) return response
  const { statusCode: status } = response
  const said = plain(response.headers)
  const arriving = {
    type: said['content-type'] ?? '',
    encoding: said['content-encoding'] ?? '',
    body: response.body,
  }
  if (status === 202) {
    await response.body.dump()
    return 'later'
  }
  if (status === asksFirst) {
    const arrived = await readArriving({ ...arriving, type: '' }, { maxBytes })
    return 'end' in arrived ? arrived.end : readAskedText(arrived.text)
  }
  if (status < 200 || status > 299) {
    const words = await readArriving({ ...arriving, type: '' }, { maxBytes: shortest })
    return statusEnd(status, said, { text: 'text' in words ? words.text : '', now: sending.clock.now() })
  }
  const arrived = await readArriving(arriving, { maxBytes, onText: watcher(call, sending.onPartial) })
  return 'end' in arrived ? arrived.end : readAnswer(arrived.text, { ...call, parseText }, usage)
}

/** Maximum bytes read from an error response. */
const shortest = 4_096

/** A RAO envelope is not streamed as a value. */
function watcher(
  { runId, nodeId, attempt, bundle, rao, linearPatterns }: Dispatch,
  onPartial: HttpDispatcherOptions['onPartial'],
) {
  if (onPartial === undefined || rao) return undefined
  const watch = watchStream({
    schema: bundle.returns,
    onPartial: (partial) => onPartial({ ...partial, runId, nodeId, attempt }),
    final: false,
    linearPatterns,
  })
  return (textChunk: string) => void watch.push(textChunk)
}

const stopped = ended({ outcome: 'cancelled' }, 'The call was cancelled')
const silence = ended({ outcome: 'timed_out' }, 'The agent did not call back in time')

/** Runs one part of a call within its timeout; the reason of the abort decides the outcome. */
function limiter(call: Dispatch, clock: Clock) {
  return async <T>(ms: number, part: (signal: AbortSignal) => Promise<T>): Promise<T | AttemptResult> => {
    const late = new AbortController()
    const takeBack = clock.timer(clock.now() + ms, () => late.abort(new Error('Too late')))
    try {
      return await part(AbortSignal.any([call.signal, late.signal]))
    } catch (cause) {
      if (call.signal.aborted) return stopped
      if (late.signal.aborted)
        return ended({ outcome: 'timed_out' }, `The agent did not answer within ${ms} ms`)
      return failureEnd(cause, { repeatable: false })
    } finally {
      takeBack()
    }
  }
}

/** Opens the endpoint before anything is sent; returns the reason if it cannot be opened. */
function endpointOr(open: () => Endpoint | undefined): Endpoint | string | undefined {
  try {
    return open()
  } catch (cause) {
    if (cause instanceof ProvisoError) return `${cause.message}. ${cause.hint ?? ''}`.trim()
    throw cause
  }
}

function never(message: string): AttemptResult {
  return { ...ended({ outcome: 'provider_error', notApplied: true }, message), usage: { calls: 0 } }
}

function plain(headers: { readonly [name: string]: string | string[] | undefined }): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}

/** Redacts the agent's own keys, which it may echo. */
function withoutSecrets(result: AttemptResult, secrets: readonly string[]): AttemptResult {
  const text = JSON.stringify({ issues: result.issues, output: result.output })
  const clean = createRedactor({ secrets }).text(text)
  return clean === text ? result : { ...result, ...JSON.parse(clean) }
}

interface CallParts {
  readonly body: string
  readonly headers: { readonly [name: string]: string }
}

interface CallContext {
  readonly secrets: readonly string[]
  readonly bearer?: string
  /** Public URL of this server; without it, agents must answer synchronously. */
  readonly callbackBase?: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Builds the request to an agent: the body, and headers that identify the caller and the attempt. */
function callParts(call: Dispatch, { secrets, bearer, callbackBase, now }: CallContext): CallParts {
  const { runId, nodeId, attempt, capability, bundle, rao, idempotencyKey } = call
  const body = JSON.stringify({
    runId,
    nodeId,
    attempt,
    capabilityId: capability.capabilityId,
    ...bundle,
    ...(rao && { rao }),
    ...callback(callbackBase, call),
  })
  const nonce = randomBytes(16).toString('hex')
  const signed: Signed = { timestamp: String(Math.floor(now / 1_000)), nonce, runId, nodeId, attempt, body }
  return {
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream, text/plain',
      // The response is limited by counting bytes, which compression would defeat.
      'accept-encoding': 'identity',
      'user-agent': 'proviso',
      'idempotency-key': idempotencyKey,
      traceparent: call.trace?.traceparent ?? toTraceparent(call),
      [names.timestamp]: signed.timestamp,
      [names.nonce]: nonce,
      [names.runId]: encodeURIComponent(runId),
      [names.nodeId]: encodeURIComponent(nodeId),
      [names.attempt]: String(attempt),
      [names.signature]: sign(signed, secrets),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
  }
}

/** Maximum length of a URL segment; a node with a longer id must be answered synchronously. */
const longestId = 500

function callback(base: string | undefined, call: Dispatch): { callbackUrl?: string } {
  const callId = callIdOf(call)
  if (base === undefined || callId.length > longestId) return {}
  return { callbackUrl: `${base.replace(/\/+$/, '')}/api/v1/flex/callbacks/${callId}` }
}

/** Without tracing, all calls of a run still share one trace: its id is derived from the run id. */
function toTraceparent({ runId, nodeId, attempt }: Dispatch): string {
  const parentId = sha256Hex(JSON.stringify([runId, nodeId, attempt])).slice(0, 16)
  return `00-${sha256Hex(runId).slice(0, 32)}-${parentId}-01`
}
