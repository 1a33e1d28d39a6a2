/** Agents with tools in pipelines: on the command line and in a server, with capabilities, MCP tools, agents and `http_get`. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import type { DefinedCapability } from '../../src/index.ts'
import { readYaml, validatePipeline } from '../../src/pipeline/index.ts'
import { file, pathInFolder } from '../cli/run-support.ts'
import { scripted } from '../mcp/support.ts'
import type { ModelServer, Seen } from '../models/model-server.ts'
import { api, serve } from '../server/support.ts'
import { proviso, runCommand } from '../support.ts'
import { chatServer, messagesOf, resultsIn, type Turn } from '../tools/chat-server.ts'
import { compile, defineCapability, problems } from './support.ts'

const servers: { close(): unknown }[] = []
afterAll(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function model(
  script: (turn: number, seen: Seen) => Turn,
): Promise<ModelServer & { env: Record<string, string> }> {
  const server = await chatServer(script)
  servers.push(server)
  return Object.assign(server, {
    env: { PROVISO_COMPATIBLE_BASE_URL: server.url, PROVISO_COMPATIBLE_API_KEY: 'k' },
  })
}

/** The names of the tools that the model was offered. */
function offered({ body }: Seen): string[] {
  const tools = (body['tools'] ?? []) as { function: { name: string } }[]
  return tools.map((each) => each.function.name)
}

const ownTools = () =>
  file(
    'own-tools.mjs',
    `import { defineCapability } from '${new URL('../../dist/index.js', import.meta.url).href}'
const input = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false }
export const search = defineCapability({ id: 'shop.search', kind: 'local', summary: 'Searches the shop', input, output: { type: 'object' }, run: ({ query }) => ({ hits: [query + '!'] }) })
export const pay = defineCapability({
  id: 'shop.pay', kind: 'local', sideEffect: true,
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'], additionalProperties: false },
  output: { type: 'object' }, run: ({ amount }) => ({ paid: amount }) })
`,
  )

const demoServer = (effects: string) =>
  `[mcp.demo]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(scripted)}]\nprotocol = "modern"\nenv = { EFFECTS = ${JSON.stringify(effects)} }\n[mcp.demo.effects]\n"*" = "read"\n`

const search = defineCapability({
  id: 'shop.search',
  input: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  output: { type: 'object' },
  run: () => ({ hits: 1 }),
})

const answer = 'output_schema: { type: object, required: [text], properties: { text: { type: string } } }'

