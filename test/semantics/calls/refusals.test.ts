/**
 * A refusal is a refusal, by the provider's field or by a text that declines and carries no value: never repaired, never
 * taken for data. A text stands in for an answer only where a step says so, and the result says that it does.
 */
import { describe, expect, it } from 'vitest'
import { generateValue } from '../../../src/adapters/models/generate-value.ts'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../../src/app.ts'
import type { JournalEvent } from '../../../src/domain/event.ts'
import { arosConfig } from '../../../src/pipeline/index.ts'
import { agent, copyVariants, json, serveAgents, wanted, writer, writing } from '../../agents/support.ts'
import { envelope, journal, open, text } from '../../journeys/support.ts'
import type { openAiServer, Reply } from '../../models/openai-server.ts'
import { serveModel } from '../../models/serve-model.ts'
import { compile } from '../../pipelines/support.ts'

const apology = "I'm sorry, but I can't help with that."
const summary = {
  type: 'object',
  properties: { summary: { type: 'string' } },
  required: ['summary'],
} as const

async function generate(replies: readonly Reply[], more: object = {}) {
  const server = await serveModel(replies)
  const result = await generateValue({
    providers: [compatible({ baseURL: server.url })],
    model: 'compatible/m',
    objective: 'Summarise',
    schema: summary,
    ...more,
  })
  return { result, calls: server.seen.length }
}

const degrading = { fallback: { degrade_to_string: true } }

describe('a refusal', () => {
  it.each([
    apology,
    'I cannot assist with this request.',
    "I'm sorry, I can't.",
    'Sorry, I am not able to provide that information.',
    'As an AI language model, I am unable to fulfil this request.',
    'I apologize, but I will not write this summary. Is there anything else you would like to talk about?',
    'Unfortunately, I can’t comply with that request.',
    '**I’m sorry, but I won’t do that.**',
    'Es tut mir leid, aber dabei kann ich nicht helfen.',
    'Lo siento, pero no puedo ayudar con eso.',
    'Je suis désolé, mais je ne peux pas vous aider.',
  ])('in words ends the attempt with one call and no repair: %s', async (said) => {
    const { result, calls } = await generate([{ text: said }], { processing: degrading })
    expect(result).toMatchObject({ outcome: 'refused', usage: { calls: 1 } })
    expect(result.issues[0]).toMatchObject({
      code: 'attempt/refused',
      message: expect.stringContaining(said),
    })
    expect(calls).toBe(1)
  })

  it.each([
    'The summary: tea is warm.',
    'I am sorry for the delay! The order cannot be shipped before Monday.',
    'Tea cannot be grown here, and I can explain why.',
    'Could you send me the text that I shall summarise?',
  ])('is not every text that says sorry or cannot: %s', async (said) => {
    expect((await generate([{ text: said }])).result.outcome).not.toBe('refused')
  })

  it('that carries a value is that value', async () => {
    const said = `I'm sorry, but I can't help with more than this: {"summary":"Tea is warm"}`
    expect((await generate([{ text: said }])).result).toMatchObject({
      outcome: 'ok',
      output: { value: { summary: 'Tea is warm' } },
    })
  })

  it('is a text like any other where a plain text is wanted', async () => {
    const { result } = await generate([{ text: apology }], { schema: { type: 'string' } })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: apology } })
  })

  it.each([
    ['by the provider', { refusal: 'No.' }],
    ['in words', { text: apology }],
  ] as const)('%s while a text is repaired ends the attempt, too', async (_, refusal) => {
    const { result, calls } = await generate([{ text: '{"summary":1' }, refusal], { processing: degrading })
    expect(result.outcome).toBe('refused')
    expect(calls).toBe(2)
  })

  it('of an agent over HTTP is one, and the alternate has its turn', async () => {
    const first = await agent((response) => void response.end(apology))
    const other = await agent(json({ copyVariants }))
    const served = await serveAgents()
    await served.register(writer(first.url), await served.agentToken())
    await served.register(writer(other.url, { capabilityId: 'writer.second' }), await served.agentToken())
    const done = await served.app.run(wanted(), { draft: writing({ alternates: ['writer.second'] }) })
    expect(done).toMatchObject({ status: 'completed', provenance: [{ capabilityId: 'writer.second' }] })
    const ends = (await journal(served.app, done.runId)).filter(({ type }) => type === 'attempt_end')
    expect(ends[0]).toMatchObject({ payload: { outcome: 'refused' } })
  })
})

const yaml = (step = '') => `
name: summary
agents:
  writer: { model: "compatible/write", output_schema: { type: object, properties: { summary: { type: string } }, required: [summary] } }
  other: { model: "compatible/other", output_schema: { type: object, properties: { summary: { type: string } }, required: [summary] } }
steps:
  - name: write
    kind: step
    uses: agents.writer
${step}
`
const optIn = '    processing: { structured_output: auto, fallback: { degrade_to_string: true } }'

