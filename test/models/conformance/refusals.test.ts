/**
 * Negative controls of the scripted servers: a request that a loop has sent is accepted as it is, and refused once a single
 * rule of its maker is broken. Without this, a suite that passes would say nothing about the rules.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineAgent, tool } from '../../../src/index.ts'
import { open } from '../../journeys/support.ts'
import { answerSchema, draft, envelope, query } from '../../tools/agent-parts.ts'
import type { ModelServer, Seen } from '../model-server.ts'
import { type ScriptedTurn, serveWire, wires } from './wires.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies of four makers, changed where a rule is broken
type Body = any

const both = [
  { name: 'search', input: { query: 'tea' } },
  { name: 'read', input: { query: 'book' } },
]
const script = (turn: number): ScriptedTurn =>
  turn === 0
    ? { thought: 'I need both', text: 'I look it up.', calls: both }
    : { thought: 'Enough', text: JSON.stringify({ answer: 'Because', sources: [] }) }

/** Breaks one rule in a copy of a request, and a part of what the server says then. */
type Broken = readonly [rule: string, break_: (body: Body) => void, said: string]

const roleOf = (body: Body, role: string) => body.messages.find((message: Body) => message.role === role)
const indexOf = (list: Body, type: string) => list.findIndex((item: Body) => item.type === type)
const swapped = (list: Body, at: number) => list.splice(at, 2, list[at + 1], list[at])

const chat: readonly Broken[] = [
  ['a result is missing', ({ messages }) => messages.pop(), 'did not have response messages'],
  ['results in another order', ({ messages }) => swapped(messages, messages.length - 2), 'must follow their'],
  ['a result without its call', (body) => delete roleOf(body, 'assistant').tool_calls, 'must follow their'],
  [
    'arguments encoded twice',
    (body) => {
      const [call] = roleOf(body, 'assistant').tool_calls
      call.function.arguments = JSON.stringify(call.function.arguments)
    },
    'arguments are no object',
  ],
  [
    'two calls of one id',
    (body) => {
      for (const call of roleOf(body, 'assistant').tool_calls) call.id = 'same'
    },
    'two tool calls have the same id',
  ],
  [
    'an empty turn',
    ({ messages }) => messages.push({ role: 'assistant', content: '' }),
    'an assistant message is empty',
  ],
  [
    'a forced tool that is not there',
    (body) => Object.assign(body, { tool_choice: { type: 'function', function: { name: 'none' } } }),
    "Tool choice 'none' not found",
  ],
]

const rules: Readonly<Record<string, readonly Broken[]>> = {
  'openai chat': chat,
  compatible: chat,
  'openai responses': [
    ['a result is missing', ({ input }) => input.pop(), 'No tool output found'],
    [
      'a call is missing',
      ({ input }) => input.splice(indexOf(input, 'function_call'), 1),
      'No tool call found',
    ],
    [
      'reasoning is missing',
      ({ input }) => input.splice(indexOf(input, 'reasoning'), 1),
      'without its required reasoning item',
    ],
    [
      'reasoning is not encrypted',
      ({ input }) => delete input[indexOf(input, 'reasoning')].encrypted_content,
      'without encrypted_content',
    ],
    [
      'a reference to what is not stored',
      ({ input }) => input.splice(indexOf(input, 'reasoning'), 1, { type: 'item_reference', id: 'rs_0' }),
      "Item with id 'rs_0' not found",
    ],
    [
      'a forced tool that is not there',
      (body) => Object.assign(body, { tool_choice: { type: 'function', name: 'none' } }),
      "Tool choice 'none' not found",
    ],
  ],
  anthropic: [
    ['a result is missing', ({ messages }) => messages.at(-1).content.pop(), 'without tool_result blocks'],
    [
      'words before the results',
      ({ messages }) => messages.at(-1).content.unshift({ type: 'text', text: 'Well' }),
      'without tool_result blocks',
    ],
    [
      'a changed thought',
      (body) => Object.assign(roleOf(body, 'assistant').content[0], { thinking: 'Something else' }),
      'Invalid `signature`',
    ],
    [
      'a cached thought',
      (body) => Object.assign(roleOf(body, 'assistant').content[0], { cache_control: { type: 'ephemeral' } }),
      'thinking blocks cannot have cache_control',
    ],
    [
      'an empty text',
      ({ messages }) => messages.at(-1).content.push({ type: 'text', text: '' }),
      'must be non-empty',
    ],
    [
      'two turns of one role',
      ({ messages }) => messages.push({ role: 'user', content: [{ type: 'text', text: 'And?' }] }),
      'roles must alternate',
    ],
    [
      'too many hints for the cache',
      ({ tools }) => {
        for (const tool of [...tools, ...tools]) tool.cache_control = { type: 'ephemeral' }
        tools.push(...tools.map((tool: Body) => ({ ...tool })))
      },
      'A maximum of 4 blocks',
    ],
    [
      'forced while it thinks',
      (body) =>
        Object.assign(body, {
          max_tokens: 4_000,
          thinking: { type: 'enabled', budget_tokens: 2_000 },
          tool_choice: { type: 'any' },
        }),
      'Thinking may not be enabled when tool_choice forces',
    ],
  ],
  google: [
    [
      'a result is missing',
      ({ contents }) => contents.at(-1).parts.pop(),
      'number of function response parts',
    ],
    ['results in another order', ({ contents }) => contents.at(-1).parts.reverse(), 'in another order'],
    [
      'a signature is missing',
      ({ contents }) => {
        for (const part of contents.at(-2).parts) delete part.thoughtSignature
      },
      'missing a thought_signature',
    ],
    [
      'an invented signature',
      ({ contents }) => {
        for (const part of contents.at(-2).parts) if (part.functionCall) part.thoughtSignature = 'skip'
      },
      'Thought signature is not valid',
    ],
    ['a turn of nothing', ({ contents }) => contents.push({ role: 'model', parts: [] }), 'must not be empty'],
    [
      'JSON together with tools',
      (body) => Object.assign(body, { generationConfig: { responseMimeType: 'application/json' } }),
      'is unsupported',
    ],
  ],
}

describe.each(wires)('$name', (wire) => {
  let server: ModelServer
  let seen: Seen
  beforeAll(async () => {
    server = await serveWire(wire, script)
    const tools = ['search', 'read'].map((id) =>
      tool({ id, description: id, input: query, output: query, run: (input) => input }),
    )
    const { model, provider } = wire
    const agent = { id: 'researcher', model, instructions: 'Find out.', output: answerSchema, tools }
    const input = { type: 'object', properties: { question: { type: 'string' } } } as const
    const app = await open({
      providers: [provider(server.url)],
      capabilities: [defineAgent({ ...agent, input })],
    })
    expect(await app.run(envelope, { draft })).toMatchObject({ status: 'completed' })
    seen = server.seen[1] as Seen
  })
  afterAll(() => server.close())

  const send = async (body: object) => {
    const response = await fetch(new URL(seen.path, server.url), {
      method: 'POST',
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }

  it('accepts what the loop has sent', async () => {
    expect(await send(seen.body)).toMatchObject({ status: 200 })
  })

  it.each(rules[wire.name] ?? [])('refuses: %s', async (_rule, break_, said) => {
    const body = structuredClone(seen.body)
    break_(body)
    const { status, text } = await send(body)
    expect(status, text).toBe(400)
    expect(JSON.parse(text).error.message).toContain(said)
  })

  it('has rules to break', () => {
    expect(rules[wire.name]?.length).toBeGreaterThan(4)
  })
})
