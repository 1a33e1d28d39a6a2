/** The conversation of an agent, as a pure function of the facts of its loop. */
import type { LoopCall, LoopState } from '../../../domain/loop/loop-state.ts'
import type { AnswerPart } from '../../../domain/output.ts'
import type { ModelMessage, ToolResult } from '../../../domain/ports/provider.ts'

/**
 * The conversation as `model` gets it. Throws if a call has no result: providers refuse such a conversation, and only a bug
 * explains it.
 */
export function toMessages({ turns }: Pick<LoopState, 'turns'>, model: string): ModelMessage[] {
  const messages: ModelMessage[] = []
  for (const { start, end, calls } of turns) {
    if (start.user !== undefined) messages.push({ role: 'user', text: start.user })
    if (!end) continue
    const parts = isSameProvider(start.model, model) ? end.parts : end.parts.flatMap(forAnother)
    if (parts.length > 0) messages.push({ role: 'assistant', parts })
    if (calls.length > 0) messages.push({ role: 'tool', results: calls.map(toResult) })
  }
  return messages
}

function isSameProvider(one: string, other: string): boolean {
  return one.split('/')[0] === other.split('/')[0]
}

/** Signed reasoning and references are of use to their own provider only. */
function forAnother(part: AnswerPart): AnswerPart[] {
  if (part.type === 'reasoning') return []
  const { providerMetadata: _, ...plain } = part
  return [plain]
}

function toResult({ toolCallId, tool, turn, call, verdict, reason, end }: LoopCall): ToolResult {
  const common = { toolCallId, toolName: tool }
  if (end) return { ...common, text: end.content, isError: end.outcome !== 'ok' }
  if (verdict === 'refuse') return { ...common, text: reason ?? 'Not run', isError: true }
  throw new Error(`Call ${call} of turn ${turn} ("${tool}") has no result`)
}
