/** An event as it leaves: the one shape of streams and of `proviso run --json` (FLEX-56). */
import type { EventPayloads, EventType, JournalEvent } from './event.ts'
import type { FacetProvenance } from './plan.ts'
import type { Redactor } from './redact.ts'

export interface Frame {
  readonly type: EventType
  /** The sequence number: whoever has seen it can go on after it. */
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
  const { type, seq, at, payload, message, runId, nodeId, planVersion } = event
  const provenance = 'facetProvenance' in payload ? payload.facetProvenance : undefined
  return {
    type,
    id: seq,
    timestamp: new Date(at).toISOString(),
    payload: event.type === 'complete' ? ended(event.payload, redactor) : redactor.value(payload),
    ...(message !== undefined && { message }),
    runId,
    ...(nodeId !== undefined && { nodeId }),
    planVersion,
    correlationId,
    ...(provenance && { facetProvenance: provenance }),
  }
}

function ended({ output, ...rest }: EventPayloads['complete'], redactor: Redactor): unknown {
  return { ...(redactor.value(rest) as object), ...(output !== undefined && { output }) }
}
