/** Models of the AI SDK as providers: written by hand in each version of its interface, and of a real package. */
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModelV2, LanguageModelV3 } from '@ai-sdk/provider'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AiSdkModel, fromAiSdk } from '../../src/adapters/providers/ai-sdk.ts'
import { createApp } from '../../src/index.ts'
import { type OpenAiServer, openAiServer } from './openai-server.ts'

const Line = z.object({ line: z.string(), stars: z.number() })
const text = '```json\n{"line": "Tea.", "stars": "5"}\n```'
const request = { objective: 'One line about tea', schema: Line }

/** Splits the text into parts of a stream. */
function streamOf<Part>(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}
const textParts = [
  { type: 'text-start', id: '1' },
  ...Array.from(text, (delta) => ({ type: 'text-delta', id: '1', delta }) as const),
  { type: 'text-end', id: '1' },
] as const

/** A model of version 2, as packages of the AI SDK 5 have them. */
function second(finishReason: 'stop' | 'length' | 'unknown' = 'stop'): LanguageModelV2 {
  const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18 }
  return {
    specificationVersion: 'v2',
    provider: 'mine.chat',
    modelId: 'second',
    supportedUrls: {},
    doGenerate: async () => ({ content: [{ type: 'text', text }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: streamOf([
        { type: 'stream-start', warnings: [] } as const,
        ...textParts,
        { type: 'finish', finishReason, usage } as const,
      ]),
    }),
  }
}

/** The same in version 3. */
function third(modelId = 'third'): LanguageModelV3 {
  const usage = {
    inputTokens: { total: 11, noCache: 11, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 7, text: 7, reasoning: 0 },
  }
  const finishReason = { unified: 'stop', raw: 'stop' } as const
  return {
    specificationVersion: 'v3',
    provider: 'mine.chat',
    modelId,
    supportedUrls: {},
    doGenerate: async () => ({ content: [{ type: 'text', text }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: streamOf([
        { type: 'stream-start', warnings: [] } as const,
        ...textParts,
        { type: 'finish', finishReason, usage } as const,
      ]),
    }),
  }
}

/** The words of version 4 are those of version 3, and one more reason to end. */
const fourth = (unified = 'stop'): AiSdkModel => ({
  ...third('fourth'),
  specificationVersion: 'v4',
  doStream: async () => ({
    stream: streamOf([
      ...textParts,
      {
        type: 'finish',
        finishReason: { unified, raw: undefined },
        usage: { inputTokens: {}, outputTokens: {} },
      },
    ]),
  }),
})

let server: OpenAiServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

describe('a model of the AI SDK', () => {
  it.each([
    ['version 2', second()],
    ['version 3', third()],
    ['version 4', fourth()],
  ])('of %s answers with a typed value, whole and streamed, as the default model', async (_, model) => {
    await using app = await createApp({ providers: [fromAiSdk(model)] })
    const whole = await app.generate(request)
    expect(whole).toMatchObject({
      outcome: 'ok',
      output: { value: { line: 'Tea.', stars: 5 } },
      usage: { calls: 1, inputTokens: 11, outputTokens: 7 },
      model: `mine/${model.modelId}`,
    })
    const partials: unknown[] = []
    const streamed = await app.generate({ ...request, onPartial: ({ value }) => partials.push(value) })
    expect(streamed).toMatchObject({ outcome: 'ok', output: { value: { line: 'Tea.', stars: 5 } } })
    expect(partials.length).toBeGreaterThan(5)
  })

  it.each([
    ['reached its limit', second('length'), undefined],
    ['ended without a reason', second('unknown'), () => {}],
    ['was interrupted', fourth('interrupted'), () => {}],
  ])('that %s is truncated', async (_, model, onPartial) => {
    await using app = await createApp({ providers: [fromAiSdk(model)] })
    const result = await app.generate({ ...request, calls: 1, ...(onPartial && { onPartial }) })
    expect(result.outcome).toBe('truncated')
  })

  it('of a real package speaks to its server, with the schema and the options of the caller', async () => {
    server = await openAiServer([{ text }])
    const openai = createOpenAI({ apiKey: 'sk-loopback', baseURL: `${server.url}/v1` })
    const provider = fromAiSdk(openai.chat('gpt-5-mini'), {
      providerOptions: { openai: { user: 'ann' } },
      secrets: ['sk-loopback'],
    })
    await using app = await createApp({ providers: [provider] })
    expect(await app.generate(request)).toMatchObject({
      outcome: 'ok',
      output: { value: { line: 'Tea.', stars: 5 } },
      model: 'openai/gpt-5-mini',
    })
    expect(server.seen[0]?.body).toMatchObject({
      model: 'gpt-5-mini',
      user: 'ann',
      response_format: { type: 'json_schema', json_schema: { schema: { required: ['line', 'stars'] } } },
    })
  })

  it('reports a failing server as a failed call, without the key', async () => {
    server = await openAiServer([{ status: 401, body: { error: { message: 'bad key sk-loopback' } } }])
    const openai = createOpenAI({ apiKey: 'sk-loopback', baseURL: `${server.url}/v1` })
    const provider = fromAiSdk(openai.chat('gpt-5-mini'), { secrets: ['sk-loopback'] })
    await using app = await createApp({ providers: [provider] })
    const result = await app.generate(request)
    expect(result).toMatchObject({ outcome: 'provider_error', final: true })
    expect(JSON.stringify(result)).not.toContain('sk-loopback')
  })
})

describe('several models', () => {
  it('are chosen by name, and an unknown one is refused before anything is called', async () => {
    const provider = fromAiSdk([third('small'), third('large')], { name: 'own' })
    await using app = await createApp({ providers: [provider] })
    expect(await app.generate(request)).toMatchObject({ outcome: 'ok', model: 'own/small' })
    expect(await app.generate({ ...request, model: 'own/large' })).toMatchObject({ outcome: 'ok' })
    expect(await app.generate({ ...request, model: 'own/huge' })).toMatchObject({
      outcome: 'provider_error',
      issues: [{ message: '"own" has the models small, large, not "huge"' }],
    })
  })
})

describe('what is not a model', () => {
  // Callers without types come with anything.
  const make = fromAiSdk as (given?: unknown, options?: unknown) => unknown
  it.each([
    ['a name', 'openai/gpt-5-mini', 'not a model of the AI SDK'],
    ['nothing', undefined, 'not a model of the AI SDK'],
    ['an empty list', [], 'needs at least one model'],
    ['a model of another version', { ...third(), specificationVersion: 'v1' }, 'has the interface "v1"'],
    ['a provider without a usable name', { ...third(), provider: 'Ä' }, 'cannot be the name of a provider'],
  ])('such as %s is refused', (_, given, message) => {
    expect(() => make(given)).toThrow(message)
  })
})
