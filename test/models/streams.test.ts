/** Anthropic's and Google's streams over loopback: partials, thinking, cut streams, refusals, errors, usage, cancelling. */
import { afterEach, describe, expect, it } from 'vitest'
import { type GenerateOptions, generateValue } from '../../src/adapters/models/index.ts'
import { anthropic } from '../../src/adapters/providers/anthropic.ts'
import { google } from '../../src/adapters/providers/google.ts'
import type { Provider } from '../../src/index.ts'
import { createQuickClock } from '../quick-clock.ts'
import { type ModelServer, type StatusReply, type Streamed, streamServer } from './model-server.ts'

type StreamReply = Streamed | StatusReply

const splitText = (text: string, size = 4) => text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []

const schema = {
  type: 'object',
  properties: { title: { type: 'string' }, count: { type: 'integer' } },
  required: ['title', 'count'],
} as const
const good = '{"title":"Oolong 烏龍茶","count":2}'

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** One wire format: how its server says things. */
interface Wire {
  readonly name: string
  readonly model: string
  readonly provider: (baseURL: string) => Provider
  /** The path of a streamed call. */
  readonly path: string
  readonly says: (text: string, more?: { thinking?: string; end?: string; size?: number }) => object[]
  /** How many of these events to send so that the stream breaks off in the middle of the text. */
  readonly ends: { readonly length: string; readonly refusal: string }
  readonly errorEvent: object
  readonly overloaded: StreamReply
  readonly denied: StreamReply
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
}

const anthropicWire: Wire = {
  name: 'Anthropic',
  model: 'anthropic/claude-sonnet-4-5',
  provider: (baseURL) => anthropic({ apiKey: 'sk-ant-test-key', baseURL }),
  path: '/v1/messages',
  says(text, { thinking, end = 'end_turn', size } = {}) {
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 50, output_tokens: 1 },
    }
    const thoughts = splitText(thinking ?? '').map((part) => ({ type: 'thinking_delta', thinking: part }))
    return [
      { type: 'message_start', message },
      { type: 'ping' },
      ...(thinking ? block(0, { type: 'thinking', thinking: '', signature: '' }, thoughts) : []),
      ...block(
        thinking ? 1 : 0,
        { type: 'text', text: '' },
        splitText(text, size).map((part) => ({ type: 'text_delta', text: part })),
      ),
      {
        type: 'message_delta',
        delta: { stop_reason: end, stop_sequence: null },
        usage: { output_tokens: 9 },
      },
      { type: 'message_stop' },
    ]
  },
  ends: { length: 'max_tokens', refusal: 'refusal' },
  errorEvent: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  overloaded: {
    status: 529,
    headers: { 'retry-after': '3' },
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  },
  denied: {
    status: 401,
    body: {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid x-api-key sk-ant-test-key' },
    },
  },
  usage: { inputTokens: 50, outputTokens: 9 },
}

const googleWire: Wire = {
  name: 'Google',
  model: 'google/gemini-2.5-flash',
  provider: (baseURL) => google({ apiKey: 'google-test-key', baseURL }),
  path: '/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  says(text, { thinking, end = 'STOP', size } = {}) {
    const chunk = (parts: readonly object[], more: object = {}) => ({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      modelVersion: 'gemini-2.5-flash',
    })
    return [
      ...splitText(thinking ?? '').map((part) => chunk([{ text: part, thought: true }])),
      ...splitText(text, size).map((part) => chunk([{ text: part }])),
      {
        ...chunk([{ text: '' }], { finishReason: end }),
        usageMetadata: {
          promptTokenCount: 50,
          candidatesTokenCount: 6,
          thoughtsTokenCount: 3,
          totalTokenCount: 59,
        },
      },
    ]
  },
  ends: { length: 'MAX_TOKENS', refusal: 'SAFETY' },
  errorEvent: { error: { code: 503, message: 'The model is overloaded', status: 'UNAVAILABLE' } },
  overloaded: {
    status: 429,
    headers: { 'retry-after': '3' },
    body: { error: { code: 429, message: 'Resource exhausted', status: 'RESOURCE_EXHAUSTED' } },
  },
  denied: {
    status: 403,
    body: { error: { code: 403, message: 'API key google-test-key not valid', status: 'PERMISSION_DENIED' } },
  },
  usage: { inputTokens: 50, outputTokens: 9 },
}

async function ask(wire: Wire, replies: readonly StreamReply[], more: Partial<GenerateOptions> = {}) {
  const server = await streamServer(replies)
  servers.push(server)
  const partials: string[] = []
  const events: string[] = []
  const result = await generateValue({
    providers: [wire.provider(server.url)],
    model: wire.model,
    objective: 'Write about tea',
    schema,
    calls: 1,
    clock: createQuickClock(),
    onPartial: ({ value }) => partials.push(JSON.stringify(value)),
    onEvent: (event) => events.push(event),
    ...more,
  })
  return { result, partials, events, seen: server.seen, gone: server.gone }
}

