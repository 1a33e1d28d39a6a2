/** Promises of `proviso serve` and `proviso token`, tested on the built command as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import { api, frames, readFrames } from '../server/support.ts'
import { proviso, root, runCommand } from '../support.ts'
import { file, pathInFolder } from './run-support.ts'

const flexToken = 'a-token-for-one-user-only'
const started = new Set<ChildProcess>()
let stores = 0

afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
})

const agents = `
import { defineCapability } from 'proviso'
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const common = { inputContract: { type: 'object' }, outputContract: text, idempotent: true }
export const quick = defineCapability({
  ...common, capabilityId: 'quick', run: () => new Promise((done) => setTimeout(() => done({ text: 'Tea' }), 20)),
})
export const endless = defineCapability({
  ...common,
  capabilityId: 'endless',
  run: (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})
export const stray = defineCapability({
  ...common,
  capabilityId: 'stray',
  run: () => new Promise(() => setTimeout(() => { throw new Error('Not caught') }, 10)),
})
export const deaf = defineCapability({
  ...common, capabilityId: 'deaf', run: () => new Promise((done) => setTimeout(() => done({ text: 'Tea' }), 600_000)),
})`

/** Inside the package, so that the module finds it by its name. */
const agentsFile = () =>
  file('agents.mjs', agents.replace(`'proviso'`, JSON.stringify(join(root, 'dist/index.js'))))

