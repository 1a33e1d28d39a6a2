/** Anthropic's and Google's wire formats over loopback: what is sent, and how the answer is read. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { generateValue } from '../../src/adapters/models/index.ts'
import { anthropic } from '../../src/adapters/providers/anthropic.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { google } from '../../src/adapters/providers/google.ts'
import { openai } from '../../src/adapters/providers/openai.ts'
import type { Provider } from '../../src/index.ts'
import { createQuickClock } from '../quick-clock.ts'

const schema = {
  type: 'object',
  properties: { title: { type: 'string', minLength: 2 }, note: { type: 'string' } },
  required: ['title'],
} as const

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** Answers every request with this, and remembers what was asked. */
async function serve(status: number, answer: object, headers: Record<string, string> = {}) {
  const seen: { url: string; headers: NodeJS.Dict<string | string[]>; body: Record<string, unknown> }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    seen.push({ url: request.url ?? '', headers: request.headers, body: JSON.parse(text) })
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen }
}

const ask = (provider: Provider, model: string) =>
  generateValue({
    providers: [provider],
    model,
    objective: 'Write about tea',
    schema,
    calls: 1,
    clock: createQuickClock(),
  })

describe('Anthropic', () => {
  const message = (content: object[], stop_reason: string) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 50, output_tokens: 9 },
  })

  it('text, reasoning and usage come apart', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 's' },
      { type: 'text', text: '{"title":"Tea"}' },
    ]
    const { url, seen } = await serve(200, message(content, 'end_turn'))
    const done = await ask(
      anthropic({ apiKey: 'sk-ant-test-key', baseURL: url }),
      'anthropic/claude-sonnet-4-5',
    )
    expect(done).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea' }, reasoning: 'Hm' } })
    expect(done.usage).toMatchObject({ inputTokens: 50, outputTokens: 9, costUsd: (50 * 3 + 9 * 15) / 1e6 })
    expect(seen[0]?.headers['x-api-key']).toBe('sk-ant-test-key')
    expect(JSON.stringify(seen[0]?.body)).toContain('"additionalProperties":false')
  })

  it('an older model is asked for a tool call, whose arguments are the answer', async () => {
    const content = [{ type: 'tool_use', id: 't1', name: 'json', input: { title: 'Tea' } }]
    const { url, seen } = await serve(200, message(content, 'tool_use'))
    const done = await ask(
      anthropic({ apiKey: 'sk-ant-test-key', baseURL: url }),
      'anthropic/claude-3-5-haiku-latest',
    )
    expect(done).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea' } } })
    expect(seen[0]?.body).toHaveProperty('tools')
  })

  it.each([
    [200, message([{ type: 'text', text: 'no' }], 'refusal'), 'refused'],
    [200, message([{ type: 'text', text: '{"title":"Te' }], 'max_tokens'), 'truncated'],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'throttled'],
    [
      401,
      { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
      'provider_error',
    ],
  ])('%s %j ends with its outcome', async (status, answer, outcome) => {
    const { url } = await serve(status, answer)
    const done = await ask(
      anthropic({ apiKey: 'sk-ant-test-key', baseURL: url }),
      'anthropic/claude-sonnet-4-5',
    )
    expect(done.outcome).toBe(outcome)
  })
})

describe('Google', () => {
  const answer = (text: string, finishReason: string) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 8, totalTokenCount: 48 },
  })

  it('the schema goes in its own dialect, and the key in a header', async () => {
    const { url, seen } = await serve(200, answer('{"title":"Tea"}', 'STOP'))
    const done = await ask(google({ apiKey: 'google-test-key', baseURL: url }), 'google/gemini-2.5-flash')
    expect(done).toMatchObject({
      outcome: 'ok',
      output: { value: { title: 'Tea' } },
      usage: { inputTokens: 40 },
    })
    expect(seen[0]?.url).toContain('gemini-2.5-flash:generateContent')
    expect(seen[0]?.url).not.toContain('google-test-key')
    expect(seen[0]?.body['generationConfig']).toMatchObject({
      responseMimeType: 'application/json',
      responseSchema: { type: 'object', properties: { title: { type: 'string', minLength: 2 } } },
    })
  })

  it.each([
    [200, answer('', 'SAFETY'), 'refused'],
    [200, answer('{"title":"Te', 'MAX_TOKENS'), 'truncated'],
    [429, { error: { code: 429, message: 'Resource exhausted', status: 'RESOURCE_EXHAUSTED' } }, 'throttled'],
  ])('%s %j ends with its outcome', async (status, body, outcome) => {
    const { url } = await serve(status, body)
    const done = await ask(google({ apiKey: 'google-test-key', baseURL: url }), 'google/gemini-2.5-flash')
    expect(done.outcome).toBe(outcome)
  })
})

describe('a redirect', () => {
  it.each<[string, string, (baseURL: string) => Provider]>([
    ['anthropic', 'claude-sonnet-4-5', (baseURL) => anthropic({ apiKey: 'sk-ant-test-key', baseURL })],
    ['google', 'gemini-2.5-flash', (baseURL) => google({ apiKey: 'google-test-key', baseURL })],
    ['openai', 'gpt-5-mini', (baseURL) => openai({ apiKey: 'sk-test-key', baseURL })],
    ['compatible', 'm', (baseURL) => compatible({ baseURL, headers: { 'x-api-key': 'gateway-key' } })],
  ])('takes no key of %s to another server', async (name, model, make) => {
    const other = await serve(200, {})
    for (const status of [302, 307, 308]) {
      const { url, seen } = await serve(status, {}, { location: other.url })
      const done = await generateValue({
        providers: [make(url)],
        model: `${name}/${model}`,
        objective: 'Tea',
        schema,
        ...(status === 308 && { onPartial: () => {} }),
      })
      expect(done).toMatchObject({ outcome: 'provider_error', usage: { calls: 0 } })
      expect(seen).toHaveLength(1)
    }
    expect(other.seen).toEqual([])
  })
})
