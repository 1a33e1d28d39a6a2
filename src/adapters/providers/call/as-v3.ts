/**
 * Models of the AI SDK in every version of its interface, called as version 3. Models of version 2 count and end in other
 * words; version 4 has the words of version 3.
 */
import type {
  LanguageModelV3,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider'

/** A language model of the AI SDK (`LanguageModelV2`, `V3` or `V4`), such as `openai('gpt-5-mini')` of `@ai-sdk/openai`. */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<object>
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream }>
}

export function asV3(model: AiSdkModel): LanguageModelV3 {
  const called = model as unknown as LanguageModelV3
  if (model.specificationVersion === 'v3') return called
  return {
    specificationVersion: 'v3',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: {},
    async doGenerate(options) {
      const result = await called.doGenerate(options)
      return { ...result, ...ending(result) }
    },
    async doStream(options) {
      const { stream, ...rest } = await called.doStream(options)
      return { ...rest, stream: stream.pipeThrough(withEnding()) }
    },
  }
}

/** What the end of a call looks like in any version. */
interface AnyEnding {
  readonly finishReason: LanguageModelV3FinishReason | string
  readonly usage: LanguageModelV3Usage | { readonly inputTokens?: number; readonly outputTokens?: number }
}

function ending(result: object): Pick<LanguageModelV3GenerateResult, 'finishReason' | 'usage'> {
  const { finishReason, usage } = result as AnyEnding
  return { finishReason: toReason(finishReason), usage: toUsage(usage) }
}

function toReason(given: AnyEnding['finishReason']): LanguageModelV3FinishReason {
  const unified = typeof given === 'object' ? given.unified : given
  const raw = typeof given === 'object' ? given.raw : given
  // `unknown` and `interrupted`: the stream ended without saying why.
  return isUnified(unified) ? { unified, raw } : { unified: 'other', raw: undefined }
}

const unifiedReasons: ReadonlySet<string> = new Set<LanguageModelV3FinishReason['unified']>([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'other',
])

function isUnified(reason: string): reason is LanguageModelV3FinishReason['unified'] {
  return unifiedReasons.has(reason)
}

function toUsage({ inputTokens, outputTokens }: AnyEnding['usage']): LanguageModelV3Usage {
  const total = (tokens: number | { readonly total: number | undefined } | undefined) =>
    typeof tokens === 'object' ? tokens.total : tokens
  return {
    inputTokens: {
      total: total(inputTokens),
      noCache: undefined,
      cacheRead: undefined,
      cacheWrite: undefined,
    },
    outputTokens: { total: total(outputTokens), text: undefined, reasoning: undefined },
  }
}

function withEnding(): TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart> {
  return new TransformStream({
    transform(part, controller) {
      controller.enqueue(part.type === 'finish' ? { ...part, ...ending(part) } : part)
    },
  })
}
