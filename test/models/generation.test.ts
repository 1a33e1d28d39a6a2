/** Generation with fallback steps over a real server: step by step, within one budget, and nothing where it must not act. */
import { afterEach, describe, expect, it } from 'vitest'
import { type GenerateOptions, generateValue } from '../../src/adapters/models/index.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { createQuickClock } from '../quick-clock.ts'
import { type OpenAiServer, openAiServer, type Reply, type Seen } from './openai-server.ts'

const schema = {
  type: 'object',
  properties: { title: { type: 'string' }, count: { type: 'integer' } },
  required: ['title', 'count'],
} as const
const good = '{"title":"Tea","count":2}'
const bad = '{"title":"Tea"}'

const servers: OpenAiServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function ask(replies: readonly Reply[], more: Partial<GenerateOptions> = {}) {
  const server = await openAiServer(replies)
  servers.push(server)
  const events: { readonly event: string; readonly [key: string]: unknown }[] = []
  const result = await generateValue({
    providers: [compatible({ baseURL: server.url })],
    model: 'compatible/test-model',
    objective: 'Write about tea, in strict confidence',
    inputs: { topic: 'tea' },
    schema,
    clock: createQuickClock(),
    onEvent: (event, payload) => events.push({ event, ...payload }),
    ...more,
  })
  const steps = events.flatMap(({ event, stage, result: how }) =>
    event === 'aros.fallback.stage'
      ? [`${stage}:${how}`]
      : event.startsWith('aros.repair')
        ? [`${stage}:${event.slice(12)}`]
        : [],
  )
  return { result, events, steps, seen: server.seen }
}

const messages = (seen: Seen | undefined) => {
  const said = (seen?.body['messages'] ?? []) as readonly { readonly content: string }[]
  return said.map(({ content }) => content).join('\n')
}

describe('the fallback steps', () => {
  it('are taken in order, each an event with stage, schema hash and cost, within four calls', async () => {
    const prices = [{ model: 'compatible/*', inputPerMillion: 1, outputPerMillion: 10 }]
    const { result, steps, events, seen } = await ask([{ text: bad }], { prices })
    expect(result).toMatchObject({
      outcome: 'invalid',
      usage: { calls: 4, inputTokens: 400, outputTokens: 80 },
    })
    expect(result.usage.costUsd).toBeCloseTo((400 + 800) / 1_000_000)
    expect(steps.filter((step) => !step.startsWith('deterministic'))).toEqual([
      'llm:started',
      'llm:failed',
      'stricter:started',
      'stricter:failed',
      'extractor:started',
      'extractor:failed',
    ])
    expect(
      events.find(({ event, stage }) => event === 'aros.repair.failed' && stage === 'llm'),
    ).toMatchObject({
      schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      input_tokens: 100,
      output_tokens: 20,
      cost_usd: expect.closeTo(0.0003),
    })
    expect(seen).toHaveLength(4)
  })

  it('repairs with the failing text, its issues and the schema, and nothing of the task', async () => {
    const { result, seen } = await ask([{ text: bad }, { text: good }])
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
    expect(result.usage.calls).toBe(2)
    expect(result.output?.repairs).toEqual([{ stage: 'llm', rule: 'model-repair' }])
    const prompt = messages(seen[1])
    expect(prompt).toContain(bad)
    expect(prompt).toContain('count')
    expect(prompt).not.toContain('confidence')
    expect(prompt).not.toContain('Inputs')
  })

  it('leave one call for every later one: with more calls there are more repairs', async () => {
    const repairs = async (calls: number) =>
      (await ask([{ text: bad }], { calls })).steps.filter((step) => step === 'llm:started').length
    expect([await repairs(6), await repairs(4), await repairs(3)]).toEqual([2, 1, 0])
    const { result } = await ask([{ text: bad }], { calls: 1 })
    expect(result).toMatchObject({ outcome: 'invalid', usage: { calls: 1 } })
  })

  it('ask again in stricter words, with nothing of the answer that was not accepted', async () => {
    const { result, seen } = await ask([
      { text: 'I would call it Ceylon' },
      { text: 'Ceylon' },
      { text: good },
    ])
    expect(result).toMatchObject({ outcome: 'ok', usage: { calls: 3 } })
    expect(result.output).not.toHaveProperty('repairs')
    expect(messages(seen[2])).toContain('Return only JSON')
    expect(messages(seen[2])).not.toContain('Ceylon')
  })

  it('extract from what the model wrote', async () => {
    const prose = 'It is called Tea and there are two of them'
    const { result, seen, steps } = await ask([
      { text: prose },
      { text: prose },
      { text: prose },
      { text: good },
    ])
    expect(result.output?.repairs).toEqual([{ stage: 'extractor', rule: 'extract-from-text' }])
    expect(messages(seen[3])).toContain('extract structured data')
    expect(messages(seen[3])).toContain(prose)
    expect(steps.at(-1)).toBe('extractor:success')
  })

  it('simplify the schema when that is switched on, and read the flat answer back', async () => {
    const item = {
      type: 'object',
      properties: { name: { type: 'string' }, grams: { type: 'number' } },
      required: ['name', 'grams'],
    }
    const nested = { type: 'object', properties: { item }, required: ['item'] }
    const { result, seen } = await ask(
      [{ text: 'no' }, { text: 'no' }, { text: 'no' }, { text: '{"item_name":"Tea","item_grams":"2.5"}' }],
      { schema: nested, processing: { schema_simplify: true } },
    )
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { item: { name: 'Tea', grams: 2.5 } } } })
    expect(result.usage.calls).toBe(4)
    expect(JSON.stringify(seen[3]?.body['response_format'] ?? seen[3]?.body['text'])).toContain('item_grams')
  })

  it('never repair what was cut off: they ask again', async () => {
    const { result, steps } = await ask([{ text: '{"title":"Te', finish: 'length' }, { text: good }])
    expect(result).toMatchObject({ outcome: 'ok', usage: { calls: 2 } })
    expect(steps).toContain('stricter:success')
    expect(steps).not.toContain('llm:started')
  })

  it('believe a model that says that it cannot repair', async () => {
    const open = { type: 'object', properties: { n: { type: 'integer' } } } as const
    const { result, steps } = await ask(
      [{ text: '{"n":"x"}' }, { text: '{"repair_error":true,"reasoning":"no number"}' }, { text: '{"n":1}' }],
      { schema: open },
    )
    expect(steps).toContain('llm:failed')
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { n: 1 } } })
  })

  it('end at once where the same would happen again', async () => {
    expect((await ask([{ status: 401, body: { error: { message: 'no' } } }])).seen).toHaveLength(1)
    expect((await ask([{ refusal: 'No.' }])).seen).toHaveLength(1)
  })

  it('wait for a throttle in the middle, then end with it, and count what was spent', async () => {
    const limit = { status: 429, headers: { 'retry-after-ms': '250' }, body: { error: { message: 'slow' } } }
    const { result } = await ask([{ text: bad }, limit])
    expect(result).toMatchObject({ outcome: 'throttled', retryAfterMs: 250, usage: { calls: 1 } })
  })
})