async function runPipeline(step: string, replies: Parameters<typeof openAiServer>[0], aros = arosConfig()) {
  const server = await serveModel(replies)
  const compiled = compile(yaml(step), { input: 'tea', aros })
  const app = await open({
    providers: [compatible({ baseURL: server.url })],
    capabilities: compiled.capabilities.map((each) => ({ ...each })),
  })
  const done = await app.run(compiled.envelope, { draft: compiled.draft })
  return { done, server, events: await journal(app, done.runId) }
}

const completed = (events: readonly JournalEvent[]) =>
  events.flatMap((event) => (event.type === 'complete' ? [event.payload] : []))[0]

describe('a pipeline whose model declines', () => {
  it('fails instead of handing an apology on', async () => {
    const { done, server } = await runPipeline('', [{ text: apology }])
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/refused' })
    expect(server.seen).toHaveLength(1)
  })

  it('fails even where a text may stand in for the answer', async () => {
    expect((await runPipeline(optIn, [{ text: apology }])).done.failure).toBe('attempt/refused')
  })

  it('comes to its fallback', async () => {
    const { done } = await runPipeline('    fallback: agents.other', ({ body }) => ({
      text: body['model'] === 'other' ? '{"summary":"Tea"}' : apology,
    }))
    expect(done).toMatchObject({ status: 'completed', output: { summary: 'Tea' } })
  })
})

describe('a text that stands in for an answer', () => {
  const prose: readonly Reply[] = [{ text: 'Tea is warm and it calms.' }]

  it('is not taken unless the step says so', async () => {
    expect((await runPipeline('', prose)).done).toMatchObject({
      status: 'failed',
      failure: 'attempt/invalid',
    })
  })

  it('is not taken because of a setting for all steps alone', async () => {
    const aros = arosConfig({ 'fallback.degrade_to_string': true })
    expect((await runPipeline('', prose, aros)).done.status).toBe('failed')
  })

  it('is taken where the step says so, and the node, the end and the result say that it was', async () => {
    const { done, events } = await runPipeline(optIn, prose)
    expect(done).toMatchObject({
      status: 'completed',
      output: { summary: 'Tea is warm and it calms.' },
      degraded: ['write'],
      provenance: [{ nodeId: 'write', degraded: true }],
    })
    expect(events.find(({ type }) => type === 'node_complete')).toMatchObject({
      payload: { output: { degraded: true } },
    })
    expect(completed(events)).toMatchObject({ degraded: ['write'] })
    expect(completed(events)?.observedSatisfaction).toBeLessThan(1)
  })

  it('is not taken where the settings forbid it', async () => {
    const aros = arosConfig({ 'fallback.degrade_to_string': false })
    expect((await runPipeline(optIn, prose, aros)).done.status).toBe('failed')
  })

  it('is not taken under a contract with constraints, whatever their level', async () => {
    const server = await serveModel(prose)
    const write = defineCapability({
      capabilityId: 'write',
      kind: 'model',
      inputContract: { type: 'object' },
      outputContract: text,
      preferredModels: ['compatible/m'],
    })
    const app = await open({ providers: [compatible({ baseURL: server.url })], capabilities: [write] })
    const node = { id: 'write', capabilityId: 'write', data: { processing: degrading } }
    const run = (constraints: readonly object[]) =>
      app.run(envelope({ outputContract: { schema: text, constraints } }), { draft: { nodes: [node] } })
    expect(await run([])).toMatchObject({ status: 'completed', degraded: ['write'] })
    const soft = { constraintId: 'any', expr: { '!=': [{ var: 'text' }, ''] }, level: 'soft' }
    expect((await run([soft])).status).toBe('failed')
  })

  it('in an item of a map marks the map', async () => {
    const server = await serveModel(prose)
    const app = await open({
      providers: [compatible({ baseURL: server.url })],
      capabilities: [
        defineCapability({
          capabilityId: 'write',
          kind: 'model',
          inputContract: { type: 'object' },
          outputContract: text,
          preferredModels: ['compatible/m'],
        }),
      ],
    })
    const item = { id: 'write', capabilityId: 'write', data: { processing: degrading } }
    const all = {
      id: 'all',
      map: {},
      inputs: { items: { value: [1, 2] } },
      body: { nodes: [{ ...item, inputs: { n: { input: '/item' } } }], output: { node: 'write' } },
    }
    const schema = { type: 'object', properties: { texts: { type: 'array' } }, required: ['texts'] }
    const done = await app.run(envelope({ outputContract: { schema } }), {
      draft: { nodes: [all], output: { properties: { texts: { node: 'all' } } } },
    })
    expect(done).toMatchObject({ status: 'completed', degraded: ['all'] })
  })

  it('that was not accepted leaves no mark', async () => {
    const { done, events } = await runPipeline(optIn, [{ text: '{"summary":"Tea"}' }])
    expect(done.status).toBe('completed')
    expect(done).not.toHaveProperty('degraded')
    expect(completed(events)).not.toHaveProperty('degraded')
    expect(completed(events)?.observedSatisfaction).toBe(1)
  })
})
