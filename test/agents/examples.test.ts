/** The agents of the examples are true: each is started as a user would start it, registers, is called, and stays alive. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { sign, signatureHeaders } from '../seams/agents.ts'
import { systemClock } from '../seams/base.ts'
import { requireBuild, root } from '../support.ts'
import { hasPython } from './python.ts'
import { api, brief, listen, serveAgents, wanted } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-agents-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const children = new Set<ChildProcess>()
afterEach(async () => {
  for (const child of children) {
    const gone = once(child, 'exit')
    if (child.kill('SIGKILL')) await gone
  }
  children.clear()
})

/** In a project of its own that has the package installed. */
function typescriptProgram(
  source = readFileSync(join(root, 'examples/agent.ts'), 'utf8'),
): readonly string[] {
  requireBuild()
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  for (const [name, target] of [
    ['proviso', root],
    ['zod', join(root, 'node_modules/zod')],
  ] as const) {
    rmSync(join(folder, 'node_modules', name), { force: true })
    symlinkSync(target, join(folder, 'node_modules', name), 'junction')
  }
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  })
  const program = join(folder, 'agent.mjs')
  writeFileSync(program, outputText)
  return [process.execPath, program]
}

/** Starts it and waits until it says that it is registered; its address. */
async function startAgent([command = '', ...args]: readonly string[], env: { [name: string]: string }) {
  // A port that was free a moment ago.
  const { port, server } = await listen(() => {})
  await new Promise((resolve) => server.close(resolve))
  const child = spawn(command, args, { env: { ...process.env, ...env, PORT: String(port) } })
  children.add(child)
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('is registered and listens')) resolve()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('exit', (code) => reject(new Error(`It ended with ${code}: ${said}`)))
  })
  return `http://127.0.0.1:${port}/`
}

it('an agent works with `proviso serve --dev`, over HTTP alone', async () => {
  requireBuild()
  const main = [
    join(root, 'dist/cli/main.js'),
    'serve',
    '--dev',
    '--preset',
    'marketing',
    '--port',
    '0',
    '--store',
    'memory:',
  ]
  const server = spawn(process.execPath, main, { env: { ...process.env, NO_COLOR: '1', PROVISO_STORE: '' } })
  children.add(server)
  let said = ''
  const address = await new Promise<string>((resolve, reject) => {
    server.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const [, found] = /serves on (\S+)\n/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    server.on('exit', (code) => reject(new Error(`It ended with ${code}`)))
  })
  await startAgent(typescriptProgram(), { PROVISO_URL: address, PROVISO_TOKEN: 'anything' })
  const response = await fetch(`${address}${api}/runs?wait=30`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(wanted()),
  })
  expect(await response.json()).toMatchObject({ status: 'completed' })
})

