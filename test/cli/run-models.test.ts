/** Which models `proviso run` calls, and what it shows of their prompts: on the built file, with a scripted model server. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ModelServer } from '../models/model-server.ts'
import { root, runCommand } from '../support.ts'
import { chatServer, messagesOf } from '../tools/chat-server.ts'
import { file, pathInFolder } from './run-support.ts'

const servers: ModelServer[] = []
afterAll(async () => {
  for (const server of servers) await server.close()
})

/** Searches, wants to send, and answers. */
async function scripted() {
  const server = await chatServer((turn) => {
    if (turn === 0) return { calls: [{ name: 'search', input: { query: 'tea' } }] }
    if (turn === 1) return { calls: [{ name: 'send', input: { to: 'ann' } }] }
    return { text: '{"answer":"Green tea","sent":true}' }
  })
  servers.push(server)
  return server
}

const module = `import { defineAgent, tool } from ${JSON.stringify(join(root, 'dist/index.js'))}
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })
const text = { type: 'string' }
const search = tool({ id: 'search', description: 'Searches the web', input: object({ query: text }), output: object({ hit: text }),
  run: ({ query }) => ({ hit: 'about ' + query }) })
const send = tool({ id: 'send', description: 'Sends a mail', input: object({ to: text }), output: object({ ok: { type: 'boolean' } }),
  sideEffect: true, approval: 'always', run: () => ({ ok: true }) })
export const researcher = defineAgent({ id: 'researcher', model: MODEL, instructions: 'Find out.',
  modelSettings: { temperature: 0.25 }, input: object({ question: text }), output: object({ answer: text, sent: { type: 'boolean' } }), tools: [search, send] })
`

interface Prepared {
  readonly path: string
  readonly use: string
}

function prepare(name: string, url: string, question = 'What do people drink?'): Prepared {
  const model = `compatible/${url}#scripted`
  const use = file(`${name}.mjs`, module.replace('MODEL', JSON.stringify(model)))
  const schema = {
    type: 'object',
    properties: { answer: { type: 'string' }, sent: { type: 'boolean' } },
    required: ['answer', 'sent'],
  }
  const path = file(`${name}.json`, {
    envelope: { objective: 'Research', inputs: { question }, outputContract: { schema } },
    draft: {
      nodes: [
        {
          id: 'research',
          capabilityId: 'researcher',
          inputs: { question: { envelope: '/inputs/question' } },
        },
      ],
    },
  })
  return { path, use }
}

const run = ({ path, use }: Prepared, ...args: string[]) =>
  runCommand(['run', path, '--use', use, '--run-id', 'r', ...args])

