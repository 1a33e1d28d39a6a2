/** Model settings: where they are written, which of them count, and what is said about wrong and ignored ones. */

import { describe, expect, it } from 'vitest'
import { generateValue } from '../../src/adapters/models/index.ts'
import { anthropic } from '../../src/adapters/providers/anthropic.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { defineCapability, type ModelRequest, type Provider } from '../../src/index.ts'
import { parseCapability, parseDraft, parseEnvelope } from '../../src/plan/index.ts'
import { journal, open, text } from '../journeys/support.ts'
import { run } from '../pipelines/support.ts'
import { wrongly } from '../wrongly.ts'
import { serveModel } from './serve-model.ts'

const wrong = { temprature: 1 }
const outputContract = { schema: text }

describe('wrong settings are located, with what was meant', () => {
  const holders = [
    ['an envelope', (m: object) => parseEnvelope({ objective: 'x', outputContract, modelSettings: m }), ''],
    [
      'a node',
      (m: object) => parseDraft({ nodes: [{ id: 'a', capabilityId: 'a', data: { modelSettings: m } }] }),
      '/nodes/0/data',
    ],
    [
      'a capability',
      (m: object) =>
        parseCapability({
          capabilityId: 'a',
          kind: 'model',
          inputContract: {},
          outputContract: text,
          settings: { modelSettings: m },
        }),
      '/settings',
    ],
  ] as const

  it.each(holders)('of %s', (_, parse, at) => {
    const read = parse(wrong)
    if (read.ok) throw new Error('accepted')
    expect(read.issues).toMatchObject([
      { at: { pointer: `${at}/modelSettings/temprature` }, hint: expect.stringContaining('temperature') },
    ])
    const range = parse({ temperature: 3, topP: 0, reasoningEffort: 'hard' })
    if (range.ok) throw new Error('accepted')
    expect(range.issues.map(({ at: where }) => 'pointer' in where && where.pointer)).toEqual(
      ['temperature', 'topP', 'reasoningEffort'].map((name) => `${at}/modelSettings/${name}`),
    )
  })

  it.each(holders)('of %s: no option replaces what limits depend on', (_, parse, at) => {
    const read = parse({ providerOptions: { compatible: { model: 'dear', max_tokens: 1e6, top_k: 3 } } })
    if (read.ok) throw new Error('accepted')
    expect(read.issues.map(({ code, at: where }) => [code, 'pointer' in where && where.pointer])).toEqual([
      ['settings/reserved', `${at}/modelSettings/providerOptions/compatible/model`],
      ['settings/reserved', `${at}/modelSettings/providerOptions/compatible/max_tokens`],
    ])
  })

  it('of generateValue', async () => {
    await expect(
      generateValue({
        providers: [],
        model: 'a/b',
        objective: 'x',
        schema: text,
        modelSettings: wrongly(wrong),
      }),
    ).rejects.toThrow(/modelSettings\/temprature/)
  })
})

/** Notes the settings of every request. */
function noting(): Provider & { readonly seen: ModelRequest[] } {
  const seen: ModelRequest[] = []
  return {
    name: '*',
    free: true,
    seen,
    async generate(request) {
      seen.push(request)
      return { kind: 'text', text: '{"text":"Tea"}', finish: 'stop', usage: {} }
    },
  }
}

describe('which settings count', () => {
  it('a node before the envelope, the envelope before the capability; all of it is in the journal', async () => {
    const provider = noting()
    const write = defineCapability({
      id: 'write',
      kind: 'model',
      input: { type: 'object' },
      output: text,
      settings: {
        modelSettings: { temperature: 0.1, seed: 1, topP: 0.5, providerOptions: { x: { a: 1, b: 1 } } },
      },
    })
    const app = await open({ providers: [provider], defaultModel: 'any/model', capabilities: [write] })
    const result = await app.run(
      {
        objective: 'Tea',
        output: text,
        modelSettings: { seed: 2, topP: 0.6, providerOptions: { x: { b: 2 } } },
      },
      { draft: { nodes: [{ id: 'write', capabilityId: 'write', data: { modelSettings: { topP: 0.7 } } }] } },
    )
    expect(result.status).toBe('completed')
    const merged = { temperature: 0.1, seed: 2, topP: 0.7, providerOptions: { x: { a: 1, b: 2 } } }
    expect(provider.seen.map(({ settings }) => settings)).toEqual([merged])
    const events = await journal(app, result.runId)
    expect(events.find(({ type }) => type === 'attempt_start')?.payload).toMatchObject({
      modelSettings: merged,
    })
  })

  it('in a pipeline: a step before its agent, the agent before the file', async () => {
    const done = await run(
      `
name: tea
model_settings: { temperature: 0.1, top_p: 0.5, seed: 1 }
agents:
  writer: { model: openai/gpt-5, system_prompt: Write., model_settings: { seed: 2, max_tokens: 300 } }
steps:
  - { name: write, agent: writer, input: tea, model_settings: { seed: 3, reasoning_effort: low, stop: [END] } }
`,
      () => 'Tea',
    )
    expect(done.status).toBe('completed')
    expect(done.seen[0]).toMatchObject({
      maxOutputTokens: 300,
      settings: { temperature: 0.1, topP: 0.5, seed: 3, reasoningEffort: 'low', stop: ['END'] },
    })
  })
})

describe('what a provider ignores', () => {
  const schema = { type: 'string' } as const
  const ignored = async (provider: Provider, model: string, modelSettings: object) => {
    const events: (readonly [string, unknown])[] = []
    const done = await generateValue({
      providers: [provider],
      model,
      objective: 'Tea',
      schema,
      modelSettings,
      onEvent: (event, payload) => void events.push([event, payload?.['setting']]),
    })
    expect(done.outcome).toBe('ok')
    return events.flatMap(([event, setting]) => (event === 'model.setting_ignored' ? [setting] : []))
  }

  it('is an event with the name of the setting', async () => {
    const server = await serveModel([{ text: 'Tea' }])
    const provider = compatible({ baseURL: server.url })
    expect(await ignored(provider, 'compatible/m', { temperature: 0 })).toEqual([])
    expect(server.seen[0]?.body).toMatchObject({ temperature: 0 })
  })

  it('thinking never takes more than the limit of the answer: it shares it, or there is none', async () => {
    const bodies: Record<string, unknown>[] = []
    const reply = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Tea' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    const provider = anthropic({
      apiKey: 'sk-ant-test-key',
      fetch: async (_, init) => {
        bodies.push(JSON.parse(String(init?.body)))
        return new Response(JSON.stringify(reply), { headers: { 'content-type': 'application/json' } })
      },
    })
    const model = 'anthropic/claude-sonnet-4-5'
    const most = async (maxOutputTokens: number) =>
      ignored(provider, model, { reasoningEffort: 'high', maxOutputTokens })
    expect(await most(4_000)).toEqual([])
    expect(await most(1_000)).toEqual(['reasoningEffort'])
    expect(bodies.map(({ max_tokens, thinking }) => [max_tokens, thinking])).toEqual([
      [4_000, { type: 'enabled', budget_tokens: 3_744 }],
      [1_000, undefined],
    ])
  })
})