describe('degrading', () => {
  const text = {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  } as const
  const replies = [{ text: 'Just some words' }]
  const processing = { fallback: { degrade_to_string: true } }

  it('is off unless switched on', async () => {
    expect((await ask(replies, { schema: text })).result.outcome).toBe('invalid')
  })

  it('makes the smallest value that the schema accepts, and marks it', async () => {
    const { result, steps } = await ask(replies, { schema: text, processing })
    expect(result).toMatchObject({
      outcome: 'ok',
      output: {
        value: { text: 'Just some words' },
        degraded: true,
        repairs: [{ stage: 'degrade', rule: 'degraded' }],
      },
    })
    expect(steps.at(-1)).toBe('degrade:success')
  })

  it('never breaks the schema', async () => {
    expect((await ask(replies, { processing })).result.outcome).toBe('invalid')
  })
})

describe('budgets', () => {
  it('do not call a model of unknown price under a limit of cost, and say so', async () => {
    const { result, seen } = await ask([{ text: good }], { maxCostUsd: 1 })
    expect(seen).toHaveLength(0)
    expect(result).toMatchObject({ outcome: 'provider_error', notApplied: true })
    expect(result.issues[0]?.code).toBe('budget/unknown-price')
  })

  it('leave out an unknown cost', async () => {
    const { result } = await ask([{ text: good }])
    expect(result.usage).toEqual({ calls: 1, inputTokens: 100, outputTokens: 20 })
  })
})

