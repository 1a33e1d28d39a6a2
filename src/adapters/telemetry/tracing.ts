/** Tracing of one app: wraps the ports that calls go through, and follows runs. Without a tracer in the host every part is a call that does nothing. */
import { SpanKind, type Tracer } from '@opentelemetry/api'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { Planner } from '../../domain/ports/planner.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Trace } from '../../domain/ports/trace.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { createRunSpans, type RunSpans, spanTypes } from './run-spans.ts'
import { endSpan, hostTracer, parentIn, type Tracers, traceOf } from './span-context.ts'
import { tracedProvider } from './traced-provider.ts'

export { tracedProvider } from './traced-provider.ts'
export { spanTypes }

export interface TracingOptions {
  /** Default: that of the host, by the OpenTelemetry API. */
  readonly tracer?: Tracer
  /** Words of prompts and answers in spans, redacted. Default false: they are the caller's. */
  readonly captureContent?: boolean
}

export interface Tracing {
  readonly runs: RunSpans
  provider(provider: Provider): Provider
  dispatcher(dispatcher: Dispatcher): Dispatcher
  planner(planner: Planner): Planner
}

export function createTracing(options: TracingOptions & { readonly redactor: Redactor }): Tracing {
  const { tracer = hostTracer(), captureContent = false, redactor } = options
  const runs = createRunSpans({ tracer })
  return {
    runs,
    provider: (provider) => tracedProvider(provider, { tracer, captureContent, redact: redactor.text }),
    dispatcher: (dispatcher) => tracedDispatcher(dispatcher, { tracer, runs }),
    planner: (planner) => ({
      name: planner.name,
      ...(planner.deterministic && { deterministic: true }),
      draft(request) {
        const { runId } = request
        if (runId === undefined) return planner.draft(request)
        const { trace } = runs.findParent(runId, { began: request.trace, planning: true })
        return planner.draft({ ...request, ...(trace && { trace }) })
      },
    }),
  }
}

// Gives calls of capabilities their place in the trace: an `execute_tool` span each; models make their own spans, one per call.

function tracedDispatcher(
  dispatcher: Dispatcher,
  { tracer, runs }: Pick<Tracers, 'tracer'> & { readonly runs: RunSpans },
): Dispatcher {
  const { kind, remote, plain, retries } = dispatcher
  const traced = async (call: Dispatch, run: Trace | undefined) => {
    const { runId, nodeId, attempt, capability, idempotencyKey } = call
    const about = { 'proviso.run.id': runId, 'proviso.node.id': nodeId, 'proviso.attempt': attempt }
    if (kind === 'model') return dispatcher.dispatch({ ...call, ...(run && { trace: { ...run, about } }) })
    const attributes = {
      ...about,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': capability.capabilityId,
      'gen_ai.tool.type': remote ? 'extension' : 'function',
      'gen_ai.tool.call.id': idempotencyKey,
    }
    const name = `execute_tool ${capability.capabilityId}`
    const options = { kind: remote ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes }
    const span = tracer.startSpan(name, options, parentIn(run?.traceparent))
    const own = traceOf(span)
    try {
      const result = await dispatcher.dispatch({ ...call, ...(own && { trace: own }) })
      const { outcome } = result
      endSpan(span, outcome === 'ok' ? undefined : outcome, { 'proviso.outcome': outcome })
      return result
    } catch (cause) {
      endSpan(span, 'provider_error')
      throw cause
    }
  }
  return {
    kind,
    remote,
    ...(plain && { plain }),
    ...(retries && { retries }),
    // Waiting for an answer is no call, and has no span of its own.
    ...(dispatcher.resume && { resume: dispatcher.resume.bind(dispatcher) }),
    dispatch(call) {
      const { trace: run, recording } = runs.findParent(call.runId, { began: call.trace })
      if (recording) return traced(call, run)
      return dispatcher.dispatch(run ? { ...call, trace: run } : call)
    },
  }
}
