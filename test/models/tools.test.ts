/** Tools on four wires: what goes out, what comes back, and that a turn goes back as it came, as each maker requires. */
import { afterEach, describe, expect, it } from 'vitest'
import { anthropic } from '../../src/adapters/providers/anthropic.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { google } from '../../src/adapters/providers/google.ts'
import { openai } from '../../src/adapters/providers/openai.ts'
import type { ModelAnswer, ModelRequest, Provider } from '../../src/index.ts'
import type { AnswerPart, ModelMessage } from '../../src/types.ts'
import { type ModelServer, modelServer, type Seen } from './model-server.ts'

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(replies: readonly object[]): Promise<ModelServer> {
  const server = await modelServer<{ readonly body: object }>(
    replies.map((body) => ({ body })),
    ({ body }, _, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  )
  servers.push(server)
  return server
}

const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] } as const
const tools = [
  {
    name: 'search',
    description: 'Searches',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  },
]
const task: ModelMessage = { role: 'user', text: 'Why tea?' }

function ask(provider: Provider, model: string, more: Partial<ModelRequest>): Promise<ModelAnswer> {
  return provider.generate({
    model,
    system: 'Find out.',
    prompt: '',
    messages: [task],
    tools,
    schema,
    structured: 'auto',
    idempotencyKey: 'key',
    signal: new AbortController().signal,
    ...more,
  })
}

function partsOf(answer: ModelAnswer): readonly AnswerPart[] {
  if (answer.kind !== 'text' || !answer.parts) throw new Error(JSON.stringify(answer))
  // What a journal keeps.
  return JSON.parse(JSON.stringify(answer.parts))
}

const callsIn = (parts: readonly AnswerPart[]) => parts.filter((part) => part.type === 'tool-call')

/** The conversation after the turn: its parts as they came, and results in order. */
function conversationAfter(parts: readonly AnswerPart[]): readonly ModelMessage[] {
  const results = callsIn(parts).map(({ toolCallId, toolName }, index) => ({
    toolCallId,
    toolName,
    text: `result ${index}`,
    isError: index === 1,
  }))
  return [task, { role: 'assistant', parts }, { role: 'tool', results }]
}

// biome-ignore lint/suspicious/noExplicitAny: the forms of four makers, whose members the tests name
const body = (server: ModelServer, index: number) => (server.seen[index] as Seen).body as Record<string, any>

describe('tools over OpenAI Responses', () => {
  it('keeps nothing there: encrypted reasoning and calls go back inline, and the format goes with the tools', async () => {
    const calls = ['a', 'b'].map((id) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: `call_${id}`,
      name: 'search',
      arguments: '{"query":"tea"}',
      status: 'completed',
    }))
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' }
    const text = { type: 'output_text', text: '{"answer":"x"}', annotations: [] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] }
    const reply = (output: readonly object[]) => ({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'gpt-5',
      status: 'completed',
      output,
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    const server = await serve([reply([reasoning, ...calls]), reply([message])])
    const provider = openai({ apiKey: 'sk-test-key', baseURL: server.url })
    const parts = partsOf(await ask(provider, 'gpt-5', {}))
    expect(callsIn(parts).map(({ toolCallId, input }) => [toolCallId, input])).toEqual([
      ['call_a', '{"query":"tea"}'],
      ['call_b', '{"query":"tea"}'],
    ])
    await ask(provider, 'gpt-5', { messages: conversationAfter(parts) })
    const [first, second] = [body(server, 0), body(server, 1)]
    expect(first).toMatchObject({ store: false, tools: [{ type: 'function', name: 'search' }] })
    expect(first['include']).toContain('reasoning.encrypted_content')
    expect(first['text']?.format).toMatchObject({ type: 'json_schema' })
    const input = second['input'] as readonly Record<string, unknown>[]
    expect(JSON.stringify(input)).not.toContain('item_reference')
    expect(input.filter(({ type }) => type === 'reasoning')).toMatchObject([{ encrypted_content: 'sealed' }])
    expect(input.filter(({ type }) => type === 'function_call')).toMatchObject([
      { call_id: 'call_a', arguments: '{"query":"tea"}' },
      { call_id: 'call_b' },
    ])
    expect(input.filter(({ type }) => type === 'function_call_output')).toMatchObject([
      { call_id: 'call_a', output: 'result 0' },
      { call_id: 'call_b', output: 'result 1' },
    ])
  })
})

