/**
 * Calls agents over HTTP: signed, protected against SSRF, within limits. An agent answers at once, as a stream, or returns 202
 * and calls back; agents that cannot be called take their calls from a queue. Everything it sends is untrusted and is parsed by the reader.
 */

import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { RunMovedOn } from '../../base/stop.ts'
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
import { formatCallId, type PendingCallbacks } from './callbacks.ts'
import { ended, failureEnd, refusedAddress, statusEnd, usage } from './http-failures.ts'
import type { NodePartial } from './model.ts'
import { readAnswer, readArriving, readAskedText, readPosted } from './read-answer.ts'
import { callWorker, type WorkerCallOptions, waitForWorker } from './worker-call.ts'
import type { WorkerQueue } from './worker-queue.ts'

export interface HttpDispatcherOptions {
  readonly addressFilter: AddressFilter
  readonly clock: Clock
  /** Awaited before a call: another process may have a new address or key of the agent. */
  readonly update?: (tenant: string) => Promise<void>
  /** Returns the endpoint of an agent; `undefined` if it is not registered. */
  readonly findEndpoint: (agent: {
    readonly tenant: string
    readonly capability: Pick<Capability, 'capabilityId'>
  }) => Endpoint | undefined
  readonly callbacks: PendingCallbacks
  /** Calls that workers take. */
  readonly workers: WorkerQueue
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
  readonly findListener?: (runId: string) => ((partial: NodePartial) => void) | undefined
}

interface AgentName {
  readonly tenant?: string | undefined
  readonly capabilityId: string
}

