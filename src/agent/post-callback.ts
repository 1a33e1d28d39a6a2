/** Posts the signed answer of an accepted call, until the server has taken it or it can no longer have an effect. */
import { randomBytes } from 'node:crypto'
import { toErrorMessage } from '../base/errors/error.ts'
import { systemClock } from '../base/time/clock.ts'
import { backoffMs, pause, type RetryPolicy } from '../base/time/retry.ts'
import { sign, signatureHeaders } from '../domain/capability/call-signature.ts'
import type { AcceptedCall, CallAnswer } from './call.ts'

interface PostOptions {
  /** The newest key, read for every try: it may change meanwhile. */
  readonly signingKey: () => string | undefined
  readonly onError: (cause: Error) => void
  readonly signal: AbortSignal
}

/** Retries until the server is back; it waits for the answer of a call for an hour by default. */
export const serverRetryPolicy: RetryPolicy = {
  max: Number.POSITIVE_INFINITY,
  baseMs: 500,
  factor: 2,
  capMs: 15_000,
  jitter: 'full',
}

/** After a day, no server waits any more. */
const longestMs = 24 * 3_600_000

/** Statuses after which a retry cannot help: taken, unknown call, or the attempt is over. */
const finalStatuses: ReadonlySet<number> = new Set([200, 404, 409])
/** The server refuses the body: too long, or not an answer. */
const refusedStatuses: ReadonlySet<number> = new Set([413, 422])

export async function postCallback(
  call: AcceptedCall,
  answer: CallAnswer,
  { signingKey, onError, signal }: PostOptions,
): Promise<'delivered' | 'stopped'> {
  const until = systemClock.now() + longestMs
  let body = JSON.stringify(answer)
  for (let failures = 1; systemClock.now() < until; failures++) {
    if (signal.aborted) return 'stopped'
    const reply = await post(call, { body, signingKey: call.signingKey ?? signingKey(), signal })
    if (typeof reply === 'number' && finalStatuses.has(reply)) return 'delivered'
    const why = typeof reply === 'number' ? `the server answered ${reply}` : reply
    if (signal.aborted) return 'stopped'
    onError(new Error(`Cannot post the answer of node "${call.body.nodeId}": ${why}`))
    if (typeof reply === 'number' && refusedStatuses.has(reply)) {
      const message = `The server refused the answer with ${reply}`
      const error: CallAnswer = { error: { message, outcome: 'provider_error' } }
      if (body === JSON.stringify(error)) return 'delivered'
      body = JSON.stringify(error)
      continue
    }
    await pause(systemClock, backoffMs(serverRetryPolicy, failures), signal)
  }
  return 'delivered'
}

interface Posting {
  readonly body: string
  readonly signingKey: string | undefined
  readonly signal: AbortSignal
}

/** Returns the status, or the reason why the request failed. */
async function post(
  { body: { runId, nodeId, attempt }, callbackUrl }: AcceptedCall,
  { body, signingKey, signal }: Posting,
): Promise<number | string> {
  if (signingKey === undefined) return 'the agent has no signing key yet'
  const timestamp = String(Math.floor(systemClock.now() / 1_000))
  const nonce = randomBytes(16).toString('hex')
  const headers = {
    'content-type': 'application/json',
    [signatureHeaders.timestamp]: timestamp,
    [signatureHeaders.nonce]: nonce,
    [signatureHeaders.signature]: sign({ timestamp, nonce, runId, nodeId, attempt, body }, [signingKey]),
  }
  try {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(30_000)])
    const response = await fetch(callbackUrl, { method: 'POST', headers, body, signal: timeout })
    await response.body?.cancel()
    return response.status
  } catch (cause) {
    return toErrorMessage(cause)
  }
}