describe('proviso run', () => {
  it('lets an agent written in place call a capability, and reads its answer by its schema', async () => {
    const server = await model((turn) =>
      turn === 0
        ? { calls: [{ name: 'shop_search', input: { query: 'tea' } }] }
        : { text: '{"text":"found"}' },
    )
    const path = file(
      'inline.yaml',
      `steps:
  - name: find
    agent: { model: compatible/m, system_prompt: Find., ${answer}, tools: [{ uses: shop.search, max_calls: 2 }], limits: { turns: 4 } }
    input: "{{ input }}"
`,
    )
    const done = await proviso(['run', path, '--use', ownTools(), '--input', 'tea'], { env: server.env })
    expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "found"\n}\n' })
    expect(offered(server.seen[0] as Seen)).toEqual(['shop_search'])
    expect(resultsIn(server.seen[1])).toEqual(['{"hits":["tea!"]}'])
  })

  it('asks by an expression over the arguments, and continues with the reply', async () => {
    const server = await model((turn) =>
      turn === 0
        ? { calls: [5, 500].map((amount) => ({ name: 'pay', input: { amount } })) }
        : { text: '{"text":"done"}' },
    )
    const path = file(
      'approval.yaml',
      `agents:
  buyer: { model: compatible/m, system_prompt: Buy., ${answer} }
steps:
  - name: buy
    agent: buyer
    tools: [{ uses: shop.pay, name: pay, approval: { when: amount > 100 } }]
    input: "{{ input }}"
`,
    )
    const store = `sqlite:${pathInFolder('approval.db')}`
    const options = ['--use', ownTools(), '--store', store]
    const first = await proviso(['run', path, '--input', 'tea', '--json', ...options], { env: server.env })
    expect(first.code).toBe(6)
    const asks = JSON.parse((await runCommand(['asks', '--json', '--store', store])).stdout)
    const [ask, ...others] = asks.asks ?? asks
    expect(others).toEqual([])
    expect(ask).toMatchObject({ kind: 'tool', value: { amount: 500 } })
    const reply = await proviso(
      ['reply', ask.requestId, 'approve', '--by', 'ann', '--file', path, ...options],
      {
        env: server.env,
      },
    )
    expect(reply.code).toBe(0)
    expect(resultsIn(server.seen.at(-1))).toEqual(['{"paid":5}', '{"paid":500}'])
  })

  it('uses tools of configured MCP servers, agents and http_get', async () => {
    const web = createServer((_, response) => response.end('page'))
    await new Promise<void>((listening) => web.listen(0, '127.0.0.1', listening))
    servers.push(web)
    const host = `127.0.0.1:${(web.address() as AddressInfo).port}`
    const effects = file('effects.txt', '')
    const toml = file('tools.toml', demoServer(effects))
    const server = await model((turn, seen) => {
      const isWriter = JSON.stringify(messagesOf(seen)).includes('You write.')
      if (isWriter) return { text: 'a poem' }
      if (turn > 0) return { text: '{"text":"all"}' }
      const names = offered(seen)
      return {
        calls: [
          { name: names.find((name) => name.startsWith('demo_')) ?? '', input: { a: 1, b: 2 } },
          { name: 'writer', input: { input: 'a poem' } },
          { name: 'get', input: { url: `http://${host}/` } },
          { name: 'get', input: { url: 'http://127.0.0.1:1/' } },
        ],
      }
    })
    const path = file(
      'many.yaml',
      `agents:
  writer: { model: compatible/m, system_prompt: You write., description: Writes poems }
  lead:
    model: compatible/m
    ${answer}
    tools: [demo.add, { uses: agents.writer, name: writer }, { uses: http_get, name: get }]
steps: [{ name: work, agent: lead, input: go }]
`,
    )
    const done = await proviso(['run', path, '--config', toml], {
      env: { ...server.env, PROVISO_AGENT_HOSTS: host },
    })
    expect(done.stderr + done.stdout).toContain('"text": "all"')
    const results = resultsIn(server.seen.at(-1)).map(String)
    expect(results[0]).toContain('3')
    expect(results[1]).toBe('a poem')
    expect(results[2]).toContain('"text":"page"')
    expect(results[3]).toContain('not allowed')
  })
})

describe('names of tools', () => {
  it('are those of the file: for models, in asks, and in the journal', async () => {
    const server = await model((turn, seen) => {
      const texts = JSON.stringify(messagesOf(seen))
      if (texts.includes('You bill.')) return { text: '{"text":"billed"}' }
      return {
        calls: [
          turn === 0
            ? { name: 'http_get', input: { url: 'https://example.org/' } }
            : { name: 'transfer_to_billing', input: {} },
        ],
      }
    })
    const path = file(
      'names.yaml',
      `agents:
  writer: { model: compatible/m, system_prompt: You write. }
  billing: { model: compatible/m, system_prompt: You bill. }
  lead:
    model: compatible/m
    system_prompt: You lead.
    ${answer}
    tools: [{ uses: http_get, approval: always }, agents.writer]
    handoffs: [agents.billing]
steps: [{ name: work, agent: lead, input: go }]
`,
    )
    const store = `sqlite:${pathInFolder('names.db')}`
    const first = await proviso(['run', path, '--store', store], { env: server.env })
    expect(first.code).toBe(6)
    expect(offered(server.seen[0] as Seen)).toEqual(['http_get', 'writer', 'transfer_to_billing'])
    const [ask] = JSON.parse((await runCommand(['asks', '--json', '--store', store])).stdout)
    expect(ask.question).toContain('"work" wants to call "http_get"')
    const reply = await proviso(
      ['reply', ask.requestId, 'reject', '--by', 'ann', '--file', path, '--store', store],
      { env: server.env },
    )
    expect(reply.stdout).toContain('"text": "billed"')
    const read = messagesOf(server.seen.at(-1) as Seen)
    expect(JSON.stringify(read)).toContain('Handed off: \\"billing\\" continues')
    expect(first.stdout + first.stderr + reply.stderr + JSON.stringify(read)).not.toMatch(
      /proviso.pipeline|pipeline.tools/,
    )
  })
})

