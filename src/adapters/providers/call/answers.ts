/** A finished call in the words of the port: text, reasoning and usage apart, and the ways of ending told apart. */
import type { LanguageModelV3GenerateResult, LanguageModelV3Usage } from '@ai-sdk/provider'
import type { CallUsage, ModelAnswer } from '../../../domain/ports/provider.ts'
import { refusalIn } from './refusal.ts'

/** What a call has brought, whole or piece by piece. */
export interface Gathered {
  readonly text: string
  /** Arguments of a tool call: some servers answer structured requests that way. */
  readonly toolText: string
  readonly reasoning: string
  readonly refusal: string
  readonly finish: string
  readonly usage: CallUsage
}

export function gather(result: LanguageModelV3GenerateResult): Gathered {
  let [text, toolText, reasoning] = ['', '', '']
  for (const part of result.content) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'reasoning') reasoning += part.text
    else if (part.type === 'tool-call') toolText = part.input
  }
  return {
    text,
    toolText,
    reasoning,
    refusal: refusalIn(result.response?.body) ?? '',
    finish: result.finishReason.unified,
    usage: usageOf(result.usage),
  }
}

export function answerOf(gathered: Gathered): ModelAnswer {
  const { usage, reasoning, refusal, finish } = gathered
  const text = gathered.text.trim() === '' && gathered.toolText !== '' ? gathered.toolText : gathered.text
  if (refusal !== '') return { kind: 'refused', message: refusal, usage }
  if (finish === 'content-filter')
    return { kind: 'refused', message: text || 'The provider withheld the answer', usage }
  if (finish === 'error')
    return { kind: 'error', message: 'The model stopped with an error', ...(text !== '' && { text }), usage }
  return {
    kind: 'text',
    text,
    finish: finish === 'length' ? 'length' : finish === 'cut' ? 'cut' : 'stop',
    usage,
    ...(reasoning !== '' && { reasoning }),
  }
}

export function usageOf({ inputTokens, outputTokens }: LanguageModelV3Usage): CallUsage {
  return {
    ...counted('inputTokens', inputTokens.total),
    ...counted('outputTokens', outputTokens.total),
  }
}

/** Servers that count nothing send nothing, or what is no number. */
function counted(name: 'inputTokens' | 'outputTokens', count: number | undefined): CallUsage {
  return count !== undefined && Number.isFinite(count) ? { [name]: count } : {}
}
