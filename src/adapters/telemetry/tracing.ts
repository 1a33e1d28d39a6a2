/** Tracing of one app: wraps the ports that calls go through, and follows runs. Without a tracer in the host every part is a call that does nothing. */
import type { Tracer } from '@opentelemetry/api'
import type { Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { Planner } from '../../domain/ports/planner.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { createRunSpans, type RunSpans, spanTypes } from './run-spans.ts'
import { hostTracer } from './span-context.ts'
import { tracedDispatcher } from './traced-dispatcher.ts'
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
