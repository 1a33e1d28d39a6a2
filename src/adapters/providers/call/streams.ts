/** A streamed call: every piece is passed on as it arrives, and at the end it is the same as a whole one. */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { ModelAnswer } from '../../../domain/ports/provider.ts'
import { answerOf, type Gathered, usageOf } from './answers.ts'
import { type FailureContext, failureOf } from './failures.ts'
import { refusalIn } from './refusal.ts'

type Growing = { -readonly [K in keyof Gathered]: Gathered[K] }

export async function readStream(
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
  if (broken !== undefined && !something) return failureOf(broken, context)
  return answerOf(broken === undefined ? all : { ...all, finish: 'cut' })
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
      all.usage = usageOf(part.usage)
      // A stream that ends without saying why was cut.
      all.finish =
        part.finishReason.unified === 'other' && !part.finishReason.raw ? 'cut' : part.finishReason.unified
      break
  }
}
