/** Tracing of one app: wraps the ports that calls go through, and follows runs. Without a tracer in the host every part is a call that does nothing. */
import { type Attributes, SpanKind, type Tracer } from '@opentelemetry/api'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { Planner } from '../../domain/ports/planner.ts'
import type { ModelAnswer, ModelRequest, Provider } from '../../domain/ports/provider.ts'
import type { Trace } from '../../domain/ports/trace.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import {
  createRunSpans,
  endSpan,
  hostTracer,
  parentIn,
  type RunSpans,
  spanTypes,
  type Tracers,
  toTrace,
} from './run-spans.ts'

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
    const own = toTrace(span)
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

/** Marks traced providers, so that they are not traced twice: usage must be on one span per call. */
const traced = new WeakSet<Provider>()

/**
 * Gives every call of a model its `chat` span, with what it used; and sends its place in the trace along. Exported for
 * providers that `createApp` does not see, such as that of a model planner; the app traces its own by itself.
 *
 * @example
 * const planner = modelPlanner({ provider: tracedProvider(openai({ apiKey })), model: 'gpt-5' })
 */
export function tracedProvider(provider: Provider, options: Partial<Tracers> = {}): Provider {
  if (traced.has(provider)) return provider
  const { tracer = hostTracer(), captureContent = false, redact = (text: string) => text } = options
  const own: Provider = {
    name: provider.name,
    ...(provider.free && { free: provider.free }),
    ...(provider.tools && { tools: provider.tools }),
    ...(provider.structured && { structured: (request) => provider.structured?.(request) ?? nothing }),
    ...(provider.secrets && { secrets: () => provider.secrets?.() ?? [] }),
    ...(provider.takesFile && { takesFile: (file) => provider.takesFile?.(file) ?? false }),
    async generate(request) {
      const content = captureContent ? saidTo(request, redact) : {}
      const attributes = { ...request.trace?.about, ...asked(provider.name, request), ...content }
      const name = `chat ${request.model}`
      const parent = parentIn(request.trace?.traceparent)
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent)
      const trace = toTrace(span)
      try {
        const answer = await provider.generate({ ...request, ...(trace && { trace }) })
        if (span.isRecording())
          endSpan(span, toError(answer), {
            ...answered(answer),
            ...(captureContent && saidBy(answer, redact)),
          })
        return answer
      } catch (cause) {
        endSpan(span, 'provider_error')
        throw cause
      }
    },
  }
  traced.add(own)
  return own
}

const nothing = { kind: 'skipped', reason: 'the provider has no JSON mode' } as const

function asked(provider: string, { model, maxOutputTokens, onText }: ModelRequest): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.output.type': 'json',
    ...(maxOutputTokens !== undefined && { 'gen_ai.request.max_tokens': maxOutputTokens }),
    ...(onText && { 'gen_ai.request.stream': true }),
  }
}

function answered(answer: ModelAnswer): Attributes {
  const usage = 'usage' in answer ? answer.usage : undefined
  const { inputTokens, outputTokens } = usage ?? {}
  return {
    ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(answer.kind === 'text' && { 'gen_ai.response.finish_reasons': [answer.finish] }),
  }
}

function toError(answer: ModelAnswer): string | undefined {
  return answer.kind === 'text' ? undefined : answer.kind
}

function saidTo({ system, prompt }: ModelRequest, redact: (text: string) => string): Attributes {
  const text = (content: string) => [{ type: 'text', content: redact(content) }]
  return {
    'gen_ai.system_instructions': JSON.stringify(text(system)),
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: text(prompt) }]),
  }
}

function saidBy(answer: ModelAnswer, redact: (text: string) => string): Attributes {
  if (answer.kind !== 'text') return {}
  const parts = [{ type: 'text', content: redact(answer.text) }]
  const message = { role: 'assistant', parts, finish_reason: answer.finish }
  return { 'gen_ai.output.messages': JSON.stringify([message]) }
}