/** A server as a process; resolves when it says where it listens. */
async function serve(args: readonly string[], env: { readonly [name: string]: string } = {}) {
  const store = `sqlite:${pathInFolder(`serve-${++stores}.db`)}`
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'serve', '--port', '0', '--store', store, ...args],
    { env: { ...process.env, NO_COLOR: '1', PROVISO_STORE: '', ...env } },
  )
  started.add(child)
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (said: string) => (stderr += said))
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (said: string) => {
      stdout += said
      const [, found] = /serves on (\S+)\n/.exec(stdout) ?? []
      if (found !== undefined) resolve(found)
    })
    child.on('close', (code) => reject(new Error(`It ended with ${code}: ${stderr}`)))
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const call = (path: string, body?: unknown) =>
    fetch(`${address}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${flexToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { child, store, address, call, ended, stderr: () => stderr }
}

const run = (capabilityId: string) => ({
  envelope: {
    objective: 'One line about tea',
    outputContract: {
      schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  },
  draft: { nodes: [{ id: 'write', capabilityId }] },
})

describe('proviso serve', () => {
  it('T22: SIGTERM under load ends in order within ten seconds, with streams ended and every lease given back', async () => {
    const server = await serve(['--use', agentsFile()], { FLEX_TOKEN: flexToken })
    const streams = await Promise.all(
      Array.from({ length: 30 }, () => server.call(`${api}/run.stream`, run('endless'))),
    )
    const quick = Promise.allSettled(
      Array.from({ length: 30 }, async () => {
        const response = await server.call(`${api}/run.stream`, run('quick'))
        return response.status === 200 ? (await frames(response)).length : response.status
      }),
    )
    const texts = streams.map(async (response) => {
      const chunks: string[] = []
      const decoder = new TextDecoder()
      for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>)
        chunks.push(decoder.decode(bytes, { stream: true }))
      return chunks.join('')
    })
    const signalled = Date.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(Date.now() - signalled).toBeLessThan(10_000)
    // Each ended whole and says when to come back.
    for (const text of await Promise.all(texts)) expect(text).toMatch(/retry: \d+\n/)
    // Open requests were served, turned away with a hint, or refused.
    for (const end of await quick) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ message: 'fetch failed' })
      else expect(end.value === 503 || end.value < 100).toBe(true)
    }
    expect(server.stderr()).toContain('SIGTERM: stopping')
    const store = await openStore(server.store)
    try {
      const open = await store.runs({ status: ['pending', 'running'], limit: 100 })
      expect(open.length).toBeGreaterThanOrEqual(30)
      const claimed = await store.claim({ owner: 'next', leaseMs: 1000, limit: 100 })
      expect(claimed.map(({ runId }) => runId).sort()).toEqual(open.map(({ runId }) => runId).sort())
    } finally {
      await store.close()
    }
  })

  it('a capability that does not listen keeps the process no longer than ten seconds', async () => {
    const server = await serve(['--use', agentsFile()], { FLEX_TOKEN: flexToken })
    const stream = readFrames(await server.call(`${api}/run.stream`, run('deaf')))
    for (let frame = await stream.next(); !frame.done && frame.value.type !== 'node_start'; )
      frame = await stream.next()
    const signalled = Date.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(Date.now() - signalled).toBeLessThan(10_000)
  })

  it('a second signal leaves at once', async () => {
    const server = await serve(['--use', agentsFile()], { FLEX_TOKEN: flexToken })
    const stream = readFrames(await server.call(`${api}/run.stream`, run('deaf')))
    for (let frame = await stream.next(); !frame.done && frame.value.type !== 'node_start'; )
      frame = await stream.next()
    const said = new Promise<void>((resolve) => {
      server.child.stderr?.on('data', (text: string) => text.includes('stopping') && resolve())
    })
    server.child.kill('SIGINT')
    await said
    const signalled = Date.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(130)
    expect(Date.now() - signalled).toBeLessThan(2_000)
  })

  it('an unexpected error ends it with its message, and the run is there for the next process', async () => {
    const server = await serve(['--use', agentsFile()], { FLEX_TOKEN: flexToken })
    const begun = await server.call(`${api}/runs`, run('stray'))
    const { runId } = (await begun.json()) as { runId: string }
    expect(await server.ended).toBe(1)
    expect(server.stderr()).toMatch(/Uncaught exception: Error: Not caught/)
    const store = await openStore(server.store)
    expect(await store.head(runId)).toMatchObject({ status: 'running' })
    await store.close()
  })

  it('runs that were started continue in the next process', async () => {
    const first = await serve(['--use', agentsFile()], { FLEX_TOKEN: flexToken })
    const paused = {
      runtime: [{ id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not yet' } }],
    }
    const work = run('quick')
    const [begun] = await frames(
      await first.call(`${api}/run.stream`, { ...work, envelope: { ...work.envelope, policies: paused } }),
    )
    first.child.kill('SIGTERM')
    await first.ended
    const second = await serve(['--use', agentsFile(), '--store', first.store], { FLEX_TOKEN: flexToken })
    const all = await frames(await second.call(`${api}/run.resume`, { runId: begun!.runId }))
    expect(all.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { text: 'Tea' } },
    })
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
  })

  it('executes the runs of a placement if it has the labels: by proviso.toml, a variable or a flag', async () => {
    const placed = (region: string) => {
      const { envelope, draft } = run('quick')
      return { envelope: { ...envelope, constraints: { placement: { region } } }, draft }
    }
    const toml = file('labels.toml', '[placement]\nlabels = ["region=eu", "gpu=yes"]\n')
    const first = await serve(['--dev', '--use', agentsFile(), '--config', toml])
    const status = async (address: string, runId: string) => {
      const page = await (await fetch(`${address}${api}/runs/${runId}`)).json()
      return (page as { run: { status: string } }).run.status
    }
    const begin = async (region: string) => {
      const begun = await first.call(`${api}/runs`, placed(region))
      return ((await begun.json()) as { runId: string }).runId
    }
    const [here, there, last] = [await begin('eu'), await begin('us'), await begin('ap')]
    await expect.poll(() => status(first.address, here), { timeout: 10_000 }).toBe('completed')
    const shown = await proviso(['status', '--store', first.store])
    expect(shown.stdout).toContain('region=eu,gpu=yes')
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    const onStore = (args: readonly string[], env = {}) =>
      serve(['--dev', '--use', agentsFile(), '--config', toml, ...args, '--store', first.store], env)
    const second = await onStore([], { PROVISO_LABELS: 'region=us' })
    await expect.poll(() => status(second.address, there), { timeout: 10_000 }).toBe('completed')
    expect(await status(second.address, last)).not.toBe('completed')
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    const third = await onStore(['--labels', 'region=ap'], { PROVISO_LABELS: 'region=us' })
    await expect.poll(() => status(third.address, last), { timeout: 10_000 }).toBe('completed')
    await expect(onStore(['--labels', 'region'])).rejects.toThrow(/placement\.labels/)
  })

  it('refuses to start where no caller could authenticate, and says what to do', async () => {
    const store = `sqlite:${pathInFolder(`serve-${++stores}.db`)}`
    const none = await proviso(['serve', '--port', '0', '--store', store], { env: { FLEX_TOKEN: undefined } })
    expect(none.code).toBe(2)
    expect(none.stderr).toMatch(/no token exists[\s\S]*proviso token create[\s\S]*FLEX_TOKEN[\s\S]*--dev/)
    const weak = await proviso(['serve', '--port', '0', '--store', store], { env: { FLEX_TOKEN: 'x' } })
    expect(weak).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('FLEX_TOKEN must have at least 16 characters'),
    })
  })

  it.each([
    { PROVISO_PUBLIC_URL: 'proviso.example', says: 'got "proviso.example"' },
    {
      PROVISO_CORS: 'https://console.example/',
      says: '"https://console.example/" is not a valid CORS origin',
    },
  ])('refuses to start with an address that would do nothing: $says', async ({ says, ...env }) => {
    const served = ['serve', '--port', '0', '--store', 'memory:']
    const refused = await proviso(served, { env: { FLEX_TOKEN: 'x'.repeat(32), ...env } })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
  })

  it('seals signing keys of agents, without a configured key with a key file; only --dev stores them in the clear, which it says once', async () => {
    const preset = ['--preset', 'marketing']
    const registered = async (
      server: Awaited<ReturnType<typeof serve>>,
      capabilityId: string,
    ): Promise<number> => {
      const endpoint = { url: 'https://127.0.0.1:9/' }
      const contracts = { inputContract: ['writerBrief'], outputContract: ['copyVariants'] }
      const about = { version: '1', displayName: 'W', summary: 'Writes', ...contracts }
      const body = { capabilityId, endpoint, ...about }
      return (await server.call(`${api}/capabilities/register`, body)).status
    }
    /** All that it has said, once it has ended. */
    const words = async (server: Awaited<ReturnType<typeof serve>>) => {
      server.child.kill('SIGTERM')
      await server.ended
      return server.stderr()
    }
    const closed = await serve(preset, { FLEX_TOKEN: flexToken, PROVISO_AGENT_HOSTS: '127.0.0.1:9' })
    expect(await registered(closed, 'a')).toBe(201)
    expect(await words(closed), 'the key file beside the database seals').not.toContain('PROVISO_SECRET_KEY')
    const dev = await serve(['--dev', ...preset], { FLEX_TOKEN: '' })
    expect([await registered(dev, 'a'), await registered(dev, 'b')]).toEqual([201, 201])
    expect((await words(dev)).split('stored unencrypted')).toHaveLength(2)
    const unused = await serve(['--dev', ...preset], { FLEX_TOKEN: '' })
    expect(await words(unused)).not.toContain('PROVISO_SECRET_KEY')
    const sealed = await serve(['--dev', ...preset], { FLEX_TOKEN: '', PROVISO_SECRET_KEY: 'cd'.repeat(32) })
    expect(await registered(sealed, 'a')).toBe(201)
    expect(await words(sealed)).not.toContain('in the clear')
    const forgetful = await serve(['--dev', '--store', 'memory:', ...preset], { FLEX_TOKEN: '' })
    expect(await registered(forgetful, 'a')).toBe(201)
    expect(await words(forgetful)).not.toContain('in the clear')
  })

  it('--dev is open, says so loudly, and stays on this machine', async () => {
    const server = await serve(['--dev'], { FLEX_TOKEN: '' })
    expect(server.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${server.address}${api}/runs`)).status).toBe(200)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(server.stderr()).toContain('Development mode: no authentication, loopback only')
    expect(server.stderr()).toContain(`list them with proviso runs --store ${server.store}`)
    const open = await proviso(['serve', '--dev', '--host', '0.0.0.0', '--port', '0', '--store', 'memory:'])
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('does not listen on 0.0.0.0') })
  })
})