const page = readFileSync(join(root, 'docs/reference/agents.md'), 'utf8')
/** The first block of code in a language. */
const getSnippet = (language: string) => page.split(`\n\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? ''
const snippets = [
  { language: 'ts', program: () => typescriptProgram(getSnippet('ts')) },
  { language: 'python', program: () => ['python3', '-B', '-c', getSnippet('python')] },
]

describe.each(hasPython() ? snippets : snippets.slice(0, 1))(
  'the first program of the page in $language',
  ({ language, program }) => {
    it('runs as it is printed, in at most 15 lines', async () => {
      expect(getSnippet(language).trimEnd().split('\n').length).toBeLessThanOrEqual(15)
      const { app, address, agentToken } = await serveAgents()
      await startAgent(program(), {
        PROVISO_URL: address,
        PROVISO_TOKEN: await agentToken(),
        PYTHONPATH: join(root, 'agents/python'),
      })
      const line = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }
      const envelope = { objective: 'One line', inputs: { topic: 'tea' }, outputContract: { schema: line } }
      expect(await app.run(envelope)).toMatchObject({
        status: 'completed',
        output: { line: 'Time for tea.' },
      })
    })
  },
)

const examples = [
  { file: 'examples/agent.ts', most: 20, program: () => typescriptProgram() },
  {
    file: 'agents/python/example.py',
    most: 20,
    program: () => ['python3', '-B', join(root, 'agents/python/example.py')],
  },
]

describe.each(hasPython() ? examples : examples.slice(0, 1))('$file', ({ file, most, program }) => {
  it('registers, answers what is signed and nothing else, and gives signs of life', async () => {
    const { app, address, agentToken } = await serveAgents()
    const url = await startAgent(program(), {
      PROVISO_URL: address,
      PROVISO_TOKEN: await agentToken('writer.en'),
      HEARTBEAT_SECONDS: '1',
    })
    const done = await app.run(wanted())
    expect(done).toMatchObject({
      status: 'completed',
      output: { copyVariants: [{ headline: 'Tea calms', body: 'It is warm', callToAction: 'Read more' }] },
    })
    expect((await call(url, { key: 'psk_other', runId: 'run' })).status).toBe(401)
    const row = async () => (await app.store.records.registrations.list({}))[0]
    while (!(((await row())?.heartbeatAt ?? 0) > ((await row())?.registeredAt ?? 0)))
      await new Promise<void>((resolve) => systemClock.timer(systemClock.now() + 20, resolve))
    expect((await row())?.status).toBe('active')
  })

  it('trusts no caller before it has a key, and survives nonsense and an unreachable server', async () => {
    const received: string[] = []
    let work = ''
    let letIn = () => {}
    const { url: address } = await listen(async (request, response) => {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      received.push(request.method ?? '')
      if (received.length === 1) {
        work = JSON.parse(body).endpoint.url
        await new Promise<void>((resolve) => {
          letIn = resolve
        })
      }
      // The first heartbeat finds no server, the second one a server that has forgotten the agent.
      if (received.length === 2) return request.socket.destroy()
      const done = { signingKey: 'k', heartbeat: { intervalSeconds: 0.2 } }
      response.writeHead(received.length === 3 ? 404 : 200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(done))
    })
    const started = startAgent(program(), { PROVISO_URL: address, HEARTBEAT_SECONDS: '0.2' })
    await until(() => work !== '')
    // Not yet, instead of never: a server that calls a restarted agent tries again.
    expect((await call(work, { key: '', runId: 'run' })).status).toBe(503)
    letIn()
    await started
    expect((await call(work, { key: 'other', runId: '%' })).ok).toBe(false)
    await until(() => received.length >= 4)
    expect(received.slice(0, 4)).toEqual(['POST', 'PATCH', 'PATCH', 'POST'])
    expect((await call(work, { key: 'k', runId: 'run' })).status).toBe(200)
  })

  it(`fits on a page: at most ${most} lines`, () => {
    const lines = readFileSync(join(root, file), 'utf8').trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(most)
  })
})

/** Calls an agent as the server does, with this run id in the header. */
function call(url: string, { key, runId }: { readonly key: string; readonly runId: string }) {
  const body = JSON.stringify({ capabilityId: 'writer.en', inputs: { writerBrief: brief } })
  const signed = {
    timestamp: String(Math.floor(Date.now() / 1_000)),
    nonce: 'n',
    runId,
    nodeId: 'w',
    attempt: 1,
  }
  const headers = {
    'idempotency-key': 'key',
    [signatureHeaders.timestamp]: signed.timestamp,
    [signatureHeaders.nonce]: signed.nonce,
    [signatureHeaders.runId]: runId,
    [signatureHeaders.nodeId]: signed.nodeId,
    [signatureHeaders.attempt]: String(signed.attempt),
    [signatureHeaders.signature]: sign({ ...signed, body }, [key]),
  }
  return fetch(url, { method: 'POST', headers, body })
}

/** Looks again every so often. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => systemClock.timer(systemClock.now() + 20, resolve))
}
