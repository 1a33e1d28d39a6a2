/**
 * Gets URLs for `http_get` of pipelines: only addresses that the filter allows, no redirects, within limits. What a server
 * sends is untrusted.
 */
import { isObject, type Json } from '../../base/json.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { AddressFilter } from '../net/address-filter.ts'
import { ended, failureEnd, refusedAddress, statusEnd } from './http-failures.ts'
import { readArriving } from './read-answer.ts'

interface FetchDispatcherOptions {
  readonly addressFilter: AddressFilter
  readonly now: () => number
  /** Longest answer. Default 1 MiB. */
  readonly maxBytes?: number
  /** Default 30,000. */
  readonly timeoutMs?: number
}

const who = 'The server'

export function fetchDispatcher(options: FetchDispatcherOptions): Dispatcher {
  return {
    kind: 'fetch',
    remote: true,
    plain: true,
    // Neither a model nor an agent is called.
    dispatch: async (call) => ({ ...(await get(call, options)), usage: { calls: 0 } }),
  }
}

async function get(call: Dispatch, options: FetchDispatcherOptions): Promise<AttemptResult> {
  const { addressFilter, maxBytes = 1_048_576, timeoutMs = 30_000 } = options
  const { inputs } = call.bundle
  const url = isObject(inputs) ? inputs['url'] : undefined
  if (typeof url !== 'string')
    return ended(
      { outcome: 'provider_error', notApplied: true, final: true },
      `The URL must be a text, got ${JSON.stringify(url ?? null).slice(0, 100)}`,
    )
  const refused = addressFilter.check(url)
  if (refused) return refusedAddress(`Cannot get ${url.slice(0, 200)}: ${refused.message}`, refused.hint)
  const late = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([call.signal, late])
  try {
    return await send(url, { ...options, signal, maxBytes })
  } catch (cause) {
    if (call.signal.aborted) return ended({ outcome: 'cancelled' }, 'The call was cancelled')
    if (late.aborted) return ended({ outcome: 'timed_out' }, `${who} took longer than ${timeoutMs} ms`)
    return failureEnd(cause, { repeatable: true, who })
  }
}

interface Sending extends FetchDispatcherOptions {
  readonly signal: AbortSignal
  readonly maxBytes: number
}

async function send(url: string, { addressFilter, signal, maxBytes, now }: Sending): Promise<AttemptResult> {
  const { request } = await import('undici')
  const response = await request(url, {
    headers: { accept: 'application/json, text/*;q=0.9, */*;q=0.1', 'accept-encoding': 'identity' },
    signal,
    dispatcher: await addressFilter.connections(),
  })
  const { statusCode: status } = response
  const type = String(response.headers['content-type'] ?? '')
  const encoding = String(response.headers['content-encoding'] ?? '')
  const arrived = await readArriving({ type: '', encoding, body: response.body }, { maxBytes, who })
  if (status < 200 || status > 299) {
    const said = Object.fromEntries(
      Object.entries(response.headers).map(([name, held]) => [name, String(held)]),
    )
    return statusEnd(status, said, { text: 'text' in arrived ? arrived.text : '', now: now(), who })
  }
  if ('end' in arrived) return arrived.end
  const { text } = arrived
  return {
    outcome: 'ok',
    output: { value: { status, type, text, ...toJson(type, text) } },
    issues: [],
    usage: { calls: 0 },
  }
}

/** The parsed text of a JSON answer; an answer that is not JSON has its text only. */
function toJson(type: string, text: string): { readonly json?: Json } {
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) return {}
  try {
    return { json: JSON.parse(text) as Json }
  } catch {
    return {}
  }
}
