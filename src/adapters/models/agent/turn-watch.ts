/** Shows a turn of an agent while its model writes it: the text, the arguments of calls, and the answer as far as it can be read. */
import type { TurnPartial } from '../../../domain/loop-facts.ts'
import type { AnswerDelta, ModelTool } from '../../../domain/ports/provider.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { type PartialValue, watchStream } from '../generate/stream-watch.ts'

interface TurnWatchOptions {
  readonly turn: number
  /** Schema of the answer of the node. */
  readonly schema: JsonSchema
  readonly tools: readonly ModelTool[]
  readonly linearPatterns: boolean
  readonly onPartial: (partial: PartialValue) => void
}

interface OpenCall {
  readonly tool: string
  arguments: unknown
  readonly push: (chunk: string) => void
}

/** Begins empty: what an earlier try of the turn has shown is void. */
export function watchTurn(options: TurnWatchOptions): (delta: AnswerDelta) => void {
  const { turn, schema, tools, linearPatterns, onPartial } = options
  const calls = new Map<string, OpenCall>()
  let text = ''
  let answer: PartialValue = { value: undefined, finished: [], replaced: true }
  const show = () => {
    const open = [...calls.values()].map((call) => ({ tool: call.tool, arguments: call.arguments }))
    const shown: TurnPartial = { turn, text, calls: open }
    // With calls, the text is no answer.
    onPartial(
      open.length > 0
        ? { value: undefined, finished: [], replaced: true, turn: shown }
        : { ...answer, turn: shown },
    )
    answer = { ...answer, finished: [], replaced: false }
  }
  const ofAnswer = watchStream({
    schema,
    linearPatterns,
    final: false,
    onPartial: ({ value, finished, replaced }) => {
      answer = { value, finished, replaced: replaced || answer.replaced }
    },
  })
  show()
  return (delta) => {
    if (delta.type === 'reasoning') return
    if (delta.type === 'text') {
      text += delta.delta
      ofAnswer.push(delta.delta)
    } else if (delta.type === 'tool-call') {
      const { toolCallId, toolName } = delta
      calls.set(toolCallId, openCall(toolName, tools, linearPatterns))
    } else calls.get(delta.toolCallId)?.push(delta.delta)
    show()
  }
}

function openCall(tool: string, tools: readonly ModelTool[], linearPatterns: boolean): OpenCall {
  const schema = tools.find(({ name }) => name === tool)?.inputSchema ?? true
  const watch = watchStream({
    schema,
    linearPatterns,
    final: false,
    onPartial: ({ value }) => {
      call.arguments = value
    },
  })
  const call: OpenCall = { tool, arguments: undefined, push: (chunk) => void watch.push(chunk) }
  return call
}
