/** Trace context of a call (W3C Trace Context), as plain text: this module does not depend on a tracing library. */

export interface Trace {
  /** `00-<trace id>-<span id>-<flags>`. */
  readonly traceparent: string
  /** Attributes for the span of the call, such as the node. */
  readonly about?: { readonly [key: string]: string | number }
}

const pattern = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/

interface TraceIds {
  readonly traceId: string
  readonly spanId: string
  readonly flags: number
}

/** Returns undefined for an invalid header: it starts a new trace, as the standard requires. */
export function parseTraceparent(text: string | undefined): TraceIds | undefined {
  const [, traceId = '', spanId = '', flags = ''] = pattern.exec(text ?? '') ?? []
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId) || text?.startsWith('ff')) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** @example formatTraceparent({ traceId: 'ab…', spanId: '01…', flags: 1 }) // '00-ab…-01…-01' */
export function formatTraceparent({ traceId, spanId, flags }: TraceIds): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}
