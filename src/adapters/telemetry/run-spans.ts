/**
 * Creates the spans of runs: one `invoke_workflow` for every stretch in which this process runs a run, with `plan` inside. A
 * stretch after a pause or a crash of another process is a trace of its own, linked to the start of the run. Below is what
 * every span needs: between what travels (a traceparent) and what the OpenTelemetry API wants (a context with a span).
 */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { AppendedNotice, LifecycleNotice } from '../../domain/event/lifecycle.ts'
import type { EventType, JournalEvent } from '../../domain/event.ts'
import { formatTraceparent, parseTraceparent, type Trace } from '../../domain/ports/trace.ts'

interface Stretch {
  readonly span: Span
  readonly trace: Trace | undefined
  /** Whether the span is recorded; otherwise no child spans are created. */
  readonly recording: boolean
  plan?: Span | undefined
  /** Why the run ended without an answer. */
  error?: string
}

/** Runs that have a span at the same time; the oldest loses its own early beyond that. */
const mostStretches = 10_000

/** The events that spans are made of. */
export const spanTypes = [
  'plan_requested',
  'plan_rejected',
  'plan_generated',
  'complete',
] as const satisfies readonly EventType[]

interface Begun {
  readonly trace: Trace | undefined
  /** The run was not stored. */
  abandon(errorType: string): void
}

interface SpanParent {
  readonly trace: Trace | undefined
  readonly recording: boolean
}

export interface RunSpans {
  /** A new run: its span, below the caller's if one came along. The trace is kept with the run. */
  begin(runId: string, traceparent: string | undefined): Begun
  /** Where calls of a run belong: inside its plan or its stretch, which begins here if it has not. */
  findParent(
    runId: string,
    of: { readonly began: Trace | undefined; readonly planning?: boolean },
  ): SpanParent
  recordNotice(notice: LifecycleNotice): void
  /** Ends what is open. */
  close(): void
}

export function createRunSpans({ tracer }: Pick<Tracers, 'tracer'>): RunSpans {
  const stretches = new Map<string, Stretch>()

  const open = (runId: string, parents: { readonly parent?: string; readonly earlier?: string }): Stretch => {
    const attributes = {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'proviso',
      'proviso.run.id': runId,
      ...(parents.earlier !== undefined && { 'proviso.run.resumed': true }),
    }
    const links = linkTo(parents.earlier)
    const options = { kind: SpanKind.INTERNAL, attributes, links }
    const span = tracer.startSpan('invoke_workflow', options, parentIn(parents.parent))
    const stretch: Stretch = { span, trace: toTrace(span), recording: span.isRecording() }
    stretches.set(runId, stretch)
    for (const [oldest] of stretches) {
      if (stretches.size <= mostStretches) break
      finish(oldest, undefined, { 'proviso.run.cut': true })
    }
    return stretch
  }

  const finish = (runId: string, errorType: string | undefined, attributes = {}) => {
    const stretch = stretches.get(runId)
    if (!stretch) return
    stretches.delete(runId)
    stretch.plan?.end()
    endSpan(stretch.span, stretch.error ?? errorType, attributes)
  }

  const getStretch = (runId: string, began: string | undefined) =>
    stretches.get(runId) ?? open(runId, began === undefined ? {} : { earlier: began })

  const onEvent = (stretch: Stretch, event: JournalEvent) => {
    switch (event.type) {
      case 'plan_requested': {
        const { attempt, phase } = event.payload
        const attributes = {
          'gen_ai.operation.name': 'plan',
          'proviso.plan.attempt': attempt,
          'proviso.plan.phase': phase,
        }
        stretch.plan?.end()
        stretch.plan = tracer.startSpan('plan', { attributes }, parentIn(stretch.trace?.traceparent))
        return
      }
      case 'plan_rejected':
        if (stretch.plan) endSpan(stretch.plan, 'plan_rejected')
        stretch.plan = undefined
        return
      case 'plan_generated':
        if (stretch.plan)
          endSpan(stretch.plan, undefined, {
            'proviso.plan.version': event.payload.planVersion,
            'proviso.plan.satisfaction': event.payload.satisfactionScore,
          })
        stretch.plan = undefined
        return
      case 'complete':
        stretch.span.setAttribute('proviso.plan.version', event.planVersion)
        if (event.payload.status !== 'completed')
          stretch.error = event.payload.error?.code ?? event.payload.status
        return
      default:
        return
    }
  }

  const appended = ({ runId, traceparent, events, by }: AppendedNotice) => {
    // What comes from outside is part of a run's stretch only if the run is carried here.
    const stretch = by === 'carrier' ? getStretch(runId, traceparent) : stretches.get(runId)
    if (stretch?.recording) for (const event of events) onEvent(stretch, event)
  }

  return {
    begin(runId, traceparent) {
      // An id that is in use here belongs to the active run, whose span continues; the store will refuse the new run.
      if (stretches.has(runId)) return { trace: undefined, abandon: () => {} }
      const { trace } = open(runId, traceparent === undefined ? {} : { parent: traceparent })
      return { trace, abandon: (errorType) => finish(runId, errorType) }
    },
    findParent(runId, { began, planning }) {
      const stretch = getStretch(runId, began?.traceparent)
      const trace = planning && stretch.plan ? toTrace(stretch.plan) : stretch.trace
      return { trace, recording: stretch.recording }
    },
    recordNotice(notice) {
      if (notice.kind === 'appended') return appended(notice)
      const { runId, why, status } = notice
      const isFine = why === 'rests' || why === 'started'
      finish(runId, isFine ? undefined : why, { ...(status && { 'proviso.run.status': status }) })
    },
    close() {
      for (const runId of [...stretches.keys()]) finish(runId, 'closed')
    },
  }
}

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

function spanContextIn(traceparent: string | undefined): SpanContext | undefined {
  const ids = parseTraceparent(traceparent)
  if (ids === undefined) return undefined
  return { traceId: ids.traceId, spanId: ids.spanId, traceFlags: ids.flags, isRemote: true }
}

/** The place in a trace to which a new span is added; a new trace if absent. */
export function parentIn(traceparent: string | undefined): Context {
  const context = spanContextIn(traceparent)
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT
}

function linkTo(traceparent: string | undefined): Link[] {
  const context = spanContextIn(traceparent)
  return context ? [{ context }] : []
}

/** Nothing without a tracer, unless the caller came with a trace, which is passed on. */
export function toTrace(span: Span, about?: Trace['about']): Trace | undefined {
  const context = span.spanContext()
  if (!isSpanContextValid(context)) return undefined
  const { traceId, spanId, traceFlags } = context
  return { traceparent: formatTraceparent({ traceId, spanId, flags: traceFlags }), ...(about && { about }) }
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
