/** Images and documents on every wire: in the form of its maker, refused at their place where it takes none, kept by reference. */
import { afterEach, describe, expect, it } from 'vitest'
import { fileSchema, toFile } from '../../../src/adapters/models/index.ts'
import { type App, defineAgent, defineCapability, tool } from '../../../src/index.ts'
import { journal, open } from '../../journeys/support.ts'
import { answerSchema, query } from '../../tools/agent-parts.ts'
import type { ModelServer } from '../model-server.ts'
import { type ScriptedTurn, serveWire, type Wire, wires } from './wires.ts'

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** A picture of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const base64 = png.toString('base64')
const pdf = Buffer.from('%PDF-1.4 nothing')

const answer = { answer: 'A pixel', sources: [] }
const say: ScriptedTurn = { thought: 'I see', text: JSON.stringify(answer) }
const input = {
  type: 'object',
  properties: { question: { type: 'string' }, photo: fileSchema },
  required: ['photo'],
} as const

async function serve(wire: Wire, script: (turn: number) => ScriptedTurn = () => say) {
  const server = await serveWire(wire, script)
  servers.push(server)
  return server
}

function openApp(wire: Wire, server: ModelServer, isAgent: boolean): Promise<App> {
  const look = tool({ id: 'look', description: 'Looks', input: query, output: query, run: (given) => given })
  const capability = isAgent
    ? defineAgent({ id: 'viewer', model: wire.model, input, output: answerSchema, tools: [look] })
    : defineCapability({
        id: 'viewer',
        kind: 'model',
        preferredModels: [wire.model],
        input,
        output: answerSchema,
      })
  return open({ providers: [wire.provider(server.url)], capabilities: [capability] })
}

const envelope = (photo: object) => ({
  objective: 'Say what is to be seen',
  inputs: { question: 'What is it?', photo: photo },
  outputContract: { schema: answerSchema },
})
const draft = {
  nodes: [
    {
      id: 'view',
      capabilityId: 'viewer',
      inputs: { question: { envelope: '/inputs/question' }, photo: { envelope: '/inputs/photo' } },
    },
  ],
}

/** An image and a document as each maker documents them. */
const forms: Readonly<Record<string, readonly [image: object, document: object]>> = {
  'openai responses': [
    { type: 'input_image', image_url: `data:image/png;base64,${base64}` },
    { type: 'input_file', file_data: `data:application/pdf;base64,${pdf.toString('base64')}` },
  ],
  'openai chat': [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
    { type: 'file', file: { file_data: `data:application/pdf;base64,${pdf.toString('base64')}` } },
  ],
  anthropic: [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') },
    },
  ],
  google: [
    { inlineData: { mimeType: 'image/png', data: base64 } },
    { inlineData: { mimeType: 'application/pdf', data: pdf.toString('base64') } },
  ],
  compatible: [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
    { type: 'file', file: { file_data: `data:application/pdf;base64,${pdf.toString('base64')}` } },
  ],
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four makers
const partsIn = (body: any): readonly object[] => {
  const messages = body.messages ?? body.input ?? body.contents
  const user = messages.find(({ role }: { role: string }) => role === 'user')
  return user.content ?? user.parts
}

describe.each(wires)('$name', (wire) => {
  const [image, document] = forms[wire.name] ?? []

  it('sends an image and a document in the form of its maker', async () => {
    for (const [file, form] of [
      [toFile(png, 'image/png'), image],
      [toFile(pdf, 'application/pdf', 'a.pdf'), document],
    ] as const) {
      const server = await serve(wire)
      const app = await openApp(wire, server, false)
      expect(await app.run(envelope(file), { draft })).toMatchObject({ status: 'completed', output: answer })
      const parts = partsIn(server.seen[0]?.body)
      expect(parts).toHaveLength(2)
      expect(parts[1]).toMatchObject(form as object)
      // The words name it by its number, and do not hold its data.
      expect(JSON.stringify(parts[0])).toContain('\\"$file\\":1')
      expect(JSON.stringify(parts[0])).not.toContain(file.$file.data)
    }
  })

  it('sends it in every turn of an agent, and keeps a reference in the facts of the loop', async () => {
    const calls = [{ name: 'look', input: { query: 'closer' } }]
    const server = await serve(wire, (turn) => (turn === 0 ? { thought: 'Hm', calls } : say))
    const app = await openApp(wire, server, true)
    const { status, runId } = await app.run(envelope(toFile(png, 'image/png')), { draft })
    expect(status).toBe('completed')
    for (const { body } of server.seen) expect(partsIn(body)[1]).toMatchObject(image as object)
    const facts = (await journal(app, runId)).filter(({ type }) => /^turn_/.test(type))
    expect(facts[0]?.payload).toMatchObject({
      files: [
        {
          pointer: '/photo',
          mediaType: 'image/png',
          bytes: png.length,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    })
    expect(JSON.stringify(facts)).not.toContain(base64)
  })

  it('refuses a type that its maker does not take, at its place, before anything is sent', async () => {
    const server = await serve(wire)
    const app = await openApp(wire, server, false)
    const file = toFile(pdf, wire.name === 'google' ? 'application/zip' : 'video/mp4')
    const result = await app.run(envelope(file), { draft })
    expect(result).toMatchObject({
      status: 'failed',
      issues: [{ code: 'model/file-refused', at: { pointer: '/photo' } }],
    })
    expect(server.seen).toEqual([])
  })

  it('the scripted server refuses data that is no image', async () => {
    const server = await serve(wire)
    const app = await openApp(wire, server, false)
    const result = await app.run(envelope(toFile(pdf, 'image/png')), { draft })
    expect(result.status).toBe('failed')
    expect(JSON.stringify(result.issues)).toContain('The provider answered 400')
    expect(wire.refuse(server.seen[0]?.body ?? {})).toBe('Could not process image')
  })
})

describe('a file that cannot be used', () => {
  const [, wire] = wires as readonly [Wire, Wire]
  it.each([
    [{ $file: 'photo.png' }, '/photo/$file'],
    [{ $file: { mediaType: 'png', data: base64 } }, '/photo/$file/mediaType'],
    [{ $file: { mediaType: 'image/png', data: `data:image/png;base64,${base64}` } }, '/photo/$file/data'],
  ])('is refused where it is: %j', async (photo, pointer) => {
    const server = await serve(wire)
    const app = await open({
      providers: [wire.provider(server.url)],
      capabilities: [
        defineCapability({
          id: 'viewer',
          kind: 'model',
          preferredModels: [wire.model],
          input: { type: 'object' },
          output: answerSchema,
        }),
      ],
    })
    expect(await app.run(envelope(photo), { draft })).toMatchObject({
      status: 'failed',
      issues: [{ code: 'model/file', at: { pointer } }],
    })
    expect(server.seen).toEqual([])
  })

  it('is refused when it is too large', async () => {
    const server = await serve(wire)
    const app = await openApp(wire, server, false)
    const file = toFile(new Uint8Array(5 * 1024 * 1024 + 3), 'image/png')
    expect(await app.run(envelope(file), { draft })).toMatchObject({
      status: 'failed',
      issues: [{ code: 'model/file-size', at: { pointer: '/photo' } }],
    })
    expect(server.seen).toEqual([])
  })
})
