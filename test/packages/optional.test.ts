/**
 * The packed package without its optional packages, in an empty project: it runs and serves, each missing package is named
 * with the command that installs it, and what was refused works after that command.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support.ts'
import { installPacked, type Project } from './install.ts'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const optional = Object.keys(manifest.peerDependencies)
const entryPoints = Object.keys(manifest.exports)
  .filter((name) => !/package\.json|react|vue/.test(name))
  .map((name) => name.replace('.', 'proviso'))
let project: Project
let served: ChildProcess | undefined

/** Answers like a model behind an API that is compatible with OpenAI's. */
const model: Server = createServer((_request, response) => {
  const message = { role: 'assistant', content: '{"line": "Tea."}' }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
  project = await installPacked(['proviso'])
}, 300_000)

afterEach(async () => {
  const { pid, exitCode } = served ?? {}
  if (served === undefined || pid === undefined || exitCode !== null) return
  const gone = once(served, 'close')
  // `npx` and the server that it started.
  process.kill(-pid, 'SIGKILL')
  await gone
  served = undefined
})

afterAll(() => {
  model.close()
  project?.remove()
})

function modelUrl(): string {
  const address = model.address()
  if (address === null || typeof address === 'string') throw new Error('The model has no port')
  return `http://127.0.0.1:${address.port}/v1`
}

/** Starts `npx proviso serve` on a free port; resolves with what it prints until it listens. */
async function serve(
  env: Readonly<Record<string, string>> = {},
  store = 'sqlite:runs.db',
): Promise<{ url: string; printed: string }> {
  const args = ['proviso', 'serve', '--port', '0', '--store', store]
  const { PATH, HOME } = process.env
  const child = spawn('npx', args, {
    cwd: project.folder,
    detached: true,
    env: { PATH, HOME, NO_COLOR: '1', FLEX_TOKEN: 'secret-token-of-the-test', ...env },
  })
  served = child
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (text: string) => {
      printed += text
      const [url] = /http:\/\/[\w.]+:\d+/.exec(printed) ?? []
      if (url && /Models:/.test(printed)) resolve({ url, printed })
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.on('exit', (code) => reject(new Error(`It ended with ${code}: ${printed}`)))
  })
}

const generate = (provider: string, name: string) => `
  import { createApp } from 'proviso'
  import { ${name} } from 'proviso/providers/${name}'
  const app = await createApp({ providers: [${provider}] })
  const schema = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }
  const { outcome, issues, output } = await app.generate({ model: '${name}/any', objective: 'Tea', schema })
  console.log(JSON.stringify({ outcome, value: output?.value, issues: issues.map(({ message, hint }) => [message, hint]) }))
  await app.close()`

/** Each starts a process of Node or more. */
const timeout = 60_000

describe('the default install', { timeout }, () => {
  it('has no optional package, and none of their dependencies', () => {
    const modules = join(project.folder, 'node_modules')
    expect(optional.length).toBeGreaterThan(5)
    expect([...optional, 'zod'].filter((name) => existsSync(join(modules, name)))).toEqual([])
    console.log(`default install: ${readdirSync(modules).length} entries of node_modules`)
  })

  it('runs as a library', async () => {
    const program = `
      import { createApp, defineCapability } from 'proviso'
      const line = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }
      const write = defineCapability({ id: 'write', input: { type: 'object' }, output: line, run: () => ({ line: 'Tea.' }) })
      const app = await createApp({ capabilities: [write], store: 'sqlite:library.db' })
      console.log(JSON.stringify((await app.run({ objective: 'A line', output: line })).output))
      await app.close()`
    expect(await project.run('library.mjs', program)).toEqual({ line: 'Tea.' })
  })

  it('serves, and names the package of a key that is set', { timeout: 120_000 }, async () => {
    const { url, printed } = await serve({ OPENAI_API_KEY: 'sk-of-the-test' })
    expect(printed).toContain('npm install @ai-sdk/openai@3')
    const answer = await fetch(`${url}/health`)
    expect(answer.status).toBe(200)
  })

  it('imports every entry point, React and Vue excepted', async () => {
    const program = `
      for (const name of ${JSON.stringify(entryPoints)}) await import(name)
      console.log('"loaded"')`
    expect(await project.run('entries.mjs', program)).toBe('loaded')
  })
})