it('says which capabilities a run waits for that are not here, and continues where they are', async () => {
  const pipeline = file(
    'after.yaml',
    `name: after
steps:
  - { name: ask, kind: hitl, message: "Which?", input_schema: { type: string } }
  - { name: wrap, uses: wrap_dict }
`,
  )
  const store = `sqlite:${pathInFolder(`serve-${++stores}.db`)}`
  const begun = await runCommand(['run', pipeline, '--input', '1', '--run-id', 'r', '--store', store])
  expect(begun.code, begun.stderr).toBe(6)
  const server = await serve(['--dev', '--store', store], { FLEX_TOKEN: '' })
  const { asks } = (await (await fetch(`${server.address}${api}/hitl`)).json()) as {
    asks: { requestId: string; valueHash: string }[]
  }
  const [{ requestId = '', valueHash = '' } = {}] = asks
  const reply = { requestId, valueHash, decision: 'answer', value: 'this' }
  expect((await server.call(`${api}/hitl/resolve`, reply)).status).toBe(200)
  const lacks = () => server.stderr().match(/The run r waits for missing capabilities: .*/g) ?? []
  await expect.poll(lacks, { timeout: 10_000 }).toHaveLength(1)
  expect(lacks()[0]).toContain('proviso.pipeline.')
  expect(server.stderr()).toContain('proviso resume r --file FILE')
  server.child.kill('SIGTERM')
  await server.ended
  const entryPoint = JSON.stringify(join(root, 'dist/pipeline/index.js'))
  const steps = file(
    'after.mjs',
    `import { compilePipeline, loadPipeline } from ${entryPoint}
const { pipeline } = await loadPipeline(${JSON.stringify(pipeline)})
export const { capabilities } = compilePipeline(pipeline, { input: 1 }).compiled
`,
  )
  const next = await serve(['--dev', '--store', store, '--use', steps], { FLEX_TOKEN: '' })
  const getStatus = async () => {
    const page = await (await fetch(`${next.address}${api}/runs/r`)).json()
    return (page as { run: { status: string } }).run.status
  }
  await expect.poll(getStatus, { timeout: 10_000 }).toBe('completed')
  next.child.kill('SIGTERM')
  await next.ended
})

