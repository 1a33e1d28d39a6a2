/** The schema of an answer is sent once: as structured output where all of it is enforced, else in words; and prompts say so. */

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openai } from '../../src/adapters/providers/openai.ts'
import { type App, defineCapability, type JsonSchema } from '../../src/index.ts'
import { cassette } from '../../src/testing/index.ts'
import { journal, open } from '../journeys/support.ts'
import { serveWire, type Wire, wires } from './conformance/wires.ts'
import type { ModelServer } from './model-server.ts'
import { openAiServer } from './openai-server.ts'

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** A name that appears nowhere else in a request. */
const plain = {
  type: 'object',
  properties: { marzipan: { type: 'string' } },
  required: ['marzipan'],
} as const
/** Two of these keywords are enforced by no provider. */
const rich = {
  ...plain,
  properties: { marzipan: { type: 'string', minLength: 2, contentEncoding: 'base64', not: { const: 'x' } } },
} as const

const define = (model: string, schema: JsonSchema, processing?: object) =>
  defineCapability({
    id: 'writer',
    kind: 'model',
    preferredModels: [model],
    input: { type: 'object' },
    output: schema,
    settings: { instructions: 'Write.', ...(processing && { processing }) },
  } as never)

const envelope = (schema: JsonSchema) => ({ objective: 'Write', outputContract: { schema } })
const draft = { nodes: [{ id: 'write', capabilityId: 'writer', inputs: {} }] }
const count = (text = '') => text.split('"marzipan\\":').length + text.split('"marzipan":').length - 2

async function run(wire: Wire, schema: JsonSchema, processing?: object) {
  const server = await serveWire(wire, () => ({ thought: 'Hm', text: '{"marzipan":"sweet"}' }))
  servers.push(server)
  const app = await open({
    providers: [wire.provider(server.url)],
    capabilities: [define(wire.model, schema, processing)],
  })
  const { status, runId } = await app.run(envelope(schema), { draft })
  expect(status).toBe('completed')
  return { sent: server.seen[0]?.text ?? '', stated: await statedIn(app, runId), server }
}

/** Whether the prompt in the journal, which the API and the console show, states the schema. */
async function statedIn(app: App, runId: string): Promise<boolean> {
  const end = (await journal(app, runId)).find(({ type }) => type === 'attempt_end')
  return JSON.stringify(end?.payload).includes('satisfying this JSON Schema')
}

describe.each(wires)('$name', (wire) => {
  it('sends a schema once, and shows the prompt as sent', async () => {
    const { sent, stated } = await run(wire, plain)
    const isUnsure = wire.name === 'compatible'
    expect(sent.includes('satisfying this JSON Schema')).toBe(isUnsure)
    expect(stated).toBe(isUnsure)
    expect(count(sent)).toBe(isUnsure ? 2 : 1)
  })

  it('states a schema in words of which the provider enforces a part only', async () => {
    const { sent, stated } = await run(wire, rich)
    expect(sent).toContain('satisfying this JSON Schema')
    expect(sent).toContain('contentEncoding')
    expect(stated).toBe(true)
  })

  it('states it once where structured output is off', async () => {
    const { sent } = await run(wire, plain, { structured_output: 'off' })
    expect(sent).toContain('satisfying this JSON Schema')
    expect(count(sent)).toBe(1)
  })
})

it('states the schema in words when the server turns out to refuse structured output', async () => {
  const refusal = {
    status: 400,
    body: { error: { message: 'response_format json_schema is not supported' } },
  }
  const server = await openAiServer([refusal, refusal, { text: '{"marzipan":"sweet"}' }])
  servers.push(server)
  const app = await open({
    providers: [openai({ apiKey: 'sk-test-key', api: 'chat', baseURL: server.url })],
    capabilities: [define('openai/gpt-5', plain)],
  })
  expect(await app.run(envelope(plain), { draft })).toMatchObject({ status: 'completed' })
  const [first, second, third] = server.seen.map(({ text }) => text)
  expect([count(first), first?.includes('satisfying this')]).toEqual([1, false])
  expect(second).toContain('satisfying this JSON Schema')
  expect([count(third), third?.includes('satisfying this')]).toEqual([1, true])
})

it('replays a recording of a provider that enforced the schema', async () => {
  const server = await openAiServer([{ text: '{"marzipan":"sweet"}' }])
  servers.push(server)
  const file = join(mkdtempSync(join(tmpdir(), 'proviso-once-')), 'once.json')
  const play = async (tape: ReturnType<typeof cassette>) => {
    const app = await open({ providers: [tape], capabilities: [define('openai/gpt-5', plain)] })
    return app.run(envelope(plain), { draft })
  }
  const provider = openai({ apiKey: 'sk-test-key', api: 'chat', baseURL: server.url })
  const recording = cassette({ file, mode: 'record', provider })
  expect(await play(recording)).toMatchObject({ status: 'completed' })
  recording.save()
  const playing = cassette({ file })
  expect(await play(playing)).toMatchObject({ status: 'completed', output: { marzipan: 'sweet' } })
  expect(playing.misses).toEqual([])
})
