/**
 * Public form of an event: the one format of streams and of `proviso run --json` (FLEX-56), with errors in the public
 * format (C50).
 */

import { failureError, nodeError, rejectionError, validationErrors } from '../errors/failure-error.ts'
import type { EventType, JournalEvent } from '../event.ts'
import type { FacetProvenance } from '../plan.ts'
import type { Redactor } from '../redaction/redact.ts'

export interface Frame {
  readonly type: EventType
  /** The sequence number, used as a cursor to resume after this event. */
  readonly id: number
  /** ISO 8601. */
  readonly timestamp: string
  readonly payload: unknown
  readonly message?: string
  readonly runId: string
  readonly nodeId?: string
  readonly planVersion: number
  readonly correlationId: string
  readonly facetProvenance?: FacetProvenance
}

/** Redacted, but for the answer itself: that is what the caller has asked for. */
export function frameOf(event: JournalEvent, correlationId: string, redactor: Redactor): Frame {
  const { type, seq, at, message, runId, nodeId, planVersion } = event
  const payload = payloadOf(event)
  const provenance = 'facetProvenance' in event.payload ? event.payload.facetProvenance : undefined
  return {
    type,
    id: seq,
    timestamp: new Date(at).toISOString(),
    payload: type === 'complete' ? ended(payload, redactor) : redactor.value(payload),
    ...(message !== undefined && { message }),
    runId,
    ...(nodeId !== undefined && { nodeId }),
    planVersion,
    correlationId,
    ...(provenance && { facetProvenance: provenance }),
  }
}

/** What leaves otherwise than it is kept; everything else leaves as it is. */
const leaving: { readonly [T in EventType]?: (event: JournalEvent<T>) => object } = {
  start: ({ runId, payload }) => ({ runId, ...payload }),
  plan_rejected: ({ payload }) => ({ ...payload, error: rejectionError(payload) }),
  node_error: ({ payload }) => ({ ...payload, error: nodeError(payload) }),
  validation_error: ({ payload }) => ({ ...payload, errors: validationErrors(payload) }),
  complete: ({ payload }) => ({ ...payload, ...(payload.error && { error: failureError(payload.error) }) }),
}

function payloadOf(event: JournalEvent): object {
  // The table pairs each type with its own event, which the index access cannot express.
  const leave = leaving[event.type] as ((event: JournalEvent) => object) | undefined
  return leave === undefined ? event.payload : leave(event)
}

function ended(payload: { readonly output?: unknown }, redactor: Redactor): unknown {
  const { output, ...rest } = payload
  return { ...(redactor.value(rest) as object), ...(output !== undefined && { output }) }
}