describe('proviso token', () => {
  it('makes a token that a server on the store takes, lists it without it, and revokes it', async () => {
    const store = `sqlite:${pathInFolder(`serve-${++stores}.db`)}`
    const command = (...args: string[]) => runCommand(['token', ...args, '--store', store])
    const made = await command('create', '--role', 'operator', '--name', 'ann', '--expires', '90d', '--json')
    expect(made.code).toBe(0)
    const { token, tokenId } = JSON.parse(made.stdout)
    expect(token).toMatch(/^pvs_[\w-]{43}$/)
    const status = async () => {
      const server = await serve(['--store', store], { FLEX_TOKEN: flexToken })
      const answer = await fetch(`${server.address}${api}/hitl`, {
        headers: { authorization: `Bearer ${token}` },
      })
      server.child.kill('SIGTERM')
      await server.ended
      return answer.status
    }
    expect(await status()).toBe(200)
    const listed = await command('list')
    expect(listed.stdout).toMatch(new RegExp(`${tokenId} +operator +default +ann .*valid until`))
    expect(listed.stdout).not.toContain(token)
    expect(await command('revoke', tokenId)).toMatchObject({ code: 0 })
    expect(await command('revoke', tokenId)).toMatchObject({ code: 2 })
    expect(await status()).toBe(401)
  })

  it('takes the store that a server takes, and says so when there is none', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'proviso-token-'))
    const command = (...args: string[]) => runCommand(['token', ...args], { cwd })
    for (const none of [await command('list'), await command('revoke', 'tok_1')])
      expect(none).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Cannot open the store sqlite:proviso.db'),
      })
    const made = await command('create', '--role', 'admin', '--json')
    const { tokenId } = JSON.parse(made.stdout)
    expect((await command('list')).stdout).toContain(tokenId)
    expect(await command('revoke', tokenId)).toMatchObject({ code: 0 })
    rmSync(cwd, { recursive: true, force: true })
  })

  it('sends writers beside a server to the server', async () => {
    const path = pathInFolder(`serve-${++stores}.db`)
    const server = await serve(['--dev', '--store', `sqlite:${path}`])
    const done = await runCommand(['token', 'create', '--role', 'admin', '--store', `sqlite:${path}`])
    expect(done).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('If a server holds it, use the server'),
    })
    server.child.kill('SIGTERM')
    await server.ended
  })

  it('needs a role that there is', async () => {
    expect(await runCommand(['token', 'create', '--store', 'memory:'])).toMatchObject({ code: 2 })
    expect(await runCommand(['token', 'create', '--role', 'king', '--store', 'memory:'])).toMatchObject({
      code: 2,
    })
  })
})