export function httpDispatcher(options: HttpDispatcherOptions): Dispatcher {
  const { addressFilter, clock, callbacks, workers, parseText = parseHere } = options
  const { timeoutMs = 120_000, callbackMs = 3_600_000, maxBytes = 1_048_576 } = options
  const findEndpoint = ({ tenant = 'default', capabilityId }: AgentName) =>
    endpointOr(() => options.findEndpoint({ tenant, capability: { capabilityId } }))
  /** Cancels an accepted call that the run no longer needs. After other aborts, another process waits for the call, or it is repeated. */
  const cancel = async (call: AcceptedCall) => {
    if (!(call.signal.reason instanceof RunMovedOn)) return
    const endpoint = findEndpoint(call)
    if (typeof endpoint === 'object') await sendCancellation(call, endpoint, { addressFilter, clock })
  }
  const listenTo = (call: Dispatch, endpoint: Endpoint) =>
    hideSecrets(options.onPartial ?? options.findListener?.(call.runId), endpointSecrets(endpoint))
  const waiting = { queue: workers, callbacks, clock, parseText }
  const dispatchToWorker = async (call: Dispatch, endpoint: Endpoint): Promise<AttemptResult> => {
    const wrong = whyNoWorker(call)
    if (wrong !== undefined) return never(wrong)
    const result = await callWorker(call, {
      ...waiting,
      body: callBody(call),
      timeoutMs: endpoint.timeoutMs ?? timeoutMs,
      deadlineAt: Math.min(clock.now() + callbackMs, call.deadlineAt ?? Number.POSITIVE_INFINITY),
      onText: watcher(call, listenTo(call, endpoint)),
    })
    return result ?? (call.signal.aborted ? stopped : silence)
  }
  const resume = createResume({ ...waiting, timeoutMs, cancel, findEndpoint })
  return {
    kind: 'http',
    remote: true,
    plain: true,
    async dispatch(call) {
      const { tenant, capability } = call
      // If the store does not answer, the agent is called as it is known here.
      await options.update?.(tenant ?? 'default').catch(() => {})
      const endpoint = findEndpoint({ tenant, capabilityId: capability.capabilityId })
      if (typeof endpoint === 'string') return never(endpoint)
      if (endpoint === undefined)
        return never(`Cannot call "${capability.capabilityId}": it has no registered endpoint`)
      const secrets = liveSecrets(endpoint, clock.now())
      if (secrets.length === 0)
        return never(`Cannot call "${capability.capabilityId}": it has no valid signing key`)
      const { url, bearer } = endpoint
      // A callback is matched with its attempt, and a tool has none of its own.
      const callbackBase = call.isTool ? undefined : options.callbackBase?.()
      const wrong = url === undefined ? undefined : addressFilter.check(url)
      if (wrong) return refusedAddress(wrong.message, wrong.hint)
      const early =
        call.attempt > 1 || call.repeated ? await callbacks.earlier(call.idempotencyKey) : undefined
      if (url === undefined && early === undefined)
        return withoutSecrets(await dispatchToWorker(call, endpoint), endpointSecrets(endpoint))
      const sent = async (signal: AbortSignal): Promise<AttemptResult | 'later'> => {
        const parts = callParts(call, {
          secrets,
          now: clock.now(),
          ...(bearer !== undefined && { bearer }),
          ...(callbackBase !== undefined && { callbackBase }),
        })
        return send(call, {
          ...parts,
          url: url ?? '',
          signal,
          addressFilter,
          clock,
          maxBytes,
          parseText,
          onPartial: listenTo(call, endpoint),
        })
      }
      const later = async (signal: AbortSignal) => {
        if (callbackBase === undefined) return refuseCallback(call)
        const posted = await callbacks.wait(call.idempotencyKey, signal)
        if (posted === undefined && call.signal.aborted) {
          await cancel({ ...call, capabilityId: capability.capabilityId })
          return stopped
        }
        if (posted === undefined) return silence
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
    resume,
  }
}

function refuseCallback({ isTool }: Dispatch): AttemptResult {
  const reason = isTool ? 'a tool must answer at once' : 'this app has no callbackUrl'
  return ended({ outcome: 'provider_error' }, `The agent wants to call back, but ${reason}`)
}

interface ResumeParts extends Omit<WorkerCallOptions, 'deadlineAt' | 'onText'> {
  readonly findEndpoint: (call: AcceptedCall) => Endpoint | string | undefined
  readonly cancel: (call: AcceptedCall) => Promise<void>
}

/** Waits for the answer of a call that was accepted earlier. */
function createResume({ findEndpoint, cancel, ...waiting }: ResumeParts): NonNullable<Dispatcher['resume']> {
  const { callbacks, clock, parseText, timeoutMs } = waiting
  return async (call) => {
    const { idempotencyKey, deadlineAt } = call
    const known = findEndpoint(call)
    // If the deadline is over, the store is read once.
    if (typeof known === 'object' && known.url === undefined && deadlineAt > clock.now()) {
      const given = { ...waiting, timeoutMs: known.timeoutMs ?? timeoutMs, deadlineAt, onText: undefined }
      const result = await waitForWorker(call, given)
      return result && withoutSecrets(result, endpointSecrets(known))
    }
    const late = new AbortController()
    const cancelTimer = clock.timer(deadlineAt, () => late.abort())
    const signal = AbortSignal.any([call.signal, late.signal])
    const posted = await callbacks.wait(idempotencyKey, signal).finally(cancelTimer)
    if (posted === undefined) {
      if (call.signal.aborted) await cancel(call)
      return undefined
    }
    const endpoint = findEndpoint(call)
    const secrets = typeof endpoint === 'object' ? endpointSecrets(endpoint) : []
    return withoutSecrets(await readPosted(posted, { ...call, parseText }), secrets)
  }
}

/** An answer is matched with its attempt by its path, and a tool has no attempt of its own. */
function whyNoWorker(call: Dispatch): string | undefined {
  const { capabilityId } = call.capability
  if (call.isTool) return `Cannot call "${capabilityId}" as a tool: its workers answer later`
  return formatCallId(call).length > longestId
    ? `Cannot call "${capabilityId}": the ids of the run and the node are too long`
    : undefined
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

type AcceptedCall = Pick<
  Dispatch,
  'tenant' | 'runId' | 'nodeId' | 'attempt' | 'idempotencyKey' | 'trace' | 'signal'
> & { readonly capabilityId: string }

/** Timeout of a cancellation. */
const cancelMs = 10_000

/**
 * Asks the agent with a signed DELETE to stop an accepted call. Best effort: an agent that cannot be reached, or does not
 * support it, finishes the call, and its answer has no effect.
 */
async function sendCancellation(
  call: AcceptedCall,
  endpoint: Endpoint,
  { addressFilter, clock }: Pick<HttpDispatcherOptions, 'addressFilter' | 'clock'>,
): Promise<void> {
  const now = clock.now()
  const secrets = liveSecrets(endpoint, now)
  const { url } = endpoint
  if (secrets.length === 0 || url === undefined || addressFilter.check(url)) return
  const { capabilityId, idempotencyKey } = call
  const body = JSON.stringify({ capabilityId, cancel: idempotencyKey })
  const headers = signedHeaders(call, { body, secrets, bearer: endpoint.bearer, now })
  const late = new AbortController()
  const takeBack = clock.timer(now + cancelMs, () => late.abort())
  try {
    const { request } = await import('undici')
    const dispatcher = await addressFilter.connections()
    const response = await request(url, {
      method: 'DELETE',
      headers,
      body,
      signal: late.signal,
      dispatcher,
    })
    await response.body.dump()
  } catch {
    // The agent is gone: nothing is left to cancel there.
  } finally {
    takeBack()
  }
}

/** Maximum bytes read from an error response. */
const shortest = 4_096

/** A RAO envelope is not streamed as a value, and what a tool writes is not the value of the node. */
function watcher(
  { runId, nodeId, attempt, bundle, rao, isTool, linearPatterns }: Dispatch,
  onPartial: HttpDispatcherOptions['onPartial'],
) {
  if (onPartial === undefined || rao || isTool) return undefined
  const watch = watchStream({
    schema: bundle.returns,
    onPartial: (partial) => onPartial({ ...partial, runId, nodeId, attempt }),
    final: false,
    linearPatterns,
  })
  return (textChunk: string) => void watch.push(textChunk)
}

/** Redacts the agent's own keys in partial values, as in its answers. */
function hideSecrets(
  onPartial: HttpDispatcherOptions['onPartial'],
  secrets: readonly string[],
): HttpDispatcherOptions['onPartial'] {
  if (onPartial === undefined) return undefined
  const redactor = createRedactor({ secrets })
  return (partial) => onPartial({ ...partial, value: redactor.known(partial.value) })
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

/** Redacts the agent's own keys, which it may echo. Other secrets belong to its answer, and the store seals them. */
function withoutSecrets(result: AttemptResult, secrets: readonly string[]): AttemptResult {
  return createRedactor({ secrets }).known(result)
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
  const body = callBody(call, callbackBase)
  return {
    body,
    headers: {
      ...signedHeaders(call, { body, secrets, bearer, now }),
      accept: 'application/json, text/event-stream, text/plain',
      // The response is limited by counting bytes, which compression would defeat.
      'accept-encoding': 'identity',
    },
  }
}

function callBody(call: Dispatch, callbackBase?: string): string {
  const { runId, nodeId, attempt, capability, bundle, rao } = call
  return JSON.stringify({
    runId,
    nodeId,
    attempt,
    capabilityId: capability.capabilityId,
    ...bundle,
    ...(rao && { rao }),
    ...callback(callbackBase, call),
  })
}

/** Headers of every request to an agent: which attempt it is about, and the signature. */
function signedHeaders(
  call: Pick<Dispatch, 'runId' | 'nodeId' | 'attempt' | 'idempotencyKey' | 'trace'>,
  {
    body,
    secrets,
    bearer,
    now,
  }: Pick<CallContext, 'secrets' | 'now'> & { readonly body: string; readonly bearer: string | undefined },
): { readonly [name: string]: string } {
  const { runId, nodeId, attempt, idempotencyKey } = call
  const nonce = randomBytes(16).toString('hex')
  const signed: Signed = { timestamp: String(Math.floor(now / 1_000)), nonce, runId, nodeId, attempt, body }
  return {
    'content-type': 'application/json',
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
  }
}

/** Maximum length of a URL segment; a node with a longer id must be answered synchronously. */
const longestId = 500

function callback(base: string | undefined, call: Dispatch): { callbackUrl?: string } {
  const callId = formatCallId(call)
  if (base === undefined || callId.length > longestId) return {}
  return { callbackUrl: `${base.replace(/\/+$/, '')}/api/v1/flex/callbacks/${callId}` }
}

/** Without tracing, all calls of a run still share one trace: its id is derived from the run id. */
function toTraceparent({ runId, nodeId, attempt }: Pick<Dispatch, 'runId' | 'nodeId' | 'attempt'>): string {
  const parentId = sha256Hex(JSON.stringify([runId, nodeId, attempt])).slice(0, 16)
  return `00-${sha256Hex(runId).slice(0, 32)}-${parentId}-01`
}
