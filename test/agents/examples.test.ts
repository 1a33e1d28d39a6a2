/** The agents of the examples are true: each is started as a user would start it, registers, is called, and stays alive. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { requireBuild, root } from '../support.ts'
import { api, listen, serveAgents, wanted } from './support.ts'

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

const hasPython = spawnSync('python3', ['--version']).status === 0

function typescriptProgram(): readonly string[] {
  const { outputText } = ts.transpileModule(readFileSync(join(root, 'examples/agent.ts'), 'utf8'), {
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
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('is registered and listens')) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('exit', (code) => reject(new Error(`It ended with ${code}: ${said}`)))
  })
  return `http://127.0.0.1:${port}/`
}

it('an agent works with `proviso serve --dev`, over HTTP alone', async () => {
  requireBuild()
  const main = [join(root, 'dist/cli/main.js'), 'serve', '--dev', '--port', '0', '--store', 'memory:']
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

describe.each([
  { name: 'agent.ts', most: 60, program: typescriptProgram, here: true },
  {
    name: 'agent.py',
    most: 80,
    program: () => ['python3', join(root, 'examples/agent.py')],
    here: hasPython,
  },
])('examples/$name', ({ name, most, program, here }) => {
  it.skipIf(!here)(
    'registers, answers what is signed and nothing else, and gives signs of life',
    async () => {
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
      const headers = {
        'proviso-timestamp': String(Math.floor(Date.now() / 1_000)),
        'proviso-signature': 'v1=00',
      }
      expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(401)
      const row = async () => (await app.store.records.registrations.list({}))[0]
      while (!(((await row())?.heartbeatAt ?? 0) > ((await row())?.registeredAt ?? 0)))
        await new Promise<void>((resolve) => systemClock.timer(systemClock.now() + 20, resolve))
      expect((await row())?.status).toBe('active')
    },
  )

  it(`fits on a page: at most ${most} lines`, () => {
    const lines = readFileSync(join(root, 'examples', name), 'utf8')
      .trimEnd()
      .split('\n')
    expect(lines.length).toBeLessThanOrEqual(most)
  })
})
