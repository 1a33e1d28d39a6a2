/** Every way in which a call ends, from a real server over real sockets to the outcome of an attempt. */
import { afterEach, describe, expect, it } from 'vitest'
import { generateValue } from '../../src/adapters/models/index.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { openai } from '../../src/adapters/providers/openai.ts'
import type { Provider } from '../../src/index.ts'
import { createQuickClock } from '../quick-clock.ts'
import { type OpenAiServer, openAiServer, type Reply } from './openai-server.ts'

const schema = {
  type: 'object',
  properties: { title: { type: 'string' }, count: { type: 'integer' }, note: { type: 'string' } },
  required: ['title', 'count'],
} as const
const good = '{"title":"Tea","count":2}'

const servers: OpenAiServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(replies: Parameters<typeof openAiServer>[0]): Promise<OpenAiServer> {
  const server = await openAiServer(replies)
  servers.push(server)
  return server
}

type Event = { readonly event: string; readonly [key: string]: unknown }

async function ask(server: OpenAiServer, more: Partial<Parameters<typeof generateValue>[0]> = {}) {
  const events: Event[] = []
  const result = await generateValue({
    providers: [compatible({ baseURL: server.url, apiKey: 'sk-test-compatible' })],
    model: 'compatible/test-model',
    objective: 'Write about tea',
    schema,
    clock: createQuickClock(),
    onEvent: (event, payload) => events.push({ event, ...payload }),
    ...more,
  })
  return { result, events, names: events.map(({ event }) => event) }
}

const chat = (server: OpenAiServer): Provider =>
  openai({ baseURL: server.url, apiKey: 'sk-test-openai', api: 'chat' })
const responses = (server: OpenAiServer): Provider =>
  openai({ baseURL: server.url, apiKey: 'sk-test-openai' })

describe('the happy path', () => {
  it.each([
    ['a compatible server', (server: OpenAiServer) => compatible({ baseURL: server.url }), 'compatible/m'],
    ['OpenAI chat', chat, 'openai/gpt-4o'],
    ['OpenAI Responses', responses, 'openai/gpt-5-mini'],
  ])('%s: one call, one value, no event of repair, coercion or fallback', async (_, provider, model) => {
    const server = await serve([{ text: good }])
    const { result, names } = await ask(server, { providers: [provider(server)], model })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
    expect(result.usage).toMatchObject({ calls: 1, inputTokens: 100, outputTokens: 20 })
    expect(names).toEqual(['aros.soe.enabled', 'grammar.applied'])
    expect(server.seen).toHaveLength(1)
  })

  it('is as clean when the provider must send null for what is optional', async () => {
    const server = await serve([{ text: '{"title":"Tea","count":2,"note":null}' }])
    const { result, names } = await ask(server)
    expect(result.output).toEqual({
      value: { title: 'Tea', count: 2 },
      raw: '{"title":"Tea","count":2,"note":null}',
    })
    expect(names).toEqual(['aros.soe.enabled', 'grammar.applied'])
  })

  it('unwraps what had to be wrapped for the provider', async () => {
    const server = await serve([{ text: '{"value":[1,2]}' }])
    const list = { type: 'array', items: { type: 'integer' } } as const
    const { result, names } = await ask(server, { schema: list })
    expect(result.output?.value).toEqual([1, 2])
    expect(names).toEqual(['aros.soe.enabled', 'grammar.applied'])
  })

  it('takes plain text for a contract of plain text', async () => {
    const server = await serve([{ text: 'Tea is {nice}.' }])
    const { result, names } = await ask(server, { schema: { type: 'string' } })
    expect(result.output).toEqual({ value: 'Tea is {nice}.', raw: 'Tea is {nice}.' })
    expect(names).toEqual(['aros.soe.skipped'])
  })

  it('says nothing of structured output when it is off', async () => {
    const server = await serve([{ text: good }])
    const { names } = await ask(server, { processing: { structured_output: 'off' } })
    expect(names).toEqual([])
    expect(server.seen[0]?.body).not.toHaveProperty('response_format')
  })
})

