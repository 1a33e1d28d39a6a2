/**
 * Calls agents over HTTP: signed, guarded, within limits. An agent answers at once, in a stream, or says 202 and calls
 * back; whatever it sends is a stranger's text and goes through the reader.
 */
import type { Clock } from '../../base/clock.ts'
import { ProvisoError } from '../../base/error.ts'
import type { Capability } from '../../domain/capability.ts'
import { type Endpoint, endpointSecrets, liveSecrets } from '../../domain/endpoint.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import { createRedactor } from '../../domain/redact.ts'
import type { Guard } from '../guard.ts'
import { watchStream } from '../models/stream-watch.ts'
import type { WaitingRoom } from './callbacks.ts'
import { readArriving, readAskedText, readPosted } from './http-answer.ts'
import { callParts } from './http-call.ts'
import { ended, failureEnd, refusedAddress, statusEnd, usage } from './http-ends.ts'
import type { NodePartial } from './model.ts'
import { readAnswer } from './read-answer.ts'

export interface HttpDispatcherOptions {
  readonly guard: Guard
  readonly clock: Clock
  /** Where an agent is; nothing if nobody registered it. */
  readonly endpointOf: (agent: {
    readonly tenant: string
    readonly capability: Pick<Capability, 'capabilityId'>
  }) => Endpoint | undefined
  readonly callbacks: WaitingRoom
  /** Where this server can be reached from outside; without it agents have to answer at once. */
  readonly callbackBase?: () => string | undefined
  /** The longest answer in bytes. Default 1 MiB. */
  readonly maxBytes?: number
  /** The longest that an answer may take to arrive. Default 2 minutes. */
  readonly timeoutMs?: number
  /** The longest that a call back is waited for where the node has no time of its own. Default 1 hour. */
  readonly callbackMs?: number
  /** Given: values that are still arriving go here. */
  readonly onPartial?: (partial: NodePartial) => void
}

export function httpDispatcher(options: HttpDispatcherOptions): Dispatcher {
  const { guard, clock, callbacks } = options
  const { timeoutMs = 120_000, callbackMs = 3_600_000, maxBytes = 1_048_576 } = options
  return {
    kind: 'http',
    remote: true,
    plain: true,
    async dispatch(call) {
      const { tenant = 'default', capability } = call
      const endpoint = endpointOr(() => options.endpointOf({ tenant, capability }))
      if (typeof endpoint === 'string') return never(endpoint)
      if (endpoint === undefined)
        return never(`Nobody has registered where "${capability.capabilityId}" can be called`)
      const secrets = liveSecrets(endpoint, clock.now())
      if (secrets.length === 0) return never(`"${capability.capabilityId}" has no signing key that is alive`)
      const { url, bearer } = endpoint
      const callbackBase = options.callbackBase?.()
      const wrong = guard.check(url)
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
        return send(call, { ...parts, url, signal, guard, clock, maxBytes, onPartial: options.onPartial })
      }
      const later = async (signal: AbortSignal) => {
        if (callbackBase === undefined)
          return ended(
            { outcome: 'provider_error' },
            'The agent wants to call back, and cannot reach this app',
          )
        const posted = await callbacks.wait(call.idempotencyKey, signal)
        if (posted === undefined) return call.signal.aborted ? stopped : silence
        return readPosted(posted, call)
      }
      const within = limiter(call, clock)
      const waitForCallback = () => {
        const now = clock.now()
        const deadlineAt = Math.min(now + callbackMs, call.deadlineAt ?? Number.POSITIVE_INFINITY)
        if (callbackBase !== undefined) call.onAccepted?.({ deadlineAt })
        return within(Math.max(deadlineAt - now, 0), later)
      }
      let result =
        early === undefined ? await within(endpoint.timeoutMs ?? timeoutMs, sent) : readPosted(early, call)
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
      const endpoint = endpointOr(() => options.endpointOf({ tenant, capability: { capabilityId } }))
      const secrets = typeof endpoint === 'object' ? endpointSecrets(endpoint) : []
      return withoutSecrets(readPosted(posted, call), secrets)
    },
  }
}

/** The status of an agent that needs an answer first: Precondition Required. */
const asksFirst = 428

interface Sending {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly signal: AbortSignal
  readonly guard: Guard
  readonly clock: Clock
  readonly maxBytes: number
  readonly onPartial: HttpDispatcherOptions['onPartial']
}

async function send(call: Dispatch, sending: Sending): Promise<AttemptResult | 'later'> {
  const { url, headers, body, signal, guard, maxBytes } = sending
  const { request } = await import('undici')
  const response = await request(url, {
    method: 'POST',
    headers,
    body,
    signal,
    dispatcher: await guard.connections(),
    // One limit for the whole answer is kept by whoever gave the signal.
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
  return 'end' in arrived ? arrived.end : readAnswer(arrived.text, call, usage)
}

/** Of a refusal no more is read than people will. */
const shortest = 4_096

/** The parts of a RAO envelope are no parts of the value. */
function watcher(
  { runId, nodeId, attempt, bundle, rao }: Dispatch,
  onPartial: HttpDispatcherOptions['onPartial'],
) {
  if (onPartial === undefined || rao) return undefined
  const watch = watchStream({
    schema: bundle.returns,
    onPartial: (partial) => onPartial({ ...partial, runId, nodeId, attempt }),
    final: false,
  })
  return (piece: string) => void watch.push(piece)
}

const stopped = ended({ outcome: 'cancelled' }, 'The call was cancelled')
const silence = ended({ outcome: 'timed_out' }, 'The agent did not call back in time')

/** Runs one part of a call within its time; how it was stopped decides what its failure is called. */
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

/** The call was not made. */
/** What speaks against opening it is known before anything is sent. */
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

/** An agent may echo its own keys; they go no further. */
function withoutSecrets(result: AttemptResult, secrets: readonly string[]): AttemptResult {
  const text = JSON.stringify({ issues: result.issues, output: result.output })
  const clean = createRedactor({ secrets }).text(text)
  return clean === text ? result : { ...result, ...JSON.parse(clean) }
}
