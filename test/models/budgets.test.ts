/** Budgets of tokens and cost are never passed, whatever the language and however the server counts. */
import { afterEach, describe, expect, it } from 'vitest'
import { type GenerateOptions, generateValue } from '../../src/adapters/models/index.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../src/index.ts'
import { createRandom } from '../../src/testing/index.ts'
import { envelope, journal, open, text } from '../journeys/support.ts'
import { type OpenAiServer, openAiServer, type Reply, type Seen } from './openai-server.ts'

const servers: OpenAiServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const schema = {
  type: 'object',
  properties: { titel: { type: 'string', description: '一行の題' }, count: { type: 'integer' } },
  required: ['titel', 'count'],
} as const

/** The greediest tokenizer there can be: a token for every byte of all that was sent, and an answer as long as it may be. */
function greedy(taken: { tokens: number }, reply: (seen: Seen) => Partial<Reply> = () => ({})) {
  return (seen: Seen): Reply => {
    const { messages, response_format, max_tokens } = seen.body
    const words = (messages as readonly { readonly content: string }[]).map(({ content }) => content)
    const format = (response_format as { json_schema?: { schema?: object } } | undefined)?.json_schema?.schema
    const prompt =
      Buffer.byteLength(words.join('')) + (format ? Buffer.byteLength(JSON.stringify(format)) : 0) + 10
    const answer = Number(max_tokens)
    taken.tokens += prompt + answer
    return { text: '{"titel": 7', tokens: [prompt, answer], ...reply(seen) } as Reply
  }
}

async function ask(replies: (seen: Seen) => Reply, more: Partial<GenerateOptions>) {
  const server = await openAiServer(replies)
  servers.push(server)
  const result = await generateValue({
    providers: [compatible({ baseURL: server.url })],
    model: 'compatible/test-model',
    objective: '请总结这份订单',
    schema,
    calls: 8,
    ...more,
  })
  return { result, seen: server.seen }
}

const languages = [
  'Summarise the order',
  '请总结这份订单，质量很好',
  'لخّص الطلب العاجل من فضلك',
  'ऑर्डर का सारांश लिखिए',
  '田中さんの注文を要約してください',
  '👩‍👩‍👧‍👦🏳️‍🌈☕🫖',
  'Подведи итог заказа чая',
  '\ud83d alone and \u0000 and ﷺ',
]

describe('a value from a model', () => {
  it('never takes more tokens than it may, in no language, though every byte be a token', async () => {
    const random = createRandom(5)
    let called = 0
    for (const objective of languages) {
      for (let trial = 0; trial < 4; trial++) {
        const taken = { tokens: 0 }
        const maxTokens = random.int(300, 6_000)
        const { result, seen } = await ask(greedy(taken), {
          objective: objective.repeat(random.int(1, 5)),
          inputs: { note: objective },
          maxTokens,
        })
        expect(taken.tokens, objective).toBeLessThanOrEqual(maxTokens)
        expect(result.outcome).not.toBe('ok')
        called += seen.length
      }
    }
    expect(called).toBeGreaterThan(languages.length * 2)
  })

  it('never costs more than it may', async () => {
    const prices = [{ model: 'compatible/*', inputPerMillion: 2, outputPerMillion: 7 }]
    for (const objective of languages) {
      const taken = { tokens: 0 }
      const { result } = await ask(greedy(taken), { objective, prices, maxCostUsd: 0.02 })
      expect(result.usage.costUsd).toBeLessThanOrEqual(0.02)
      expect(result.usage.costUsd).toBeGreaterThan(0.01)
    }
  })

  it('where the server does not count, all that was set aside is spent', async () => {
    const taken = { tokens: 0 }
    const { result, seen } = await ask(
      greedy(taken, () => ({ tokens: null })),
      { maxTokens: 3_000, processing: { max_output_tokens: 200 } },
    )
    const { inputTokens = 0, outputTokens = 0 } = result.usage
    expect(inputTokens + outputTokens).toBeGreaterThanOrEqual(taken.tokens)
    expect(inputTokens + outputTokens).toBeLessThanOrEqual(3_000)
    expect(outputTokens).toBe(seen.reduce((sum, { body }) => sum + Number(body['max_tokens']), 0))
  })

  it('stops before a call that does not fit, and says what a prompt is taken for', async () => {
    const { result, seen } = await ask(() => ({ text: '{}' }), { maxTokens: 900 })
    expect(seen.length).toBeGreaterThan(0)
    for (const { body } of seen) expect(body['max_tokens']).toBeLessThan(900)
    expect(result.issues.at(-1)).toMatchObject({
      code: 'budget/exhausted',
      hint: expect.stringContaining('bytes'),
    })
    const none = await ask(() => ({ text: '{}' }), { maxTokens: 100 })
    expect(none.seen).toHaveLength(0)
  })
})

describe('a run', () => {
  const model = defineCapability({
    capabilityId: 'write',
    kind: 'model',
    inputContract: { type: 'object' },
    outputContract: text,
    preferredModels: ['compatible/test-model'],
  })
  const nodes = Array.from({ length: 6 }, (_, index) => ({
    id: `n${index}`,
    capabilityId: 'write',
    inputs: { topic: { envelope: '/inputs/topic' } },
  }))

  it('with nodes side by side never takes more than it may', async () => {
    // Below what the plan takes at least it would be rejected.
    for (const maxTokens of [9_000, 30_000]) {
      const taken = { tokens: 0 }
      const server = await openAiServer(greedy(taken, () => ({ text: '{"text":"Tea"}' })))
      servers.push(server)
      const app = await open({
        providers: [compatible({ baseURL: server.url })],
        capabilities: [model],
        processing: { max_output_tokens: 300 },
      })
      const draft = { nodes, limits: { maxTokens }, output: { node: 'n0' } }
      const done = await app.run(envelope({ inputs: { topic: languages.join(' ') } }), { draft })
      expect(taken.tokens, String(maxTokens)).toBeLessThanOrEqual(maxTokens)
      expect(server.seen.length).toBeGreaterThan(0)
      expect(done.status).toBe('completed')
    }
  })

  it('pays for what a call may have taken when its time is over', async () => {
    const server = await openAiServer([{ hang: true }])
    servers.push(server)
    const app = await open({ providers: [compatible({ baseURL: server.url })], capabilities: [model] })
    const draft = {
      nodes: nodes.slice(0, 1).map((node) => ({ ...node, timeoutMs: 300 })),
      limits: { maxTokens: 5_000 },
    }
    const done = await app.run(envelope(), { draft })
    const end = (await journal(app, done.runId)).find((event) => event.type === 'attempt_end')
    expect(done.status).toBe('failed')
    const outputTokens = server.seen[0]?.body['max_tokens']
    expect(outputTokens).toBeGreaterThan(1_000)
    expect(end?.payload).toMatchObject({ usage: { calls: 1, inputTokens: expect.any(Number), outputTokens } })
  })
})
