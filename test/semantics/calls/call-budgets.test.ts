/**
 * Budgets of calls: every executor of a node has its own, an attempt has four generated answers unless the node says
 * otherwise, retries multiply them, and nothing local counts.
 */
import { describe, expect, it } from 'vitest'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../../src/app.ts'
import type { Capability } from '../../../src/domain/capability.ts'
import type { JournalEvent } from '../../../src/domain/event.ts'
import { envelope, journal, local, open, text } from '../../journeys/support.ts'
import type { OpenAiServer, Seen } from '../../models/openai-server.ts'
import { serveModel } from '../../models/serve-model.ts'
import { compile } from '../../pipelines/support.ts'

/** The model `other` answers well, every other one never does. */
async function serve(): Promise<OpenAiServer> {
  const server = await serveModel(({ body }) => ({
    text: body['model'] === 'other' ? '{"text":"Tea"}' : '{"text":1,"more":',
  }))
  return server
}

const model = (capabilityId: string, more: Partial<Capability> = {}) =>
  defineCapability({
    capabilityId,
    kind: 'model',
    inputContract: { type: 'object' },
    outputContract: text,
    preferredModels: [`compatible/${capabilityId}`],
    ...more,
  })
const draft = (more: object = {}) => ({ nodes: [{ id: 'write', capabilityId: 'write', ...more }] })
const called = ({ seen }: { readonly seen: readonly Seen[] }) => {
  const counts: Record<string, number> = {}
  for (const { body } of seen) counts[String(body['model'])] = (counts[String(body['model'])] ?? 0) + 1
  return counts
}
const starts = (events: readonly JournalEvent[]) =>
  events.flatMap((event) => (event.type === 'attempt_start' ? [event.payload.capabilityId] : []))

async function runModels(more: object, limits: object = {}) {
  const server = await serve()
  const app = await open({
    providers: [compatible({ baseURL: server.url })],
    capabilities: [model('write'), model('worse'), model('other')],
  })
  const done = await app.run(envelope(), { draft: { ...draft(more), limits } })
  return { done, server, events: await journal(app, done.runId) }
}

describe('each executor has a budget of its own', () => {
  it('four answers of the first model do not keep its alternate from answering', async () => {
    const { done, server } = await runModels({ alternates: ['other'] })
    expect(done).toMatchObject({ status: 'completed', provenance: [{ capabilityId: 'other' }] })
    expect(called(server)).toEqual({ write: 4, other: 1 })
  })

  it('retries multiply the attempts, of the capability and of every alternate', async () => {
    const { done, server, events } = await runModels({
      alternates: ['worse', 'other'],
      retry: { max: 1 },
    })
    expect(done.status).toBe('completed')
    expect(called(server)).toEqual({ write: 8, worse: 8, other: 1 })
    expect(starts(events)).toEqual(['write', 'write', 'worse', 'worse', 'other'])
  })

  it('a budget of one answer leaves out the ladder and nothing else', async () => {
    const { server } = await runModels({ alternates: ['other'], retry: { max: 2 }, callBudget: 1 })
    expect(called(server)).toEqual({ write: 3, other: 1 })
  })

  it('the limit of the run still ends everything', async () => {
    const { done, server } = await runModels({ alternates: ['other'] }, { maxCalls: 3 })
    expect(done).toMatchObject({ status: 'failed', failure: 'budget/exhausted' })
    expect(called(server)).toEqual({ write: 3 })
  })
})

describe('a pipeline whose structured step fails', () => {
  const agent = (name: string) =>
    `{ model: "compatible/${name}", output_schema: { type: object, properties: { text: { type: string } }, required: [text] } }`
  const yaml = (step: string) => `
name: tea
agents:
  write: ${agent('write')}
  other: ${agent('other')}
steps:
  - name: write
    kind: step
    uses: agents.write
${step}
`
  async function runPipeline(step: string) {
    const server = await serve()
    const compiled = compile(yaml(step), { input: 'tea' })
    const app = await open({
      providers: [compatible({ baseURL: server.url })],
      capabilities: compiled.capabilities.map((each) => ({ ...each })),
    })
    const done = await app.run(compiled.envelope, { draft: compiled.draft })
    return { done, server, app }
  }

  it('comes to its fallback', async () => {
    const { done, server } = await runPipeline('    fallback: agents.other')
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(called(server)).toEqual({ write: 4, other: 1 })
  })

  it('is retried as often as max_retries says before the fallback has its turn', async () => {
    const { done, server } = await runPipeline('    max_retries: 2\n    fallback: agents.other')
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(called(server)).toEqual({ write: 12, other: 1 })
  })
})