describe.each([anthropicWire, googleWire])('streams of $name', (wire) => {
  it('partials grow while it runs; value, thinking and usage come apart at the end', async () => {
    const { result, partials, events, seen } = await ask(wire, [
      { events: wire.says(good, { thinking: 'Is it {"title":"No","count":1}? Hm.' }) },
    ])
    expect(result).toMatchObject({
      outcome: 'ok',
      output: { value: JSON.parse(good), reasoning: 'Is it {"title":"No","count":1}? Hm.' },
      usage: { calls: 1, ...wire.usage },
    })
    expect(partials.length).toBeGreaterThan(4)
    expect(partials.at(-1)).toBe(good)
    expect(partials.join()).not.toContain('"No"')
    expect(seen[0]?.path).toBe(wire.path)
    expect(events).toEqual(['aros.soe.enabled', 'grammar.applied'])
  })

  it('a character that arrives in two pieces, and a text of one piece, are read the same', async () => {
    for (const size of [1, 1_000]) {
      const { result } = await ask(wire, [{ events: wire.says(good, { size }) }])
      expect(result.output?.value).toEqual(JSON.parse(good))
    }
  })

  it('one that breaks off is truncated, even if what came looks whole, and is asked again', async () => {
    const whole = wire.says(good)
    const lastText = whole.findLastIndex((event) => JSON.stringify(event).includes('2}'))
    for (const count of [lastText - 2, lastText + 1]) {
      const broken: StreamReply = { events: whole.slice(0, count), end: 'cut' }
      const { result } = await ask(wire, [broken])
      expect(result.outcome, String(count)).toBe('truncated')
      const again = await ask(wire, [broken, { events: whole }], { calls: 4 })
      expect(again.result).toMatchObject({ outcome: 'ok', usage: { calls: 2 } })
      expect(again.seen).toHaveLength(2)
    }
  })

  it('one that ends politely but without saying why is truncated too', async () => {
    const whole = wire.says(good)
    const lastText = whole.findLastIndex((event) => JSON.stringify(event).includes('2}'))
    const { result } = await ask(wire, [{ events: whole.slice(0, lastText + 1) }])
    expect(result.outcome).toBe('truncated')
  })

  it('cut off by length is truncated, even if it parses', async () => {
    const { result } = await ask(wire, [{ events: wire.says(good, { end: wire.ends.length }) }])
    expect(result.outcome).toBe('truncated')
  })

  it('a refusal or a safety stop is refused, and not climbed on', async () => {
    for (const text of ['', 'I cannot', good]) {
      const { result, seen } = await ask(wire, [{ events: wire.says(text, { end: wire.ends.refusal }) }], {
        calls: 4,
      })
      expect(result).toMatchObject({ outcome: 'refused', usage: { calls: 1, ...wire.usage } })
      expect(seen).toHaveLength(1)
    }
  })

  it('an error before anything came is an error; after something, the text is cut', async () => {
    const early = await ask(wire, [{ events: [wire.errorEvent] }])
    expect(early.result).toMatchObject({ outcome: 'throttled', usage: { calls: 0 } })
    const [first = {}, ...rest] = wire.says(good)
    const late = await ask(wire, [{ events: [first, ...rest.slice(0, 5), wire.errorEvent] }])
    expect(late.result.outcome).toBe('truncated')
  })

  it('too many requests: the wait is reported, and no call is charged', async () => {
    const { result } = await ask(wire, [wire.overloaded])
    expect(result).toMatchObject({ outcome: 'throttled', retryAfterMs: 3_000, usage: { calls: 0 } })
  })

  it('a wrong key ends at once and is not quoted', async () => {
    const { result, seen } = await ask(wire, [wire.denied], { calls: 4 })
    expect(result).toMatchObject({ outcome: 'provider_error', usage: { calls: 0 } })
    expect(JSON.stringify(result)).not.toContain('test-key')
    expect(seen).toHaveLength(1)
  })

  it('stops as soon as the answer can no longer satisfy the schema', async () => {
    const wrong = wire.says('{"count":"many","title":"Oolong"}')
    const start = wrong.slice(0, -3)
    const { result, events, gone } = await ask(wire, [{ events: start, end: 'open' }])
    await gone
    expect(result.outcome).toBe('invalid')
    expect(events).toContain('stream.aborted')
  })

  it('cancelling closes the socket of a stream', async () => {
    const stop = new AbortController()
    const { result, gone } = await ask(wire, [{ events: wire.says(good).slice(0, 6), end: 'open' }], {
      signal: stop.signal,
      onPartial: () => stop.abort(),
    })
    await gone
    expect(result.outcome).toBe('cancelled')
  })
})

it('a tool call of an older Claude is streamed as the answer', async () => {
  const deltas = splitText(good).map((partial_json) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json },
  }))
  const [start = {}] = anthropicWire.says('')
  const events = [
    start,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'json', input: {} },
    },
    ...deltas,
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ]
  const older = { ...anthropicWire, model: 'anthropic/claude-3-5-haiku-latest' }
  const { result, partials, seen } = await ask(older, [{ events }])
  expect(result).toMatchObject({ outcome: 'ok', output: { value: JSON.parse(good) }, usage: { calls: 1 } })
  expect(partials.at(-1)).toBe(good)
  expect(seen[0]?.body).toHaveProperty('tools')
})

it('a prompt that Google blocks before any candidate is refused', async () => {
  const blocked = {
    promptFeedback: { blockReason: 'SAFETY' },
    usageMetadata: { promptTokenCount: 50, totalTokenCount: 50 },
  }
  const { result } = await ask(googleWire, [{ events: [blocked] }])
  expect(result.outcome).toBe('refused')
})

it('an error of an observer counts as its own, and not as a broken stream', async () => {
  const onPartial = () => {
    throw new Error('The screen is gone')
  }
  const asked = ask(googleWire, [{ events: googleWire.says(good) }], { onPartial })
  await expect(asked).rejects.toThrow('The screen is gone')
})
