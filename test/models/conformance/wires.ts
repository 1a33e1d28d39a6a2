/** Five wires of four makers: scripted turns in the form of each, whole and streamed, behind what its real API refuses. */
import type { ServerResponse } from 'node:http'
import { anthropic } from '../../../src/adapters/providers/anthropic.ts'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { google } from '../../../src/adapters/providers/google.ts'
import { openai } from '../../../src/adapters/providers/openai.ts'
import type { Provider } from '../../../src/index.ts'
import { type ModelServer, modelServer, type Seen, sendEvents } from '../model-server.ts'
import { refuseAnthropic, refuseChat, refuseGoogle, refuseResponses, signed } from './strict.ts'

export interface ScriptedCall {
  readonly name: string
  readonly input: object
}

/** What a scripted model does: thinks, writes, calls. */
export interface ScriptedTurn {
  readonly thought?: string
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** In the maker's own word. Default: that of a turn that has ended as it should. */
  readonly finish?: string
  /** Only when streamed: the socket breaks after half of the events. */
  readonly cut?: true
}

export interface Wire {
  readonly name: string
  readonly model: string
  readonly provider: (url: string) => Provider
  readonly refuse: (body: Seen['body']) => string | undefined
  readonly turnsSoFar: (body: Seen['body']) => number
  readonly isStreamed: (seen: Seen) => boolean
  readonly whole: (turn: ScriptedTurn, index: number) => object
  readonly events: (turn: ScriptedTurn, index: number) => readonly (object | string)[]
  readonly named?: true
}

/** Replies by the number of turns in the conversation, so that the same conversation gets the same answer. */
export function serveWire(
  wire: Wire,
  script: (turn: number, seen: Seen) => ScriptedTurn,
): Promise<ModelServer> {
  return modelServer<{ readonly turn: ScriptedTurn; readonly index: number }>(
    (seen) => {
      const wrong = wire.refuse(seen.body)
      if (wrong !== undefined)
        return { status: 400, body: { error: { message: wrong, type: 'invalid_request_error', code: 400 } } }
      const index = wire.turnsSoFar(seen.body)
      return { turn: script(index, seen), index }
    },
    ({ turn, index }, seen, response) => {
      if (wire.isStreamed(seen)) return send(wire, response, { turn, index })
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(wire.whole(turn, index)))
    },
  )
}

function send(wire: Wire, response: ServerResponse, given: { turn: ScriptedTurn; index: number }): void {
  const { turn, index } = given
  const events = wire.events(turn, index)
  const sent = turn.cut ? events.slice(0, Math.ceil(events.length / 2)) : events
  sendEvents(response, sent, { named: wire.named ?? false, end: turn.cut ? 'cut' : 'whole' })
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four makers
type Body = any

/** In chunks of three characters. */
const chunksOf = (text: string): readonly string[] => text.match(/[\s\S]{1,3}/g) ?? []

// OpenAI's chat format, also of compatible servers.

const chatUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
const chatCalls = ({ calls = [] }: ScriptedTurn, index: number) =>
  calls.map(({ name, input }, at) => ({
    id: `call_${index}_${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
const chatFinish = ({ finish, calls = [] }: ScriptedTurn) =>
  finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
const chatChunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})

const chat: Pick<Wire, 'refuse' | 'turnsSoFar' | 'isStreamed' | 'whole' | 'events'> = {
  refuse: refuseChat,
  turnsSoFar: ({ messages }) => (messages as Body).filter(({ role }: Body) => role === 'assistant').length,
  isStreamed: ({ body }) => body['stream'] === true,
  whole: (turn, index) => {
    const calls = chatCalls(turn, index)
    const message = {
      role: 'assistant',
      content: turn.text ?? null,
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    const choices = [{ index: 0, message, finish_reason: chatFinish(turn) }]
    return { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage: chatUsage }
  },
  events: (turn, index) => [
    ...chunksOf(turn.text ?? '').map((content) => chatChunk({ content })),
    ...chatCalls(turn, index).flatMap(({ id, type, function: { name, arguments: all } }, at) => [
      chatChunk({ tool_calls: [{ index: at, id, type, function: { name, arguments: '' } }] }),
      ...chunksOf(all).map((part) =>
        chatChunk({ tool_calls: [{ index: at, function: { arguments: part } }] }),
      ),
    ]),
    chatChunk({}, chatFinish(turn)),
    chatChunk({}, null, { choices: [], usage: chatUsage }),
    '[DONE]',
  ],
}

// OpenAI's Responses.

function responseItems({ thought, text, calls = [] }: ScriptedTurn, index: number): readonly Body[] {
  return [
    ...(thought === undefined
      ? []
      : [{ type: 'reasoning', id: `rs_${index}`, summary: [], encrypted_content: signed(thought) }]),
    ...(text === undefined
      ? []
      : [
          {
            type: 'message',
            id: `msg_${index}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map(({ name, input }, at) => ({
      type: 'function_call',
      id: `fc_${index}_${at}`,
      call_id: `call_${index}_${at}`,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ]
}

const responseHead = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-5' }
const responseUsage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 }

function responseEvents(item: Body, output_index: number): readonly object[] {
  const empty = {
    ...item,
    ...('arguments' in item && { arguments: '' }),
    ...('content' in item && { content: [] }),
  }
  const { id: item_id } = item
  const deltas =
    item.type === 'message'
      ? chunksOf(item.content[0].text).map((delta) => ({
          type: 'response.output_text.delta',
          item_id,
          output_index,
          content_index: 0,
          delta,
        }))
      : item.type === 'function_call'
        ? chunksOf(item.arguments).map((delta) => ({
            type: 'response.function_call_arguments.delta',
            item_id,
            output_index,
            delta,
          }))
        : []
  return [
    { type: 'response.output_item.added', output_index, item: empty },
    ...deltas,
    { type: 'response.output_item.done', output_index, item },
  ]
}

// Anthropic's messages.

const blocksOf = ({ thought, text, calls = [] }: ScriptedTurn, index: number): readonly Body[] => [
  ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: signed(thought) }]),
  ...(text === undefined ? [] : [{ type: 'text', text }]),
  ...calls.map(({ name, input }, at) => ({ type: 'tool_use', id: `toolu_${index}_${at}`, name, input })),
]
const stopReason = ({ finish, calls = [] }: ScriptedTurn) =>
  finish ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
const anthropicHead = { type: 'message', id: 'msg_1', model: 'claude-sonnet-4-5', role: 'assistant' }

function blockEvents(block: Body, index: number): readonly object[] {
  const deltas: readonly object[] =
    block.type === 'thinking'
      ? [
          ...chunksOf(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ]
      : block.type === 'text'
        ? chunksOf(block.text).map((text) => ({ type: 'text_delta', text }))
        : chunksOf(JSON.stringify(block.input)).map((partial_json) => ({
            type: 'input_json_delta',
            partial_json,
          }))
  const empty = {
    ...block,
    ...(block.type === 'thinking' && { thinking: '', signature: '' }),
    ...(block.type === 'text' && { text: '' }),
    ...(block.type === 'tool_use' && { input: {} }),
  }
  return [
    { type: 'content_block_start', index, content_block: empty },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

// Google's contents.

function googleParts({ thought, text, calls = [] }: ScriptedTurn): readonly Body[] {
  const signature = signed(thought ?? 'none')
  return [
    ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, input }, at) => ({
      functionCall: { name, args: input },
      ...(at === 0 && { thoughtSignature: signature }),
    })),
  ]
}
const googleReply = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
})