describe('structured output', () => {
  it('sends a closed schema with nullable optionals, named after the node', async () => {
    const { seen } = await ask([{ text: good }], {
      name: 'write it',
      schema: { ...schema, required: ['title'] },
    })
    expect(seen[0]?.body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: {
        name: 'write_it',
        strict: true,
        schema: {
          type: 'object',
          properties: { title: { type: 'string' }, count: { type: ['integer', 'null'] } },
          required: ['title', 'count'],
          additionalProperties: false,
        },
      },
    })
  })

  it('falls back to weaker ways when a server refuses one, and remembers', async () => {
    const formatOf = ({ body }: Seen) => (body['response_format'] as { type?: string } | undefined)?.type
    const message = "'response_format.type' must be 'json_object' or 'text'"
    const server = await openAiServer((seen) =>
      formatOf(seen) === 'json_schema' ? { status: 400, body: { error: { message } } } : { text: good },
    )
    servers.push(server)
    const events: string[] = []
    const task = {
      providers: [compatible({ baseURL: server.url })],
      model: 'compatible/m',
      objective: 'x',
      schema,
      onEvent: (event: string, payload?: { readonly applied?: unknown }) =>
        events.push(`${event} ${payload?.applied}`),
    }
    for (let n = 0; n < 2; n++)
      expect(await generateValue(task)).toMatchObject({ outcome: 'ok', usage: { calls: 1 } })
    expect(server.seen.map(formatOf)).toEqual(['json_schema', 'json_object', 'json_object'])
    expect(events).toEqual([
      'aros.soe.enabled json_object',
      'grammar.applied json_object',
      'aros.soe.enabled json_object',
      'grammar.applied json_object',
    ])
  })

  it.each(['outlines', 'xgrammar'])('%s really asks a server for guided decoding', async (backend) => {
    const { seen, events } = await ask([{ text: good }], { processing: { structured_output: backend } })
    expect(seen[0]?.body).toMatchObject({
      guided_decoding_backend: backend,
      guided_json: { type: 'object' },
    })
    expect(events.map(({ event, applied }) => `${event} ${applied}`)).toContain(`grammar.applied ${backend}`)
  })

  it('enforce_grammar fails what does not match exactly, without any repair', async () => {
    const processing = { structured_output: 'outlines', enforce_grammar: true }
    expect((await ask([{ text: good }], { processing })).result.outcome).toBe('ok')
    const { result, seen } = await ask([{ text: `Sure: ${good}` }], { processing })
    expect(result).toMatchObject({ outcome: 'invalid', issues: [{ code: 'grammar/mismatch' }] })
    expect(seen).toHaveLength(1)
  })
})

describe('streaming', () => {
  const onPartial = () => {}

  it('shows partials while it runs and gives the same value at the end', async () => {
    const partials: string[] = []
    const { result } = await ask([{ text: good, chunks: 8 }], {
      onPartial: ({ value }) => partials.push(JSON.stringify(value)),
    })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
    expect(result.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 })
    expect(partials.length).toBeGreaterThan(3)
    expect(partials).toContain('{"title":"Tea"}')
  })

  it('repairs a messy stream as it does a whole text', async () => {
    const { result } = await ask([{ text: "Sure! {'title': 'Tea', count: '2',}", chunks: 9 }], { onPartial })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
  })

  it('that breaks off is cut off, even if what came looks whole', async () => {
    for (const cutAfter of [3, 6]) {
      const { result } = await ask([{ text: good, chunks: 5, cutAfter }], { onPartial, calls: 1 })
      expect(result).toMatchObject({ outcome: 'truncated' })
    }
  })

  it('stops as soon as the answer can no longer satisfy the schema, and continues with the next fallback step', async () => {
    const long = `{"count":"a great many","title":"${'x'.repeat(50_000)}"}`
    const { result, events } = await ask([{ text: long, chunks: 500 }, { text: good }], { onPartial })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
    const aborted = events.find(({ event }) => event === 'stream.aborted')
    expect(aborted?.['characters']).toBeLessThan(1000)
  })

  it('reads to the end where a model may still correct itself', async () => {
    const text = 'First {"title": 1, "count": "x"} – no, rather {"title": "Tea", "count": 2}'
    const processing = { structured_output: 'off' }
    const { result, seen } = await ask([{ text, chunks: 20 }], { onPartial, processing })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { title: 'Tea', count: 2 } } })
    expect(seen).toHaveLength(1)
  })
})

describe('what is asked for', () => {
  it.each<[string, object, string]>([
    ['a name that is no option', { prompt: 'Write' }, '/prompt is not an option'],
    ['a schema that is no schema', { schema: 'title' }, '/schema must be a JSON Schema, or a schema of Zod'],
    ['no schema', { schema: undefined }, '/schema must be a JSON Schema'],
    ['no objective', { objective: undefined }, '/objective must be a text'],
  ])('is refused with %s, before anything is called', async (_, more, message) => {
    await expect(ask([{ text: good }], more)).rejects.toMatchObject({
      code: 'option/invalid',
      message: expect.stringContaining(message),
    })
    expect(servers.flatMap(({ seen }) => seen)).toEqual([])
  })
})