describe('distinct outcomes', () => {
  const once = { processing: { enforcement: 'validate' } } as const
  it.each<[string, Reply, object]>([
    ['invalid', { text: '{"title":"Tea","count":"many"}' }, { outcome: 'invalid' }],
    ['truncated, by the finish reason alone', { text: good, finish: 'length' }, { outcome: 'truncated' }],
    [
      'refused',
      { refusal: 'I cannot help with that.' },
      { outcome: 'refused', issues: [{ message: 'I cannot help with that.' }] },
    ],
    ['refused by a content filter', { text: '', finish: 'content_filter' }, { outcome: 'refused' }],
    [
      'throttled, with the time to wait',
      { status: 429, headers: { 'retry-after': '7' }, body: { error: { message: 'slow down' } } },
      { outcome: 'throttled', retryAfterMs: 7000, usage: { calls: 0 }, notApplied: true },
    ],
    [
      'throttled when overloaded',
      { status: 503, body: { error: { message: 'overloaded' } } },
      { outcome: 'throttled' },
    ],
    ['timed out', { status: 504, body: { error: { message: 'upstream' } } }, { outcome: 'timed_out' }],
    [
      'an error of the provider',
      { status: 500, body: { error: { message: 'oops' } } },
      { outcome: 'provider_error' },
    ],
    [
      'out of money, which waiting does not fix',
      { status: 429, body: { error: { message: 'quota', code: 'insufficient_quota' } } },
      { outcome: 'provider_error' },
    ],
    [
      'a wrong key',
      { status: 401, body: { error: { message: 'Incorrect API key provided: sk-test-compatible' } } },
      { outcome: 'provider_error' },
    ],
  ])('%s', async (_, reply, expected) => {
    const server = await serve([reply])
    const { result } = await ask(server, once)
    expect(result).toMatchObject(expected)
    expect(JSON.stringify(result)).not.toContain('sk-test-compatible')
  })

  it.each([
    ['chat', chat],
    ['Responses', responses],
  ])('refusals of OpenAI %s, whole and streamed', async (_, provider) => {
    for (const onPartial of [undefined, () => {}]) {
      const server = await serve([{ refusal: 'No.' }])
      const { result } = await ask(server, {
        providers: [provider(server)],
        model: 'openai/gpt-4o',
        ...(onPartial && { onPartial }),
      })
      expect(result).toMatchObject({ outcome: 'refused', issues: [{ message: 'No.' }], usage: { calls: 1 } })
    }
  })

  it('an address where no server listens is unavailable, and costs no call', async () => {
    const server = await serve([])
    const { url } = server
    await server.close()
    servers.splice(0)
    const { result } = await ask({ ...server, url })
    expect(result).toMatchObject({ outcome: 'unavailable', usage: { calls: 0 }, notApplied: true })
  })

  it('a name that cannot be called ends at once, with no call charged', async () => {
    const servers = ['llama3.2', 'http://#x', 'http://[bad#x', 'http://ann:hunter22@127.0.0.1:9/v1#x']
    for (const model of servers.map((server) => `compatible/${server}`)) {
      const done = await generateValue({ providers: [compatible()], model, objective: 'Tea', schema })
      expect(done, model).toMatchObject({ outcome: 'provider_error', usage: { calls: 0 }, notApplied: true })
      expect(JSON.stringify(done)).not.toContain('hunter22')
    }
  })

  it('a cancelled call closes its socket', async () => {
    for (const onPartial of [undefined, () => {}]) {
      const server = await serve([{ hang: true }])
      const stop = new AbortController()
      const asked = ask(server, { signal: stop.signal, ...(onPartial && { onPartial }) })
      await server.arrived
      stop.abort()
      await server.gone
      expect((await asked).result.outcome).toBe('cancelled')
    }
  })

  it('keeps reasoning apart from the answer', async () => {
    for (const onPartial of [undefined, () => {}]) {
      const server = await serve([{ text: good, reasoning: 'They want {"title": "Coffee", "count": 9}.' }])
      const { result } = await ask(server, onPartial && { onPartial })
      expect(result.output).toMatchObject({
        value: { title: 'Tea' },
        reasoning: expect.stringContaining('Coffee'),
      })
    }
  })
})

describe('what providers would not accept as JSON', () => {
  const failed = (text: string): Reply => ({
    status: 400,
    body: {
      error: { message: 'Failed to generate JSON', code: 'json_validate_failed', failed_generation: text },
    },
  })

  it('is read like any text', async () => {
    const server = await serve([failed("Sure: {'title': 'Tea', count: 2,}")])
    const { result, names } = await ask(server)
    expect(result).toMatchObject({
      outcome: 'ok',
      output: { value: { title: 'Tea', count: 2 } },
      usage: { calls: 1 },
    })
    expect(names).toContain('aros.repair.success')
  })

  it('goes into model repair where the reader is at its end, and says why', async () => {
    const server = await serve([failed('The title is Tea'), { text: good }])
    const { result, events } = await ask(server)
    expect(result).toMatchObject({ outcome: 'ok', usage: { calls: 2 } })
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'aros.repair.started', stage: 'llm', provider_error: true }),
    )
  })

  it('early errors without a text take the fallback way', async () => {
    const server = await serve([{ status: 500, body: { error: { message: 'oops' } } }, { text: good }])
    const { result, names } = await ask(server)
    expect(result).toMatchObject({ outcome: 'ok', usage: { calls: 2 } })
    expect(names).toContain('aros.fallback.stage')
  })

  it('… unless the node wants such an error to end its attempt', async () => {
    const server = await serve([{ status: 500, body: { error: { message: 'oops' } } }, { text: good }])
    const { result } = await ask(server, { processing: { degrade_on_unexpected_behavior: false } })
    expect(result).toMatchObject({ outcome: 'provider_error', usage: { calls: 1 } })
    expect(server.seen).toHaveLength(1)
  })

  it('answers in the form of a tool call are answers', async () => {
    for (const onPartial of [undefined, () => {}]) {
      const server = await serve([{ tool: good }])
      const { result } = await ask(server, onPartial && { onPartial })
      expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
    }
  })

  it('a body that is no JSON of the protocol is read as text', async () => {
    const server = await serve([{ raw: `Here you are: ${good}` }])
    const { result } = await ask(server)
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
  })
})
