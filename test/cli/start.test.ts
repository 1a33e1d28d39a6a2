/** The first minute: `npm start` serves, has run the specification's sample offline, and what it says to try works. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { staleBuild } from '../../scripts/setup.mjs'
import { envNames } from '../seams/base.ts'
import { compileSchema } from '../seams/schema.ts'
import { root } from '../support.ts'

const started = new Set<ChildProcess>()
beforeAll(() => {
  const reason = staleBuild()
  if (reason !== undefined) throw new Error(`${reason}: run \`npm run build\` first (\`npm test\` does)`)
})
afterEach(async () => {
  for (const child of started) {
    if (child.exitCode !== null) continue
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  started.clear()
})

/** Without keys and settings of the environment of the tests. */
const bare = Object.fromEntries(Object.values(envNames).flatMap((names) => names.map((name) => [name, ''])))

function start(env: { [name: string]: string }) {
  const store = `sqlite:${join(mkdtempSync(join(tmpdir(), 'proviso-start-')), 'first.db')}`
  const child = spawn(process.execPath, [join(root, 'scripts/start.mjs')], {
    cwd: root,
    env: { ...process.env, ...bare, NO_COLOR: '1', PROVISO_STORE: store, PROVISO_PORT: '0', ...env },
  })
  started.add(child)
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  return { child, said, ended: once(child, 'close').then(([code]) => code as number | null) }
}

const linesWith = (text: string, part: string) => text.split('\n').filter((line) => line.includes(part))

describe('npm start', () => {
  it('serves, has run the sample to two variants that satisfy its schema, and says what to try', async () => {
    const { said, child, ended } = start({ npm_lifecycle_event: 'start' })
    await expect.poll(() => said.out, { timeout: 50_000 }).toContain('Ctrl-C ends the server')
    expect(said.err).toContain('npx proviso runs --store sqlite:')
    const [, address = ''] = /serves on (\S+)/.exec(said.out) ?? []
    expect(said.err).toContain('rehearsal model')
    expect(said.err).toContain('Development mode')

    const [, runId = ''] = /ran as (\S+): completed\. 2 variants/.exec(said.out) ?? []
    const page = (await (await fetch(`${address}/api/v1/flex/runs/${runId}`)).json()) as {
      output: { output: { copyVariants: unknown[] } }
    }
    const { outputContract } = JSON.parse(
      readFileSync(join(root, 'examples/envelopes/linkedin-variants.json'), 'utf8'),
    )
    expect(page.output.output.copyVariants).toHaveLength(2)
    expect(compileSchema(outputContract.schema).validate(page.output.output)).toEqual([])

    // The approval that it offers is open, and its line answers it.
    const [reply = ''] = linesWith(said.out, 'hitl/resolve').map((line) =>
      line.slice(line.indexOf("-d '") + 4, -1),
    )
    const headers = { 'content-type': 'application/json' }
    const resolved = await fetch(`${address}/api/v1/flex/hitl/resolve`, {
      method: 'POST',
      headers,
      body: reply,
    })
    expect(resolved.status).toBe(200)
    // And so do the others.
    const sample = readFileSync(join(root, 'examples/envelopes/linkedin-variants.json'), 'utf8')
    const proof = await fetch(`${address}/api/v1/flex/prove`, { method: 'POST', headers, body: sample })
    expect(await proof.json()).toMatchObject({ accepted: true })
    const stream = await fetch(`${address}/api/v1/flex/run.stream`, { method: 'POST', headers, body: sample })
    expect(await stream.text()).toContain('event: complete')

    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  it('a port that is taken is a clear error, and the end', async () => {
    const other = createTcpServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    try {
      const { said, ended } = start({ PROVISO_PORT: String(port) })
      expect(await ended).toBe(2)
      expect(said.err).toContain(`Cannot listen on 127.0.0.1: port ${port} is used by another process`)
      expect(said.err).toContain('--port')
    } finally {
      other.close()
    }
  })

  it('a key in the environment switches to the real model, and says so', async () => {
    // Nothing listens there: the runs of the sample fail, and the server serves all the same.
    const { said } = start({
      OPENAI_API_KEY: 'sk-canary-of-the-test',
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    })
    await expect
      .poll(() => said.err, { timeout: 50_000 })
      .toContain('Models: openai/gpt-5-mini, with the key for OpenAI.')
    expect(said.err + said.out).not.toContain('sk-canary-of-the-test')
  })
})
