/** A provider of ours from a provider package of the AI SDK: one call, generated or streamed, and what it was asked for. */
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3Message } from '@ai-sdk/provider'
import { ProvisoError } from '../../../base/errors/error.ts'
import type { Json } from '../../../base/json.ts'
import type { ModelAnswer, ModelRequest, ModelWarning, Provider } from '../../../domain/ports/provider.ts'
import { createRedactor } from '../../../domain/redaction/redact.ts'
import { schemaHash } from '../../../schema/hash.ts'
import type { DialectName } from '../structured-output/dialects.ts'
import { isWhole, planStructured, type StructuredMethod } from '../structured-output/structured-plan.ts'
import { gather, isFormatRefusal, toFailureAnswer, toModelAnswer } from './answers.ts'
import { type AiSdkModel, asV3 } from './as-v3.ts'
import { type ToReplayed, toParts, toSdkMessages, toSdkTools } from './conversation.ts'
import { type ToEffort, toSdkSettings, toWarnings, unknownEffort } from './model-settings.ts'
import { readStream } from './read-stream.ts'

interface SdkProviderOptions {
  readonly name: string
  readonly dialect: DialectName
  readonly jsonObject?: boolean
  readonly guides?: boolean
  readonly unsure?: true
  readonly overhead?: number
  /** Structured output and tools can be asked for in one call. Default false: a call with tools asks for no format. */
  readonly formatWithTools?: true
  readonly replayed?: ToReplayed
  /** Types of files that its models take. Default: none. */
  readonly files?: RegExp
  /** Keys, to be kept out of messages. */
  readonly secrets: readonly string[]
  /** May load the package of the provider, which is optional. */
  readonly model: (id: string) => AiSdkModel | Promise<AiSdkModel>
  /** What this provider's package wants beside the common options. */
  readonly extras?: (
    request: ModelRequest,
    way: StructuredMethod | undefined,
  ) => { readonly [provider: string]: { readonly [name: string]: Json } } | undefined
  /** Under which name the package reads its options. Default: the name of the provider. */
  readonly optionsName?: string
  /** Passes the reasoning effort on. Default: reports that it is not passed on. */
  readonly toEffort?: ToEffort
  /** What marks a message as worth caching, where the provider does not find out itself. */
  readonly cacheHints?: NonNullable<LanguageModelV3Message['providerOptions']> | undefined
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
    tools = [],
    toolChoice,
  }: Parameters<NonNullable<Provider['structured']>>[0]) =>
    tools.length > 0 && toolChoice !== 'none' && !options.formatWithTools
      ? undefined
      : planStructured({ ...options, provider: name, model, intent: structured, schema })

  const call = async (
    model: LanguageModelV3,
    request: ModelRequest,
    way: StructuredMethod | undefined,
  ): Promise<ModelAnswer> => {
    const { sent, warnings } = callOptions(request, way, options)
    const context = { signal: request.signal, now }
    const isStreamed = request.messages ? request.onDelta !== undefined : request.onText !== undefined
    if (isStreamed) {
      const { stream } = await model.doStream({ ...sent, includeRawChunks: true })
      return warned(await readStream(stream, request, context), warnings)
    }
    const result = await model.doGenerate(sent)
    const all = [...warnings, ...toWarnings(result.warnings)]
    // Arguments of tools are no answer.
    const answer = toModelAnswer({ ...gather(result), ...(request.messages && { toolText: '' }) })
    if (answer.kind !== 'text' || !request.messages) return warned(answer, all)
    const { raw } = result.finishReason
    const parts = toParts(result)
    return warned({ ...answer, parts, ...(raw !== undefined && { rawFinish: raw }) }, all)
  }

  /** A name that cannot be called is no call that failed: nothing left, and nothing will. */
  const modelFor = async (id: string): Promise<LanguageModelV3 | ModelAnswer> => {
    try {
      return asV3(await options.model(id))
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      return { kind: 'error', message, ...(ProvisoError.is(cause) && { hint: cause.hint }), fatal: true }
    }
  }

  return {
    name,
    tools: true,
    secrets: () => secrets,
    takesFile: ({ mediaType }) => options.files?.test(mediaType) ?? false,
    structured(request) {
      const ways = waysFor(request) ?? []
      const refused = refusals.get(keyOf(request)) ?? 0
      return (
        ways[Math.min(refused, ways.length - 1)]?.outcome ?? {
          kind: 'skipped',
          reason: 'nothing was asked for',
        }
      )
    },
    async generate(request) {
      const model = await modelFor(request.model)
      if ('kind' in model) return redacted(model, redactor.text)
      const ways = waysFor(request)
      const key = keyOf(request)
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

function keyOf({
  model,
  structured,
  schema = true,
}: Pick<ModelRequest, 'model' | 'structured' | 'schema'>): string {
  return `${model} ${structured} ${schemaHash(schema)}`
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
  {
    extras,
    replayed,
    formatWithTools,
    optionsName,
    toEffort = unknownEffort,
    name,
    cacheHints,
  }: SdkProviderOptions,
): { readonly sent: LanguageModelV3CallOptions; readonly warnings: readonly ModelWarning[] } {
  const { system, prompt, signal, idempotencyKey, schemaName, schemaWords, trace } = request
  const format = way?.format && { ...way.format, name: legible(schemaName ?? 'answer') }
  const messages = request.messages ?? [{ role: 'user', text: prompt }]
  const { options, warnings } = toSdkSettings(request, {
    optionsName: optionsName ?? name,
    toEffort,
    extras: extras?.(request, way),
  })
  const conversation: LanguageModelV3Message[] = [
    {
      role: 'system',
      content: schemaWords !== undefined && !isWhole(way?.outcome) ? `${system}\n\n${schemaWords}` : system,
    },
    ...toSdkMessages(messages, { replayed, files: request.files }),
  ]
  // Where a format excludes tools, a turn without calls does not send them at all.
  const areToolsSent = request.toolChoice !== 'none' || formatWithTools
  const sent = {
    // Turns of a loop send the same beginning again and again.
    prompt: cacheHints && request.messages ? withCacheHints(conversation, cacheHints) : conversation,
    ...(areToolsSent && toSdkTools(request)),
    abortSignal: signal,
    headers: {
      'Idempotency-Key': idempotencyKey,
      ...(trace && { traceparent: trace.traceparent }),
    },
    ...options,
    // The package's type is draft-07; what is sent is what the dialect takes.
    ...(format && { responseFormat: format as NonNullable<LanguageModelV3CallOptions['responseFormat']> }),
  }
  return { sent, warnings }
}

/** Marks the end of the system text and of the conversation as what to cache. */
function withCacheHints(
  conversation: readonly LanguageModelV3Message[],
  providerOptions: NonNullable<SdkProviderOptions['cacheHints']>,
): LanguageModelV3Message[] {
  const last = conversation.length - 1
  return conversation.map((message, index) =>
    index === 0 || index === last ? { ...message, providerOptions } : message,
  )
}

function warned(answer: ModelAnswer, warnings: readonly ModelWarning[]): ModelAnswer {
  const all = [...(answer.warnings ?? []), ...warnings]
  return all.length > 0 ? { ...answer, warnings: all } : answer
}

/** Providers take letters, digits, `_` and `-`, at most 64. */
function legible(name: string): string {
  return name.replace(/[^\w-]+/g, '_').slice(0, 64) || 'answer'
}

/** Providers quote keys in their messages; they go no further. */
function redacted(answer: ModelAnswer, text: (text: string) => string): ModelAnswer {
  return 'message' in answer ? { ...answer, message: text(answer.message) } : answer
}

/** Splits `URL#model`, the form in which a model id names its server. */
export function splitServer(model: string): { readonly baseURL?: string; readonly model: string } {
  const hash = model.lastIndexOf('#')
  if (!/^https?:\/\//.test(model) || hash < 0) return { model }
  return { baseURL: model.slice(0, hash), model: model.slice(hash + 1) }
}