export const wires: readonly Wire[] = [
  {
    name: 'openai responses',
    model: 'openai/gpt-5',
    provider: (baseURL) => openai({ apiKey: 'sk-test-key', baseURL }),
    refuse: refuseResponses,
    // Each turn of the scripts thinks first.
    turnsSoFar: ({ input }) => (input as Body).filter(({ type }: Body) => type === 'reasoning').length,
    isStreamed: ({ body }) => body['stream'] === true,
    whole: (turn, index) => ({
      ...responseHead,
      status: 'completed',
      output: responseItems(turn, index),
      usage: responseUsage,
    }),
    events: (turn, index) => [
      { type: 'response.created', response: { ...responseHead, status: 'in_progress', output: [] } },
      ...responseItems(turn, index).flatMap(responseEvents),
      {
        type: 'response.completed',
        response: { ...responseHead, status: 'completed', usage: responseUsage },
      },
    ],
  },
  {
    name: 'openai chat',
    model: 'openai/gpt-5',
    provider: (baseURL) => openai({ apiKey: 'sk-test-key', api: 'chat', baseURL }),
    ...chat,
  },
  {
    name: 'anthropic',
    model: 'anthropic/claude-sonnet-4-5',
    provider: (baseURL) => anthropic({ apiKey: 'sk-ant-test-key', baseURL }),
    refuse: refuseAnthropic,
    turnsSoFar: ({ messages }) => (messages as Body).filter(({ role }: Body) => role === 'assistant').length,
    isStreamed: ({ body }) => body['stream'] === true,
    whole: (turn, index) => ({
      ...anthropicHead,
      content: blocksOf(turn, index),
      stop_reason: stopReason(turn),
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 20 },
    }),
    events: (turn, index) => [
      {
        type: 'message_start',
        message: {
          ...anthropicHead,
          content: [],
          stop_reason: null,
          usage: { input_tokens: 100, output_tokens: 1 },
        },
      },
      ...blocksOf(turn, index).flatMap(blockEvents),
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason(turn), stop_sequence: null },
        usage: { output_tokens: 20 },
      },
      { type: 'message_stop' },
    ],
    named: true,
  },
  {
    name: 'google',
    model: 'google/gemini-2.5-flash',
    provider: (baseURL) => google({ apiKey: 'google-test-key', baseURL }),
    refuse: refuseGoogle,
    turnsSoFar: ({ contents }) => (contents as Body).filter(({ role }: Body) => role === 'model').length,
    isStreamed: ({ path }) => path.includes('streamGenerateContent'),
    whole: (turn) => googleReply(googleParts(turn), turn.finish ?? 'STOP'),
    events: (turn) => [
      ...googleParts(turn).flatMap((part) =>
        part.functionCall
          ? [googleReply([part])]
          : chunksOf(part.text).map((text) => googleReply([{ ...part, text }])),
      ),
      googleReply([], turn.finish ?? 'STOP'),
    ],
  },
  {
    name: 'compatible',
    model: 'compatible/m',
    provider: (baseURL) => compatible({ baseURL }),
    ...chat,
  },
]
