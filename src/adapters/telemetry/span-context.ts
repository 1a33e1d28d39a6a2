/** Between what travels (a traceparent) and what the OpenTelemetry API wants (a context with a span). */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseTraceparent, type Trace, traceparentOf } from '../../domain/ports/trace.ts'

export interface Tracers {
  readonly tracer: Tracer
  /** Whether spans may contain the text of prompts and answers. Default false. */
  readonly captureContent: boolean
  /** What must not leave; content goes through it. */
  readonly redact: (text: string) => string
}

/** The tracer that the host has set up, or will; until then nothing happens. */
export function hostTracer(): Tracer {
  return trace.getTracer('proviso')
}

export function spanContextIn(traceparent: string | undefined): SpanContext | undefined {
  const ids = parseTraceparent(traceparent)
  if (ids === undefined) return undefined
  return { traceId: ids.traceId, spanId: ids.spanId, traceFlags: ids.flags, isRemote: true }
}

/** The place in a trace to which a new span is added; a new trace where there is none. */
export function parentIn(traceparent: string | undefined): Context {
  const context = spanContextIn(traceparent)
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT
}

export function linkTo(traceparent: string | undefined): Link[] {
  const context = spanContextIn(traceparent)
  return context ? [{ context }] : []
}

/** Nothing without a tracer, unless the caller came with a trace, which is passed on. */
export function traceOf(span: Span, about?: Trace['about']): Trace | undefined {
  const context = span.spanContext()
  if (!isSpanContextValid(context)) return undefined
  const { traceId, spanId, traceFlags } = context
  return { traceparent: traceparentOf({ traceId, spanId, flags: traceFlags }), ...(about && { about }) }
}

/** How a span ends: the error is named by its kind, never by words that could be anybody's. */
export function endSpan(span: Span, errorType: string | undefined, attributes: Attributes = {}): void {
  span.setAttributes(attributes)
  if (errorType !== undefined) {
    span.setAttribute('error.type', errorType)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
