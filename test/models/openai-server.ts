/** A server that speaks OpenAI's wire format: chat, Responses, JSON and SSE, and every way of failing. */
import type { ServerResponse } from 'node:http'
import {
  type ModelServer,
  modelServer,
  type Replies,
  type Seen,
  type StatusReply,
  sendEvents,
} from './model-server.ts'

export type { ModelServer as OpenAiServer, Seen } from './model-server.ts'

/** What the server does with the next request. */
export type Reply =
  | {
      readonly text: string
      readonly finish?: string
      readonly reasoning?: string
      readonly chunks?: number
      readonly cutAfter?: number
      /** Tokens of prompt and answer; null: not counted. Default 100 and 20. */
      readonly tokens?: readonly [number, number] | null
    }
  | { readonly refusal: string }
  | { readonly tool: string }
  | StatusReply
  /** Says nothing until the client goes away. */
  | { readonly hang: true }
  | { readonly raw: string }

export function openAiServer(replies: Replies<Reply>): Promise<ModelServer> {
  return modelServer<Exclude<Reply, StatusReply>>(replies, send)
}

function send(reply: Exclude<Reply, StatusReply>, { path, body }: Seen, response: ServerResponse): void {
  const responses = path.endsWith('/responses')
  if ('hang' in reply) {
    if (body['stream']) response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  } else if ('raw' in reply) response.writeHead(200, { 'content-type': 'application/json' }).end(reply.raw)
  else if (body['stream']) {
    const cutAfter = 'text' in reply ? reply.cutAfter : undefined
    const events = responses ? responsesEvents(reply) : chatEvents(reply)
    sendEvents(response, events.slice(0, cutAfter), { end: cutAfter === undefined ? 'whole' : 'cut' })
  } else {
    const json = responses ? responsesBody(reply) : chatBody(reply)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  }
}

type Said = Exclude<Reply, { hang: true } | StatusReply | { raw: string }>

function usageOf(reply: Said) {
  const tokens = 'text' in reply ? reply.tokens : undefined
  if (tokens === null) return {}
  const [prompt_tokens, completion_tokens] = tokens ?? [100, 20]
  return { usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens } }
}

function chatBody(reply: Said) {
  const message =
    'refusal' in reply
      ? { role: 'assistant', content: null, refusal: reply.refusal }
      : 'tool' in reply
        ? { role: 'assistant', content: null, tool_calls: [toolCall(reply.tool)] }
        : {
            role: 'assistant',
            content: reply.text,
            ...(reply.reasoning && { reasoning_content: reply.reasoning }),
          }
  const finish_reason = 'tool' in reply ? 'tool_calls' : 'text' in reply ? (reply.finish ?? 'stop') : 'stop'
  return { ...head('chat.completion'), choices: [{ index: 0, message, finish_reason }], ...usageOf(reply) }
}

const toolCall = (input: string) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'answer', arguments: input },
})

const head = (object: string) => ({ id: 'chatcmpl-1', object, created: 1, model: 'test-model' })

function responsesBody(reply: Said) {
  const part =
    'refusal' in reply
      ? { type: 'refusal', refusal: reply.refusal }
      : { type: 'output_text', text: 'tool' in reply ? reply.tool : reply.text, annotations: [] }
  const cut = 'text' in reply && reply.finish === 'length'
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'test-model',
    status: cut ? 'incomplete' : 'completed',
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }],
    usage: {
      input_tokens: 100,
      output_tokens: 20,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }
}

function splitChunks(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}

function chatEvents(reply: Said): (object | string)[] {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head('chat.completion.chunk'),
    choices: [{ index: 0, delta, finish_reason }],
  })
  const deltas: object[] =
    'refusal' in reply
      ? splitChunks(reply.refusal, 2).map((refusal) => ({ refusal }))
      : 'tool' in reply
        ? [
            { tool_calls: [{ index: 0, ...toolCall('') }] },
            ...splitChunks(reply.tool, 3).map((input) => ({
              tool_calls: [{ index: 0, function: { arguments: input } }],
            })),
          ]
        : [
            ...(reply.reasoning ? [{ reasoning_content: reply.reasoning }] : []),
            ...splitChunks(reply.text, reply.chunks ?? 5).map((content) => ({ content })),
          ]
  const finish = 'tool' in reply ? 'tool_calls' : 'text' in reply ? (reply.finish ?? 'stop') : 'stop'
  return [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finish),
    { ...head('chat.completion.chunk'), choices: [], ...usageOf(reply) },
    '[DONE]',
  ]
}

function responsesEvents(reply: Said): (object | string)[] {
  const body = responsesBody(reply)
  const text = 'text' in reply ? reply.text : ''
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
  return [
    { type: 'response.created', response: { ...body, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...splitChunks(text, 5).map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
    })),
    ...('refusal' in reply
      ? [
          {
            type: 'response.refusal.delta',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            delta: reply.refusal,
          },
        ]
      : []),
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...item, status: 'completed', content: body.output[0]?.content },
    },
    { type: body.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response: body },
  ]
}