describe('--show-prompts', () => {
  it('prints what the model gets: the words as they are, the tools, the settings', async () => {
    const server = await scripted()
    const work = prepare('shown', server.url)
    const done = await run(work, '--show-prompts', '--store', `sqlite:${pathInFolder('shown.db')}`)
    expect(done.code).toBe(6)
    expect(server.seen).toHaveLength(2)
    for (const [index, seen] of server.seen.entries()) {
      expect(done.stderr).toContain(`── request ${index + 1} to compatible/${server.url}#scripted\n`)
      for (const { role, content, tool_calls: calls = [] } of messagesOf(seen)) {
        if (role === 'system' || role === 'user') expect(done.stderr).toContain(`── ${role}\n${content}\n`)
        if (role === 'tool') expect(done.stderr).toContain(`── tool\nsearch returned ${content}\n`)
        for (const { function: called } of calls)
          expect(done.stderr).toContain(`── assistant\ncalls ${called.name} ${called.arguments}\n`)
      }
    }
    expect(done.stderr).toContain('settings {"temperature":0.25}')
    expect(done.stderr).toMatch(/tool search \{.*"query".*\} Searches the web\n/)
    expect(done.stdout).toBe('')
  })

  it('prints each request as one line of JSON with --json', async () => {
    const server = await scripted()
    const work = prepare('lines', server.url)
    const done = await run(work, '--show-prompts', '--json')
    const shown = done.stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
    expect(shown.map(({ request }) => request)).toEqual([1, 2])
    const { body = {} } = server.seen[0] ?? {}
    expect(shown[0].tools.map(({ name, inputSchema }: never) => ({ name, inputSchema }))).toEqual(
      (body['tools'] as { function: { name: string; parameters: object } }[]).map(({ function: each }) => ({
        name: each.name,
        inputSchema: each.parameters,
      })),
    )
    expect(shown[1].messages.map(({ role }: never) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  it('prints the keys of secret inputs redacted, as they are sent', async () => {
    const server = await scripted()
    const work = prepare('secret', server.url)
    const content = JSON.parse(readFileSync(work.path, 'utf8'))
    content.envelope.inputs.apiKey = 'sk-12345678901234567890'
    content.draft.nodes[0].inputs.apiKey = { envelope: '/inputs/apiKey' }
    const done = await run({ ...work, path: file('secret.json', content) }, '--show-prompts')
    expect(JSON.stringify(server.seen.map(({ body }) => body))).not.toContain('sk-1234567890')
    expect(done.stderr).not.toContain('sk-1234567890')
    expect(done.stderr).toContain('[redacted]')
  })
})

describe('--rehearse', () => {
  it('runs offline: no request leaves, and the answer satisfies the contract', async () => {
    const server = await scripted()
    const done = await run(prepare('rehearsed', server.url), '--rehearse', '--show-prompts')
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toEqual({ answer: expect.any(String), sent: expect.any(Boolean) })
    expect(done.stderr).toContain('What do people drink?')
    expect(server.seen).toEqual([])
  })

  it('needs no key, also in a pipeline', async () => {
    const path = file('rehearsed.yaml', pipeline('openai:gpt-5-mini'))
    const done = await runCommand(['run', path, '--input', '{"topic":"tea"}', '--rehearse', '--show-prompts'])
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toEqual({ title: expect.any(String) })
    expect(done.stderr).toContain('── request 1 to gpt-5-mini')
    expect(done.stderr).toContain('You write titles.')
  })

  it('excludes --cassette', async () => {
    const done = await run(prepare('both', 'http://127.0.0.1:1/v1'), '--rehearse', '--cassette', 'x.json')
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain("'--rehearse' cannot be used with option '--cassette")
  })
})

const pipeline = (model: string) => `name: titles
agents:
  writer:
    model: ${JSON.stringify(model)}
    system_prompt: You write titles.
    output_schema: { type: object, properties: { title: { type: string } }, required: [title] }
steps:
  - { name: write, agent: writer, input: "A title about {{ input.topic }}" }
`

describe('a file among the inputs of a pipeline', () => {
  it('is sent as a part of the message, and shown without its data', async () => {
    const server = await chatServer(() => ({ text: '{"title":"A pixel"}' }))
    servers.push(server)
    const path = file(
      'photo.yaml',
      pipeline(`compatible/${server.url}#scripted`).replace(
        'input: "A title about {{ input.topic }}"',
        'input: { about: "{{ input.photo }}" }',
      ),
    )
    const data = Buffer.from('no real picture').toString('base64')
    const input = file('photo.json', { photo: { $file: { mediaType: 'image/png', data } } })
    const done = await runCommand(['run', path, '--input', `@${input}`, '--show-prompts'])
    expect(done).toMatchObject({ code: 0, stdout: '{\n  "title": "A pixel"\n}\n' })
    const [seen] = server.seen
    const content = seen && messagesOf(seen).find(({ role }) => role === 'user')?.content
    expect(content).toMatchObject([
      { type: 'text' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
    ])
    expect(done.stderr).toMatch(/file image\/png, 15 bytes, of the input \S+/)
    expect(done.stderr).not.toContain(data)
  })
})

describe('--cassette', () => {
  it('replays a whole run with its approval, without any server', async () => {
    const server = await scripted()
    const work = prepare('taped', server.url)
    const tape = pathInFolder('taped.cassette.json')
    const play = async (store: string, ...flags: string[]) => {
      const where = ['--store', `sqlite:${pathInFolder(store)}`]
      const waits = await run(work, ...where, '--cassette', tape, ...flags)
      expect(waits.code).toBe(6)
      const [, again = ''] = waits.stderr.match(/proviso reply (.*)\n/) ?? []
      expect(again).toContain(`--cassette ${tape}${flags.map((flag) => ` ${flag}`).join('')}`)
      return { waits, replied: await runCommand(['reply', ...again.split(' '), '--by', 'ann']) }
    }
    const recorded = await play('recorded.db', '--record')
    expect(recorded.waits.stderr).toContain(`Recorded 2 model calls in ${tape}`)
    expect(recorded.replied).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(tape, 'utf8')).entries).toHaveLength(3)
    await server.close()
    const replayed = await play('replayed.db')
    expect(replayed.replied).toMatchObject({ code: 0, stdout: recorded.replied.stdout })
    expect(JSON.parse(replayed.replied.stdout)).toEqual({ answer: 'Green tea', sent: true })
  })

  it('shows the nearest recorded call and what differs, for a call that is not recorded', async () => {
    const server = await scripted()
    const tape = pathInFolder('missed.cassette.json')
    await run(prepare('missed', server.url), '--cassette', tape, '--record')
    const changed = prepare('missed', server.url, 'What do people eat?')
    const done = await run(changed, '--cassette', tape)
    expect(done).toMatchObject({ code: 3, stdout: '' })
    expect(done.stderr).toContain('has no recording of it')
    expect(done.stderr).toMatch(/^- prompt: .*What do people drink\?/m)
    expect(done.stderr).toMatch(/^\+ prompt: .*What do people eat\?/m)
    expect(server.seen).toHaveLength(2)
  })

  it('works for pipelines', async () => {
    const server = await chatServer(() => ({ text: '{"title":"Tea time"}' }))
    servers.push(server)
    const path = file('taped.yaml', pipeline(`compatible/${server.url}#scripted`))
    const tape = pathInFolder('pipeline.cassette.json')
    const play = (topic: string, ...flags: string[]) =>
      runCommand(['run', path, '--input', JSON.stringify({ topic }), '--cassette', tape, ...flags])
    expect(await play('tea', '--record')).toMatchObject({ code: 0 })
    await server.close()
    expect(await play('tea')).toMatchObject({ code: 0, stdout: '{\n  "title": "Tea time"\n}\n' })
    const missed = await play('coffee')
    expect(missed.code).toBe(3)
    expect(missed.stderr).toMatch(/^- prompt: .*tea/m)
    expect(missed.stderr).toMatch(/^\+ prompt: .*coffee/m)
  })

  it('refuses a file that is not there, and --record without a file', async () => {
    const work = prepare('absent', 'http://127.0.0.1:1/v1')
    const absent = await run(work, '--cassette', pathInFolder('absent.cassette.json'))
    expect(absent).toMatchObject({ code: 2, stdout: '' })
    expect(absent.stderr).toContain('absent.cassette.json not found')
    expect((await run(work, '--record')).stderr).toContain('--record needs --cassette')
  })
})
