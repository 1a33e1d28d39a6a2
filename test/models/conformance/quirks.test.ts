/** What servers with OpenAI's chat format do beside the rules, whole and streamed, through a whole loop: none of it breaks a run. */
import { afterEach, describe, expect, it } from 'vitest'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { journal, open } from '../../journeys/support.ts'
import { draft, envelope } from '../../tools/agent-parts.ts'
import { agent, makeTools } from '../../tools/support.ts'
import { type ModelServer, modelServer, type Seen, sendEvents } from '../model-server.ts'
import { refuseChat } from './strict.ts'

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const answer = { answer: 'Because', sources: ['a'] }
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})
const whole = (message: object, finish_reason = 'tool_calls') => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
  usage: { prompt_tokens: 10, completion_tokens: 5 },
})
const call = (args: unknown, more: object = {}) => ({
  index: 0,
  id: 'a',
  type: 'function',
  function: { name: 'search', arguments: args },
  ...more,
})
const nextArguments = (args: string, more: object = {}) => ({
  index: 0,
  function: { arguments: args },
  ...more,
})

/** The first answer of the model: a body, or the events of a stream. */
type Reply = { readonly body: object } | { readonly events: readonly (object | string)[] }
interface Quirk {
  readonly reply: Reply
  /** The arguments of the calls that are made. Default: one for tea. */
  readonly calls?: readonly string[]
  /** What the model reads of its call. */
  readonly reads?: RegExp
  /** How often the first turn is asked. Default 1. */
  readonly asked?: number
  readonly status?: string
}

const json = '{"query":"tea"}'
const streamed = (...deltas: readonly object[]): Reply => ({
  events: [
    ...deltas.map((tool_call) => chunk({ tool_calls: [tool_call] })),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ],
})

const quirks: Readonly<Record<string, Quirk>> = {
  'a missing id': { reply: { body: whole({ tool_calls: [call(json, { id: undefined })] }) } },
  'a missing id, streamed': { reply: streamed(call(json, { id: undefined })) },
  'a missing index': {
    reply: streamed(call('', { index: undefined }), nextArguments(json, { index: undefined })),
  },
  'a late name': {
    reply: streamed(
      { index: 0, id: 'a', type: 'function', function: { arguments: '' } },
      nextArguments(json, { function: { name: 'search', arguments: json } }),
    ),
  },
  'the same id twice': {
    reply: { body: whole({ tool_calls: [call(json), call('{"query":"milk"}', { index: 1 })] }) },
    calls: ['tea', 'milk'],
  },
  'arguments that are an object': { reply: { body: whole({ tool_calls: [call({ query: 'tea' })] }) } },
  'arguments that are an object, streamed': { reply: streamed(call({ query: 'tea' })) },
  'empty arguments': {
    reply: { body: whole({ tool_calls: [call('')] }) },
    calls: [],
    reads: /Not run: the arguments are invalid/,
  },
  'an unknown tool': {
    reply: { body: whole({ tool_calls: [call(json, { function: { name: 'find', arguments: json } })] }) },
    calls: [],
    reads: /there is no tool .{1,3}find.{1,3}\. The tools are: search/,
  },
  'the finish "stop" with calls': { reply: { body: whole({ tool_calls: [call(json)] }, 'stop') } },
  'arguments cut off at the limit': {
    reply: { body: whole({ tool_calls: [call('{"query":"te')] }, 'length') },
    calls: [],
    reads: /cut off/,
  },
  '"tool_calls" although the arguments are cut off': {
    reply: { body: whole({ tool_calls: [call('{"query":"te')] }) },
    calls: [],
    reads: /incomplete|invalid/,
  },
  'no finish': { reply: { events: [chunk({ tool_calls: [call(json)] }), '[DONE]'] }, asked: 2 },
  'an error in the middle of a stream': {
    reply: {
      events: [
        chunk({ tool_calls: [call('{"que')] }),
        { error: { message: 'overloaded', type: 'server_error' } },
      ],
    },
    asked: 2,
  },
  'damaged arguments': { reply: { body: whole({ tool_calls: [call("{query: 'tea',}")] }) } },
  'an empty answer': { reply: { body: whole({ content: '' }, 'stop') }, calls: [] },
}

async function play(quirk: Quirk) {
  let first = 0
  const server = await modelServer<Reply>(
    (seen: Seen) => {
      const wrong = refuseChat(seen.body)
      if (wrong !== undefined) return { status: 400, body: { error: { message: wrong } } }
      const messages = seen.body['messages'] as readonly {
        readonly role: string
        readonly content: unknown
      }[]
      const isFirst = messages.length === 2
      if (isFirst) first++
      // The quirk once; a client that asks again gets what was meant.
      if (isFirst && first === 1) return quirk.reply
      if (isFirst)
        return seen.body['stream'] ? streamed(call(json)) : { body: whole({ tool_calls: [call(json)] }) }
      const content = JSON.stringify(answer)
      return seen.body['stream']
        ? { events: [chunk({ content }), chunk({}, 'stop'), '[DONE]'] }
        : { body: whole({ content }, 'stop') }
    },
    (reply, _, response) => {
      if ('events' in reply) sendEvents(response, reply.events)
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body))
    },
  )
  servers.push(server)
  const { search, called } = makeTools()
  const app = await open({
    providers: [compatible({ baseURL: server.url })],
    capabilities: [agent([search])],
  })
  const run = await app.start(envelope, { draft, ...('events' in quirk.reply && { partials: true }) })
  const result = await run.result()
  return { result, called, server, first, events: await journal(app, run.id) }
}

describe('quirks of servers', () => {
  it.each(Object.entries(quirks))('%s', async (_, quirk) => {
    const { result, called, server, first, events } = await play(quirk)
    expect(result).toMatchObject({ status: 'completed', output: answer })
    expect(called.map(({ inputs }) => (inputs as { query: string }).query)).toEqual(quirk.calls ?? ['tea'])
    expect(first).toBe(quirk.asked ?? 1)
    if (quirk.reads) expect(server.seen[1]?.text).toMatch(quirk.reads)
    const starts = events.filter(({ type }) => type === 'tool_start')
    expect(starts).toHaveLength((quirk.calls ?? ['tea']).length)
  })

  it('a refusal ends the attempt as refused, and no tool is called', async () => {
    const { result, called } = await play({
      reply: { body: whole({ content: null, refusal: 'I cannot help with that' }, 'stop') },
    })
    expect(result.status).toBe('failed')
    expect(JSON.stringify(result)).toMatch(/I cannot help with that/)
    expect(called).toEqual([])
  })
})