describe('tools over Anthropic', () => {
  it('returns signed thinking, and all results first in the next message', async () => {
    const reply = (content: readonly object[], stop_reason: string) => ({
      type: 'message',
      id: 'msg_1',
      model: 'claude-haiku-4-5',
      role: 'assistant',
      content,
      stop_reason,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    const uses = ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'search', input: { query: id } }))
    const thinking = { type: 'thinking', thinking: 'Hm', signature: 'signed' }
    const server = await serve([
      reply([thinking, ...uses], 'tool_use'),
      reply([{ type: 'text', text: '{"answer":"x"}' }], 'end_turn'),
    ])
    const provider = anthropic({ apiKey: 'sk-ant-test', baseURL: server.url })
    const parts = partsOf(await ask(provider, 'claude-haiku-4-5', {}))
    expect(callsIn(parts)).toHaveLength(2)
    await ask(provider, 'claude-haiku-4-5', { messages: conversationAfter(parts), toolChoice: 'none' })
    const [first, second] = [body(server, 0), body(server, 1)]
    expect(first['tools']).toMatchObject([{ name: 'search', input_schema: { type: 'object' } }])
    expect(first).not.toHaveProperty('output_format')
    const [, assistant, results] = second['messages']
    expect(assistant.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm', signature: 'signed' },
      { type: 'tool_use', id: 'a', input: { query: 'a' } },
      { type: 'tool_use', id: 'b' },
    ])
    expect(results).toMatchObject({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'result 0' },
        { type: 'tool_result', tool_use_id: 'b', is_error: true },
      ],
    })
  })
})

describe('tools over Google', () => {
  it('returns the signature of a thought in the part that had it', async () => {
    const reply = (parts: readonly object[]) => ({
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    })
    const server = await serve([
      reply([
        { functionCall: { name: 'search', args: { query: 'a' } }, thoughtSignature: 'signed' },
        { functionCall: { name: 'search', args: { query: 'b' } } },
      ]),
      reply([{ text: '{"answer":"x"}' }]),
    ])
    const provider = google({ apiKey: 'google-test-key', baseURL: server.url })
    const parts = partsOf(await ask(provider, 'gemini-2.5-flash', {}))
    expect(new Set(callsIn(parts).map(({ toolCallId }) => toolCallId)).size).toBe(2)
    await ask(provider, 'gemini-2.5-flash', { messages: conversationAfter(parts), toolChoice: 'none' })
    const [first, second] = [body(server, 0), body(server, 1)]
    expect(first['tools']).toMatchObject([{ functionDeclarations: [{ name: 'search' }] }])
    expect(first['generationConfig'] ?? {}).not.toHaveProperty('responseMimeType')
    expect(second).not.toHaveProperty('tools')
    expect(second['generationConfig']).toMatchObject({ responseMimeType: 'application/json' })
    const [, model, results] = second['contents']
    expect(model.parts[0]).toMatchObject({
      functionCall: { name: 'search', args: { query: 'a' } },
      thoughtSignature: 'signed',
    })
    expect(model.parts[1].functionCall).toMatchObject({ args: { query: 'b' } })
    expect(results.parts).toHaveLength(2)
  })
})

describe('tools over compatible servers', () => {
  const reply = (message: object, finish_reason = 'stop') => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  })
  const called = (id: string, args: unknown, more: object = {}) => ({
    id,
    type: 'function',
    function: { name: 'search', arguments: args },
    ...more,
  })

  it('takes arguments as objects, the same id twice and calls with the finish "stop"; encodes once', async () => {
    const signed = { extra_content: { google: { thought_signature: 'signed' } } }
    const server = await serve([
      reply({ tool_calls: [called('x', { query: 'a' }, signed), called('x', '{"query":"b"}')] }),
      reply({ content: '{"answer":"x"}' }),
    ])
    const provider = compatible({ baseURL: server.url })
    const parts = partsOf(await ask(provider, 'm', {}))
    expect(callsIn(parts).map(({ input }) => JSON.parse(input))).toEqual([{ query: 'a' }, { query: 'b' }])
    await ask(provider, 'm', { messages: conversationAfter(parts) })
    const [, , assistant, ...results] = body(server, 1)['messages']
    const [first, second] = assistant.tool_calls
    expect(first.id).not.toBe(second.id)
    expect(JSON.parse(first.function.arguments)).toEqual({ query: 'a' })
    expect(first.extra_content).toEqual(signed.extra_content)
    expect(results.map((result: { tool_call_id: string }) => result.tool_call_id)).toEqual([
      first.id,
      second.id,
    ])
  })

  it('sends an empty object for arguments that are no JSON, and no empty messages', async () => {
    const server = await serve([reply({ content: 'x' })])
    const provider = compatible({ baseURL: server.url })
    const parts: AnswerPart[] = [
      { type: 'tool-call', toolCallId: 'x', toolName: 'search', input: '{"query":"te' },
    ]
    const empty: ModelMessage = { role: 'assistant', parts: [{ type: 'text', text: '' }] }
    await ask(provider, 'm', {
      messages: [...conversationAfter(parts), empty, { role: 'user', text: 'Continue' }],
    })
    const messages = body(server, 0)['messages']
    expect(messages[2].tool_calls[0].function.arguments).toBe('{}')
    expect(messages.filter(({ role }: { role: string }) => role === 'assistant')).toHaveLength(1)
  })
})
