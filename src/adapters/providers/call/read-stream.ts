/** Reads a streamed call: passes every piece on as it arrives, and returns the same answer as a call without streaming. */
import type { LanguageModelV3StreamPart, SharedV3ProviderMetadata, SharedV3Warning } from '@ai-sdk/provider'
import type { AnswerDelta, ModelAnswer, ModelRequest } from '../../../domain/ports/provider.ts'
import {
  type FailureContext,
  type Gathered,
  refusalIn,
  toCallUsage,
  toFailureAnswer,
  toModelAnswer,
} from './answers.ts'
import { type SdkContent, toParts } from './conversation.ts'
import { toWarnings } from './model-settings.ts'

type Growing = { -readonly [K in keyof Gathered]: Gathered[K] }
type OnDelta = (delta: AnswerDelta) => void

/** A part that grows until its end; metadata may come with any piece of it. */
interface GrowingPart {
  readonly type: 'text' | 'reasoning'
  text: string
  providerMetadata?: SharedV3ProviderMetadata
}

/** A call whose arguments arrive; replaced by the whole call, which keeps its place. */
interface OpenCall {
  readonly type: 'tool-input'
  readonly id: string
}

interface Taken {
  readonly all: Growing
  readonly content: (GrowingPart | OpenCall | SdkContent)[]
  readonly open: Map<string, GrowingPart>
  warnings: readonly SharedV3Warning[]
  rawFinish?: string | undefined
}

/** With `isTurn`, the answer has parts, and arguments of tools are no text. */
export async function readStream(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  { onText, onDelta, messages }: Pick<ModelRequest, 'onText' | 'onDelta' | 'messages'>,
  context: FailureContext,
): Promise<ModelAnswer> {
  const isTurn = messages !== undefined
  const taken: Taken = {
    all: { text: '', toolText: '', reasoning: '', refusal: '', finish: 'cut', usage: {} },
    content: [],
    open: new Map(),
    warnings: [],
  }
  let broken: unknown
  try {
    for await (const part of stream) {
      if (part.type === 'error') broken = part.error
      else {
        take(taken, part, onDelta)
        if (!isTurn) passText(taken.all, part, onText)
      }
    }
  } catch (cause) {
    broken = cause
  }
  if (context.signal.aborted) return { kind: 'cancelled', message: 'The call was cancelled' }
  const { all, content, rawFinish } = taken
  const warnings = toWarnings(taken.warnings)
  const warned = warnings.length > 0 && { warnings }
  if (broken !== undefined && content.length === 0) return toFailureAnswer(broken, context)
  const whole = broken === undefined ? all : { ...all, finish: 'cut' }
  const answer = toModelAnswer(isTurn ? { ...whole, toolText: '' } : whole)
  if (answer.kind !== 'text' || !isTurn) return { ...answer, ...warned }
  const parts = toParts({ content: content.filter((part): part is SdkContent => part.type !== 'tool-input') })
  return { ...answer, parts, ...(rawFinish !== undefined && { rawFinish }), ...warned }
}

/** For calls without tools: some servers write a structured answer as the arguments of a call. */
function passText(
  all: Growing,
  part: LanguageModelV3StreamPart,
  onText: ((chunk: string) => void) | undefined,
): void {
  if (part.type === 'text-delta') onText?.(part.delta)
  if (part.type === 'tool-input-delta' && all.text === '') onText?.(part.delta)
}

function take(taken: Taken, part: LanguageModelV3StreamPart, onDelta: OnDelta | undefined): void {
  const { all, content } = taken
  switch (part.type) {
    case 'stream-start':
      taken.warnings = part.warnings
      break
    case 'text-start':
    case 'reasoning-start':
    case 'text-delta':
    case 'reasoning-delta':
    case 'text-end':
    case 'reasoning-end':
      grow(taken, part, onDelta)
      break
    case 'tool-input-start':
      content.push({ type: 'tool-input', id: part.id })
      onDelta?.({ type: 'tool-call', toolCallId: part.id, toolName: part.toolName })
      break
    case 'tool-input-delta':
      all.toolText += part.delta
      onDelta?.({ type: 'tool-input', toolCallId: part.id, delta: part.delta })
      break
    case 'tool-call':
      if (all.toolText === '') all.toolText = part.input
      putCall(content, part)
      break
    case 'raw':
      all.refusal += refusalIn(part.rawValue) ?? ''
      break
    case 'finish':
      all.usage = toCallUsage(part.usage)
      taken.rawFinish = part.finishReason.raw
      // A stream that ends without saying why was cut.
      all.finish =
        part.finishReason.unified === 'other' && !part.finishReason.raw ? 'cut' : part.finishReason.unified
      break
  }
}

type TextPart = Extract<LanguageModelV3StreamPart, { type: `${'text' | 'reasoning'}-${string}` }>

function grow({ all, content, open }: Taken, part: TextPart, onDelta: OnDelta | undefined): void {
  const type = part.type.startsWith('text') ? 'text' : 'reasoning'
  const key = `${type} ${part.id}`
  let growing = open.get(key)
  if (!growing || part.type.endsWith('-start')) {
    growing = { type, text: '' }
    open.set(key, growing)
    content.push(growing)
  }
  if (part.providerMetadata) growing.providerMetadata = merge(growing.providerMetadata, part.providerMetadata)
  if (!('delta' in part)) return
  growing.text += part.delta
  all[type] += part.delta
  if (part.delta !== '') onDelta?.({ type, delta: part.delta })
}

/** A signature comes after the words, encrypted reasoning with the end. */
function merge(
  one: SharedV3ProviderMetadata | undefined,
  other: SharedV3ProviderMetadata,
): SharedV3ProviderMetadata {
  const merged = { ...one }
  for (const [name, members] of Object.entries(other)) merged[name] = { ...merged[name], ...members }
  return merged
}

/** Puts the whole call where its arguments began. */
function putCall(content: Taken['content'], call: Extract<SdkContent, { type: 'tool-call' }>): void {
  const at = content.findIndex((part) => part.type === 'tool-input' && part.id === call.toolCallId)
  if (at < 0) content.push(call)
  else content[at] = call
}
