/**
 * Conversations with tools in the form of the AI SDK: messages out, parts back. Parts of an answer keep their provider's
 * metadata, and go back with it unchanged.
 */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider'
import { isObject } from '../../../base/json.ts'
import type { TakenFile } from '../../../domain/content/file-value.ts'
import type {
  AnswerPart,
  ModelMessage,
  ModelRequest,
  ProviderMetadata,
  ToolResult,
} from '../../../domain/ports/provider.ts'

/** Maps the metadata of an answer to what the package reads on the way back. Default: the same. */
export type ToReplayed = (metadata: ProviderMetadata) => ProviderMetadata

export type SdkContent = LanguageModelV3GenerateResult['content'][number]

export function toSdkMessages(
  messages: readonly ModelMessage[],
  {
    replayed = (metadata) => metadata,
    files = [],
  }: { replayed?: ToReplayed | undefined; files?: readonly TakenFile[] | undefined } = {},
): LanguageModelV3Message[] {
  const sent: LanguageModelV3Message[] = []
  const first = messages.find(({ role }) => role === 'user')
  for (const message of messages) {
    if (message.role === 'user')
      sent.push({
        role: 'user',
        content: [{ type: 'text', text: message.text }, ...(message === first ? files.map(toSdkFile) : [])],
      })
    else if (message.role === 'tool') sent.push({ role: 'tool', content: message.results.map(toSdkResult) })
    else {
      // Providers refuse empty texts, and messages of nothing else.
      const parts = message.parts.filter((part) => part.type !== 'text' || part.text !== '')
      if (parts.length > 0)
        sent.push({ role: 'assistant', content: parts.map((part) => toSdkPart(part, replayed)) })
    }
  }
  return sent
}

function toSdkFile({ mediaType, data, name }: TakenFile): LanguageModelV3FilePart {
  return { type: 'file', mediaType, data, ...(name !== undefined && { filename: name }) }
}

function toSdkPart(part: AnswerPart, replayed: ToReplayed) {
  const options = part.providerMetadata && {
    // The package wrote it, as JSON.
    providerOptions: replayed(part.providerMetadata) as unknown as SharedV3ProviderMetadata,
  }
  if (part.type !== 'tool-call') return { type: part.type, text: part.text, ...options }
  const { toolCallId, toolName, input } = part
  return { type: part.type, toolCallId, toolName, input: toInput(input), ...options }
}

/** Arguments go back as an object: as a text, packages encode them twice, and servers refuse what is no object. */
function toInput(input: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(input)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function toSdkResult({ toolCallId, toolName, text, isError }: ToolResult) {
  const output = { type: isError ? ('error-text' as const) : ('text' as const), value: text }
  return { type: 'tool-result' as const, toolCallId, toolName, output }
}

/** The tools of a request, as options of a call. */
export function toSdkTools({
  tools = [],
  toolChoice = 'auto',
}: Pick<ModelRequest, 'tools' | 'toolChoice'>): Pick<LanguageModelV3CallOptions, 'tools' | 'toolChoice'> {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function' as const,
      name,
      ...(description !== '' && { description }),
      // The package's type is draft-07; what is sent is what the capability declares.
      inputSchema: inputSchema as NonNullable<unknown>,
    })),
    toolChoice:
      typeof toolChoice === 'string' ? { type: toolChoice } : { type: 'tool', toolName: toolChoice.tool },
  }
}

/** What came, in order. Ids that are missing or appear twice are replaced, so that every result finds its call. */
export function toParts({ content }: { readonly content: readonly SdkContent[] }): AnswerPart[] {
  const ids = new Set<string>()
  return content.flatMap((part): AnswerPart[] => {
    if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'tool-call') return []
    const metadata = part.providerMetadata && {
      providerMetadata: part.providerMetadata as unknown as ProviderMetadata,
    }
    if (part.type !== 'tool-call') return [{ type: part.type, text: part.text, ...metadata }]
    if (part.providerExecuted) return []
    const { toolName, input } = part
    let { toolCallId } = part
    for (let count = ids.size + 1; toolCallId === '' || ids.has(toolCallId); count++)
      toolCallId = `call_${count}`
    ids.add(toolCallId)
    return [{ type: 'tool-call', toolCallId, toolName, input, ...metadata }]
  })
}