describe('a server', () => {
  it('runs a pipeline with tools, expressions, built-ins and merged branches that is posted as a draft', async () => {
    const model = await chatServer((turn) =>
      turn === 0
        ? { calls: [{ name: 'shop_search', input: { query: 'tea' } }] }
        : { text: '{"text":"=found","rows":[{"a":1},{"a":"=1"}]}' },
    )
    servers.push(model)
    const { envelope, draft, capabilities } = compile(
      `agents:
  finder:
    model: compatible/m
    output_schema: { type: object, required: [text, rows], properties: { text: { type: string }, rows: { type: array } } }
    tools: [shop.search]
steps:
  - { name: find, agent: finder, input: "{{ input }}" }
  - name: choose
    kind: conditional
    condition: steps.find.output.rows.size() == 2 && steps.find.output.text.contains("found")
    branches:
      true:
        - name: both
          kind: parallel
          merge_strategy: overwrite
          branches:
            text: { name: t, uses: select_fields, params: { fields: [text] }, input: "{{ steps.find.output }}" }
            csv: [{ name: c, uses: to_csv, input: "{{ steps.find.output.rows }}" }, { name: w, uses: wrap_dict, params: { key: csv } }]
      false: [{ name: none, uses: wrap_dict, input: nothing }]
`,
      { input: 'tea', own: [search] },
    )
    const served = await serve({
      providers: [compatible({ baseURL: model.url })],
      capabilities: [...capabilities, search] as DefinedCapability[],
    })
    const answer = await served.call(`${api}/runs?wait=30`, { body: { envelope, draft } })
    const { runId, ...result } = await answer.json()
    expect(result).toMatchObject({
      status: 'completed',
      output: { text: '=found', csv: 'a\r\n1\r\n"\'=1"\r\n' },
    })
    // What the compiler inserts is marked: clients show what the author wrote.
    type Marked = { readonly id?: string; readonly nodeId?: string; readonly internal?: true }
    const shown = (nodes: readonly Marked[]) =>
      nodes.flatMap(({ id, nodeId, internal }) => (internal ? [] : [id ?? nodeId])).sort()
    const page = (await (await served.call(`${api}/runs/${runId}`)).json()) as unknown as {
      readonly nodes: readonly Marked[]
      readonly latestSnapshot: { readonly nodes: readonly Marked[] }
      readonly planVersions: readonly { readonly nodes: readonly Marked[] }[]
    }
    const { events } = await (await served.call(`${api}/runs/${runId}/events`)).json()
    const generated = events.find(({ type }) => type === 'plan_generated')
    const { plan } = generated!.payload as { readonly plan: { readonly nodes: readonly Marked[] } }
    const branch = 'choose/true/both'
    const inside = ['choose/false/none', `${branch}/csv/c`, `${branch}/csv/w`, `${branch}/text/t`]
    const written = ['choose', ...inside, 'find']
    for (const nodes of [page.nodes, page.latestSnapshot.nodes, page.planVersions[0]!.nodes, plan.nodes]) {
      expect(shown(nodes)).toEqual(written)
      expect(nodes.length).toBeGreaterThan(written.length)
    }
  })
})