describe('a missing package', { timeout }, () => {
  it.each([
    ['openai', `openai({ apiKey: 'sk-x' })`, '@ai-sdk/openai', '3'],
    ['anthropic', `anthropic({ apiKey: 'sk-x' })`, '@ai-sdk/anthropic', '3'],
    ['google', `google({ apiKey: 'sk-x' })`, '@ai-sdk/google', '3'],
    ['compatible', `compatible({ baseURL: 'http://127.0.0.1:9/v1' })`, '@ai-sdk/openai-compatible', '2'],
  ])('of a provider is named by the call: %s', async (name, provider, needed, version) => {
    expect(await project.run(`${name}.mjs`, generate(provider, name))).toEqual({
      outcome: 'provider_error',
      issues: [
        [
          expect.stringMatching(
            new RegExp(`Cannot call models of .*: the package ${needed} is not installed`),
          ),
          `Run \`npm install ${needed}@${version}\``,
        ],
      ],
    })
    // The command installs what the tests here run with.
    expect(manifest.devDependencies[needed].split('.')[0]).toBe(version)
  })

  it('of a store, of a queue or of MCP is named where it is opened', async () => {
    const program = `
      import { createApp } from 'proviso'
      import { openStore } from 'proviso/stores'
      import { createMemoryStore } from 'proviso/stores/memory'
      const attempt = (act) => act().then(() => 'no error', ({ code, message, hint }) => [code, message, hint])
      console.log(JSON.stringify([
        await attempt(() => openStore('postgres://ann@127.0.0.1:9/none')),
        await attempt(() => createApp({ mcp: { tools: { command: 'true' } } })),
        await attempt(() => createApp({ store: { ...createMemoryStore(), handover: {} }, queue: { kind: 'restate' } })),
      ]))`
    expect(await project.run('others.mjs', program)).toEqual([
      [
        'option/invalid',
        'Cannot open a PostgreSQL store: the package pg is not installed',
        'Run `npm install pg@8`',
      ],
      [
        'option/invalid',
        'Cannot connect to MCP servers: the package @modelcontextprotocol/client is not installed',
        'Run `npm install @modelcontextprotocol/client@2`',
      ],
      [
        'option/invalid',
        'Cannot take runs from Restate: the package @restatedev/restate-sdk is not installed',
        'Run `npm install @restatedev/restate-sdk@1`',
      ],
    ])
  })
})

describe('without fastify and libsql', { timeout }, () => {
  /** As `--omit=optional` leaves the project. */
  const hidden = ['fastify', 'libsql']
  const move = (from: string, to: string) => {
    for (const name of hidden) {
      const path = (end: string) => join(project.folder, 'node_modules', `${name}${end}`)
      renameSync(path(from), path(to))
    }
  }
  beforeAll(() => move('', '-hidden'))
  afterAll(() => move('-hidden', ''))

  it('loads every entry point, runs in memory, and names the package where it is needed', async () => {
    const program = `
      for (const name of ${JSON.stringify(entryPoints)}) await import(name)
      import { createApp, defineCapability } from 'proviso'
      import { createServer } from 'proviso/server'
      const attempt = (act) => act().then(() => 'no error', ({ code, message, hint }) => [code, message, hint])
      const line = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }
      const write = defineCapability({ id: 'write', input: { type: 'object' }, output: line, run: () => ({ line: 'Tea.' }) })
      const app = await createApp({ capabilities: [write] })
      const server = createServer({ app, auth: { token: 'secret-token-of-the-test' } })
      console.log(JSON.stringify([
        (await app.run({ objective: 'A line', output: line })).output,
        await attempt(() => server.listen({ port: 0 })),
        await attempt(() => server.fetch(new Request('http://localhost/health'))),
        await attempt(() => createApp({ store: 'sqlite:runs.db' })),
      ]))
      await server.close()
      await app.close()`
    const noFastify = [
      'option/invalid',
      'Cannot serve HTTP: the package fastify is not installed',
      'Run `npm install fastify@5`',
    ]
    expect(await project.run('omitted.mjs', program)).toEqual([
      { line: 'Tea.' },
      noFastify,
      noFastify,
      [
        'option/invalid',
        'Cannot open a SQLite store: the package libsql is not installed',
        'Run `npm install libsql@0.5`',
      ],
    ])
    expect(hidden).toEqual(Object.keys(manifest.optionalDependencies).filter((name) => !/^light-/.test(name)))
  })

  it('`npx proviso serve` names the package', { timeout: 120_000 }, async () => {
    await expect(serve()).rejects.toThrow('npm install libsql@0.5')
    await expect(serve({}, 'memory:')).rejects.toThrow('npm install fastify@5')
  })
})

describe('after the install command', () => {
  it('a model is called', { timeout: 120_000 }, async () => {
    await project.install(['@ai-sdk/openai-compatible'])
    const provider = `compatible({ baseURL: ${JSON.stringify(modelUrl())} })`
    expect(await project.run('installed.mjs', generate(provider, 'compatible'))).toEqual({
      outcome: 'ok',
      value: { line: 'Tea.' },
      issues: [],
    })
    const { printed } = await serve({ PROVISO_COMPATIBLE_BASE_URL: modelUrl() })
    expect(printed).toContain('Models: the server at')
    expect(printed).not.toContain('npm install')
  })
})
