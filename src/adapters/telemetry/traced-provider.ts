/** Gives every call of a model its `chat` span, with what it used; and sends its place in the trace along. */
import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { ModelAnswer, ModelRequest, Provider } from '../../domain/ports/provider.ts'
import { endSpan, hostTracer, parentIn, type Tracers, traceOf } from './span-context.ts'

/** Marks traced providers, so that they are not traced twice: usage must be on one span per call. */
const traced = new WeakSet<Provider>()

/**
 * For providers that `createApp` does not see, such as that of a model planner; the app traces its own by itself.
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
    ...(provider.structured && { structured: (request) => provider.structured?.(request) ?? nothing }),
    ...(provider.secrets && { secrets: () => provider.secrets?.() ?? [] }),
    async generate(request) {
      const content = captureContent ? saidTo(request, redact) : {}
      const attributes = { ...request.trace?.about, ...asked(provider.name, request), ...content }
      const name = `chat ${request.model}`
      const parent = parentIn(request.trace?.traceparent)
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent)
      const trace = traceOf(span)
      try {
        const answer = await provider.generate({ ...request, ...(trace && { trace }) })
        if (span.isRecording())
          endSpan(span, errorOf(answer), {
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

function errorOf(answer: ModelAnswer): string | undefined {
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
