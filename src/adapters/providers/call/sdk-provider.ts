/** A provider of ours from a provider package of the AI SDK: one call, generated or streamed, and what it was asked for. */
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { ModelAnswer, ModelRequest, Provider } from '../../../domain/ports/provider.ts'
import { createRedactor } from '../../../domain/redaction/redact.ts'
import { schemaHash } from '../../../schema/hash.ts'
import type { DialectName } from '../structured-output/dialects.ts'
import { planStructured, type StructuredMethod } from '../structured-output/structured-plan.ts'
import {
  type FailureContext,
  type Gathered,
  gather,
  isFormatRefusal,
  refusalIn,
  toCallUsage,
  toFailureAnswer,
  toModelAnswer,
} from './answers.ts'

interface SdkProviderOptions {
  readonly name: string
  readonly dialect: DialectName
  readonly jsonObject?: boolean
  readonly guides?: boolean
  readonly overhead?: number
  /** Keys, to be kept out of messages. */
  readonly secrets: readonly string[]
  readonly model: (id: string) => LanguageModelV3
  /** What this provider's package wants beside the common options. */
  readonly extras?: (
    request: ModelRequest,
    way: StructuredMethod | undefined,
  ) => LanguageModelV3CallOptions['providerOptions']
  readonly now?: () => number
}

/** How many schemas a provider remembers the working way of. */
const remembered = 256

export function sdkProvider(options: SdkProviderOptions): Provider {
  const { name, secrets, now = Date.now } = options
  const redactor = createRedactor({ secrets })
  /** How many ways a server has refused, by model and schema. */
  const refusals = new Map<string, number>()
  const waysFor = ({
    model,
    schema,
    structured = 'off',
  }: Parameters<NonNullable<Provider['structured']>>[0]) =>
    planStructured({ ...options, provider: name, model, intent: structured, schema })

  const call = async (
    model: LanguageModelV3,
    request: ModelRequest,
    way: StructuredMethod | undefined,
  ): Promise<ModelAnswer> => {
    const given = callOptions(request, way, options.extras?.(request, way))
    const context = { signal: request.signal, now }
    if (request.onText === undefined) return toModelAnswer(gather(await model.doGenerate(given)))
    const { stream } = await model.doStream({ ...given, includeRawChunks: true })
    return readStream(stream, request.onText, context)
  }

  /** A name that cannot be called is no call that failed: nothing left, and nothing will. */
  const modelFor = (id: string): LanguageModelV3 | ModelAnswer => {
    try {
      return options.model(id)
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      return { kind: 'error', message, fatal: true }
    }
  }

  return {
    name,
    secrets: () => secrets,
    structured: (request) =>
      waysFor(request)?.[0]?.outcome ?? { kind: 'skipped', reason: 'nothing was asked for' },
    async generate(request) {
      const model = modelFor(request.model)
      if ('kind' in model) return redacted(model, redactor.text)
      const ways = waysFor(request)
      const key = `${request.model} ${request.structured} ${schemaHash(request.schema ?? true)}`
      for (let index = refusals.get(key) ?? 0; ; index++) {
        const way = ways?.[Math.min(index, ways.length - 1)]
        const structured = way && { structured: way.outcome }
        try {
          return redacted({ ...(await call(model, request, way)), ...structured }, redactor.text)
        } catch (cause) {
          const more = ways !== undefined && index < ways.length - 1
          if (!more || !isFormatRefusal(cause) || request.signal.aborted)
            return redacted(
              { ...toFailureAnswer(cause, { signal: request.signal, now }), ...structured },
              redactor.text,
            )
          remember(refusals, key, index + 1)
        }
      }
    },
  }
}

function remember(refusals: Map<string, number>, key: string, count: number): void {
  refusals.delete(key)
  refusals.set(key, count)
  for (const oldest of refusals.keys()) {
    if (refusals.size <= remembered) break
    refusals.delete(oldest)
  }
}

function callOptions(
  request: ModelRequest,
  way: StructuredMethod | undefined,
  providerOptions: LanguageModelV3CallOptions['providerOptions'],
): LanguageModelV3CallOptions {
  const { system, prompt, maxOutputTokens, signal, idempotencyKey, schemaName, trace } = request
  const format = way?.format && { ...way.format, name: legible(schemaName ?? 'answer') }
  return {
    prompt: [
      { role: 'system', content: system },
      { role: 'user', content: [{ type: 'text', text: prompt }] },
    ],
    abortSignal: signal,
    headers: {
      'Idempotency-Key': idempotencyKey,
      ...(trace && { traceparent: trace.traceparent }),
    },
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    // The package's type is draft-07; what is sent is what the dialect takes.
    ...(format && { responseFormat: format as NonNullable<LanguageModelV3CallOptions['responseFormat']> }),
    ...(providerOptions && { providerOptions }),
  }
}

/** Providers take letters, digits, `_` and `-`, at most 64. */
function legible(name: string): string {
  return name.replace(/[^\w-]+/g, '_').slice(0, 64) || 'answer'
}

/** Providers quote keys in their messages; they go no further. */
function redacted(answer: ModelAnswer, text: (text: string) => string): ModelAnswer {
  return 'message' in answer ? { ...answer, message: text(answer.message) } : answer
}

// Streams a call: passes every chunk on as it arrives, and returns the same answer as a call without streaming.

type Growing = { -readonly [K in keyof Gathered]: Gathered[K] }

async function readStream(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  onText: (chunk: string) => void,
  context: FailureContext,
): Promise<ModelAnswer> {
  const all: Growing = { text: '', toolText: '', reasoning: '', refusal: '', finish: 'cut', usage: {} }
  let broken: unknown
  try {
    for await (const part of stream) {
      if (part.type === 'error') broken = part.error
      else take(all, part, onText)
    }
  } catch (cause) {
    broken = cause
  }
  if (context.signal.aborted) return { kind: 'cancelled', message: 'The call was cancelled' }
  const something = all.text !== '' || all.toolText !== ''
  if (broken !== undefined && !something) return toFailureAnswer(broken, context)
  return toModelAnswer(broken === undefined ? all : { ...all, finish: 'cut' })
}

function take(all: Growing, part: LanguageModelV3StreamPart, onText: (chunk: string) => void): void {
  switch (part.type) {
    case 'text-delta':
      all.text += part.delta
      onText(part.delta)
      break
    case 'tool-input-delta':
      all.toolText += part.delta
      if (all.text === '') onText(part.delta)
      break
    case 'tool-call':
      if (all.toolText === '') all.toolText = part.input
      break
    case 'reasoning-delta':
      all.reasoning += part.delta
      break
    case 'raw':
      all.refusal += refusalIn(part.rawValue) ?? ''
      break
    case 'finish':
      all.usage = toCallUsage(part.usage)
      // A stream that ends without saying why was cut.
      all.finish =
        part.finishReason.unified === 'other' && !part.finishReason.raw ? 'cut' : part.finishReason.unified
      break
  }
}

/** Splits `URL#model`, the form in which a model id names its server. */
export function splitServer(model: string): { readonly baseURL?: string; readonly model: string } {
  const hash = model.lastIndexOf('#')
  if (!/^https?:\/\//.test(model) || hash < 0) return { model }
  return { baseURL: model.slice(0, hash), model: model.slice(hash + 1) }
}