describe('only calls of models and agents count', () => {
  const chain = {
    nodes: [
      { id: 'one', capabilityId: 'shelf' },
      { id: 'two', capabilityId: 'shelf', inputs: { text: { node: 'one', pointer: '/text' } } },
      { id: 'write', capabilityId: 'other', inputs: { text: { node: 'two', pointer: '/text' } } },
    ],
    output: { node: 'write' },
  }

  it('functions of this process run within a limit of one call, and the usage says one', async () => {
    const server = await serve()
    const app = await open({
      providers: [compatible({ baseURL: server.url })],
      capabilities: [model('other'), local('shelf', () => ({ text: 'Shelf' }))],
    })
    const done = await app.run(envelope(), { draft: { ...chain, limits: { maxCalls: 1 } } })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const last = (await journal(app, done.runId)).at(-1)
    expect(last).toMatchObject({ type: 'complete', payload: { usage: { calls: 1 } } })
  })

  it('the templates of a pipeline are no calls', async () => {
    const yaml = `
name: greeting
limits: { max_calls: 1 }
agents:
  writer: { model: "compatible/other", output_schema: { type: object, properties: { text: { type: string } }, required: [text] } }
steps:
  - { name: wrap, kind: step, uses: wrap_dict, input: "about {{ initial_input }}", params: { key: topic } }
  - { name: write, kind: step, uses: agents.writer, input: "Write {{ steps.wrap.output.topic }} now" }
`
    const server = await serve()
    const compiled = compile(yaml, { input: 'tea' })
    const app = await open({
      providers: [compatible({ baseURL: server.url })],
      capabilities: compiled.capabilities.map((each) => ({ ...each })),
    })
    const done = await app.run(compiled.envelope, { draft: compiled.draft })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('a local function with retry.max 4 is attempted five times', async () => {
    let attempts = 0
    const broken = local('write', () => {
      attempts++
      throw new Error('Not yet')
    })
    const app = await open({ capabilities: [broken] })
    const done = await app.run(envelope(), { draft: draft({ retry: { max: 4 } }) })
    expect(done.status).toBe('failed')
    expect(attempts).toBe(5)
  })
})

describe('the estimate', () => {
  it('knows every answer that the plan may ask for', async () => {
    const app = await open({
      providers: [],
      capabilities: [model('write'), model('other'), local('shelf', () => ({ text: 'Shelf' }))],
    })
    const of = (more: object) => app.estimate(envelope(), { draft: draft(more) }).calls
    expect(of({ retry: { max: 0 } })).toEqual({ least: 1, most: 4 })
    expect(of({ retry: { max: 2 } })).toEqual({ least: 1, most: 12 })
    expect(of({ retry: { max: 2 }, alternates: ['other'] })).toEqual({ least: 1, most: 24 })
    expect(of({ retry: { max: 1 }, alternates: ['other', 'shelf'], callBudget: 2 })).toEqual({
      least: 1,
      most: 8,
    })
  })

  it('counts the body of a map for every item it may have, and that of a loop for every round', async () => {
    const app = await open({ providers: [], capabilities: [model('write')] })
    const body = { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 0 } }] }
    const of = (more: object) =>
      app.estimate(envelope(), { draft: { nodes: [{ id: 'all', body, ...more }] } }).calls
    expect(of({ map: { maxItems: 25 }, inputs: { items: { envelope: '/inputs/list' } } })).toEqual({
      least: 0,
      most: 100,
    })
    expect(of({ loop: { maxRounds: 3 }, inputs: { state: { value: {} } } })).toEqual({ least: 1, most: 12 })
  })
})
