/** Builds the request to an agent: the body, and headers that identify the caller and the attempt. */
import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/hash.ts'
import type { Dispatch } from '../../domain/ports/dispatcher.ts'
import { callIdOf } from './callbacks.ts'
import { signatureHeaders as names, type Signed, sign } from './signature.ts'

export interface CallParts {
  readonly body: string
  readonly headers: { readonly [name: string]: string }
}

export interface CallContext {
  readonly secrets: readonly string[]
  readonly bearer?: string
  /** Public URL of this server; without it, agents must answer synchronously. */
  readonly callbackBase?: string
  /** Milliseconds since 1970. */
  readonly now: number
}

export function callParts(call: Dispatch, { secrets, bearer, callbackBase, now }: CallContext): CallParts {
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