describe('what is wrong with tools is reported before the run, with its line', () => {
  it.each<[string, object]>([
    ['[shop.saerch]', { code: 'pipeline/tool', line: 2 }],
    ['[agents.gone]', { code: 'pipeline/unknown', line: 2 }],
    ['[wrap_dict]', { code: 'pipeline/tool', message: 'wrap_dict cannot be a tool', line: 2 }],
    ['[{ uses: http_get, approval: { when: "a + 1 > 2" } }]', { code: 'pipeline/expression', line: 2 }],
    ['[{ uses: http_get, approval: sometimes }]', { line: 2 }],
    ['[{ use: http_get }]', { line: 2 }],
  ])('%s', (tools, issue) => {
    const text = `agents:\n  a: { model: test/m, tools: ${tools} }\nsteps: [{ name: s, agent: a }]\n`
    expect(problems(text)[0]).toMatchObject(issue)
  })

  it.each<[string, string, object]>([
    [
      'tool_choice: { tool: http_got }',
      '[http_get]',
      { code: 'pipeline/tool', line: 3, message: 'the agent has no tool "http_got"' },
    ],
    ['max_retries: 1', '[http_get, http_get]', { code: 'pipeline/tool', line: 4 }],
    ['max_retries: 1', '[{ uses: http_get, name: b }, agents.b]', { code: 'pipeline/tool', line: 4 }],
    ['handoffs: [shop.search]', '[agents.b]', { code: 'pipeline/tool', line: 3 }],
  ])('%s with the tools %s', (key, tools, issue) => {
    const text = `agents:
  a:
    ${key}
    tools: ${tools}
    model: test/m
  b: { model: test/m }
steps: [{ name: s, agent: a, input: x }]
`
    const found = problems(text, { own: [search] })
    expect(found).toMatchObject([{ ...issue, message: expect.stringMatching(/tool|continue/) }])
    // What rejects a run rejects the file without an input, too.
    const read = readYaml(text, 'p.yaml')
    const options = { capabilities: [search.capability] }
    const errors = read.ok ? validatePipeline(read.document, options).issues : []
    expect(errors.filter(({ severity }) => severity === 'error')).toMatchObject([issue])
  })

  it('finds an unknown tool of an agent that is a tool', () => {
    const text = `agents:
  outer: { model: test/m, tools: [agents.inner] }
  inner: { model: test/m, tools: [shop.saerch, agents.outer] }
steps: [{ name: s, agent: outer, input: x }]
`
    expect(problems(text)).toMatchObject([
      { code: 'pipeline/tool', line: 3, message: 'capability "shop.saerch" not found' },
    ])
  })

  it('validate knows the tools of configured MCP servers', async () => {
    const toml = file('known.toml', demoServer(file('known-effects.txt', '')))
    const path = file(
      'known.yaml',
      `agents: { a: { model: compatible/m, ${answer}, tools: [demo.add, demo.gone] } }
steps: [{ name: s, agent: a, input: x }]
`,
    )
    const found = await proviso(['validate', path, '--config', toml])
    expect(found).toMatchObject({ code: 4, stdout: expect.stringContaining('"demo.gone" not found') })
    expect(found.stdout).not.toContain('demo.add" not found')
  })

  it('rejects tools where no agent is called', () => {
    expect(problems('steps: [{ uses: wrap_dict, tools: [http_get] }]')).toMatchObject([
      { code: 'pipeline/unread', message: expect.stringContaining('tools has no effect') },
    ])
  })

  it('gives tools the time of the file, and agents that are tools their own', () => {
    const text = `agents:
  outer: { model: test/m, tools: [{ uses: shop.search, timeout: 1.5 }, agents.inner, { uses: agents.inner, name: quick, timeout: 1 }] }
  inner: { model: test/m, timeout: 20 }
steps: [{ name: s, agent: outer, input: x }]
`
    const { capabilities } = compile(text, { own: [search] })
    const outer = capabilities.find(({ capability }) => capability.displayName === 'outer')
    expect(outer?.capability.settings?.['tools']).toMatchObject([
      { timeoutMs: 1_500 },
      { name: 'inner', timeoutMs: 20_000 },
      { name: 'quick', timeoutMs: 1_000 },
    ])
  })

  it('keeps agents of the same step name apart, and finds a broken key of one in place', () => {
    const text = (key: string) => `steps:
  - kind: parallel
    branches:
      one: [{ name: w, agent: { model: test/m, ${key}: One. }, input: x }]
      two: [{ name: w, agent: { model: test/m, system_prompt: Two. }, input: x }]
`
    const prompts = compile(text('system_prompt')).capabilities.flatMap(({ capability }) =>
      capability.kind === 'model' ? [[capability.capabilityId, capability.settings?.['instructions']]] : [],
    )
    expect(prompts).toEqual([
      ['pipeline/agents.w', 'One.'],
      ['pipeline/agents.w_2', 'Two.'],
    ])
    expect(problems(text('sytem_prompt'))).toMatchObject([
      { code: 'pipeline/additionalProperties', line: 4, hint: expect.stringContaining('system_prompt') },
    ])
  })
})
