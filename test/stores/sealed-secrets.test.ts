/**
 * Secrets of runs at rest, through HTTP and with real processes: planted values are not in the bytes of the store, nor in
 * anything a server or the command shows; the executor still gets them, also after the server was killed in the middle.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start as startPostgres } from '../../scripts/postgres.mjs'
import { listening } from '../processes/listening.ts'
import { api } from '../server/support.ts'
import { proviso, requireBuild, root } from '../support.ts'

/** Assembled here, so that scanners of repositories do not find keys in this file. */
const planted = {
  password: 'Canary-password-01',
  apiKey: 'canary_api_key_02',
  pin: 'canary-nested-pin-03',
  literal: 'canary-literal-secret-04',
  topic: `AKIA${'CANARY05CANARY05'}`,
  objective: `sk-proj-${'Canary06'.repeat(6)}`,
  answered: 'canary-session-token-07',
  said: `ghp_${'Canary08'.repeat(5)}`,
  note: `xoxb-123456789012-${'Canary09'.repeat(3)}`,
  logged: `sk-ant-api03-${'Canary10'.repeat(6)}`,
}
const canaries = [...Object.values(planted), '71828182845']
const found = (text: string) => canaries.filter((canary) => text.includes(canary))

/** The first step waits for the gate; both write down what they were given. */
const agents = `
import { appendFileSync, existsSync } from 'node:fs'
import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
const any = { type: 'object' }
const given = (name, input) => appendFileSync(process.env.RECEIVED, JSON.stringify({ name, input }) + '\\n')
export const login = defineCapability({
  capabilityId: 'login', inputContract: any, idempotent: true,
  outputContract: { type: 'object', properties: { session: any, text: { type: 'string' } }, required: ['session', 'text'] },
  async run(input, { log }) {
    given('login', input)
    log?.('login.called', { note: ${JSON.stringify(planted.logged)} })
    while (!existsSync(process.env.RECEIVED + '.gate')) await new Promise((resolve) => setTimeout(resolve, 20))
    return {
      session: { token: ${JSON.stringify(planted.answered)}, number: 5 },
      text: 'Logged in as ' + input.password + ' with ' + ${JSON.stringify(planted.said)},
    }
  },
})
export const write = defineCapability({
  capabilityId: 'write', inputContract: any, idempotent: true,
  outputContract: { type: 'object', properties: { text: { type: 'string' }, apiKey: { type: 'string', minLength: 10 } }, required: ['text'] },
  run(input) {
    given('write', input)
    return { text: 'Tea. ' + input.said, apiKey: input.clientSecret }
  },
})`

const schema = {
  type: 'object',
  properties: { text: { type: 'string' }, apiKey: { type: 'string', pattern: '^canary-literal' } },
  required: ['text', 'apiKey'],
}
const inputs = {
  password: planted.password,
  account: { name: 'Ann', apiKey: planted.apiKey, credentials: { pin: planted.pin, code: 71828182845 } },
  topic: `tea with ${planted.topic}`,
}
const body = {
  envelope: {
    objective: `Write with ${planted.objective}`,
    specialInstructions: [`The password is ${planted.password}.`],
    inputs,
    outputContract: { schema },
    policies: { requiresHitlApproval: true },
  },
  draft: {
    nodes: [
      {
        id: 'login',
        capabilityId: 'login',
        inputs: {
          password: { envelope: '/inputs/password' },
          account: { envelope: '/inputs/account' },
          topic: { envelope: '/inputs/topic' },
        },
      },
      {
        id: 'write',
        capabilityId: 'write',
        inputs: {
          session: { node: 'login', pointer: '/session' },
          said: { node: 'login', pointer: '/text' },
          clientSecret: { value: planted.literal },
        },
      },
    ],
    output: { node: 'write' },
  },
}
const received = {
  login: { password: planted.password, account: inputs.account, topic: inputs.topic },
  write: {
    session: { token: planted.answered, number: 5 },
    said: `Logged in as ${planted.password} with ${planted.said}`,
    clientSecret: planted.literal,
  },
}
const answer = { text: `Tea. ${received.write.said}`, apiKey: planted.literal }

const started = new Set<ChildProcess>()
let folder = ''
beforeAll(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'proviso-sealed-runs-'))
  writeFileSync(join(folder, 'agents.mjs'), agents)
})
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

async function serve(store: string, env: { readonly [name: string]: string }) {
  const args = ['serve', '--dev', '--port', '0', '--store', store, '--use', join(folder, 'agents.mjs')]
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
    env: { ...process.env, NO_COLOR: '1', PROVISO_STORE: '', ...env },
  })
  started.add(child)
  const { address, ended, stderr } = await listening(child)
  return {
    stderr,
    call: (path: string, given?: unknown, headers = {}) =>
      fetch(`${address}${api}${path}`, {
        method: given === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        ...(given !== undefined && { body: JSON.stringify(given) }),
      }),
    async kill(signal: 'SIGKILL' | 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
}

/** Starts the run, kills the server in the first step, continues on another, and collects everything that can be read. */
async function journey(store: string, env: { readonly [name: string]: string }) {
  const log = env['RECEIVED'] ?? ''
  const lines = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
  const first = await serve(store, env)
  const begun = await first.call('/runs', body, { 'idempotency-key': 'once' })
  const { runId } = (await begun.json()) as { runId: string }
  await expect.poll(() => lines().length, { interval: 20, timeout: 20_000 }).toBe(1)
  await first.kill('SIGKILL')
  appendFileSync(`${log}.gate`, '')
  const server = await serve(store, env)
  const left: { [source: string]: string } = {}
  const page = async (path: string, headers = {}) => (await server.call(path, undefined, headers)).text()
  const asks = async () =>
    JSON.parse(await page('/hitl?status=pending')).asks as { requestId: string; valueHash: string }[]
  await expect.poll(async () => (await asks()).length, { interval: 50, timeout: 30_000 }).toBe(1)
  left['asks'] = await page('/hitl?status=pending')
  const [{ requestId = '', valueHash = '' } = {}] = await asks()
  const reply = { requestId, valueHash, decision: 'approve', note: `Says ${planted.note}` }
  expect((await server.call('/hitl/resolve', reply)).status).toBe(200)
  left['stream'] = await page(`/runs/${runId}/events`, { accept: 'text/event-stream' })
  left['events'] = await page(`/runs/${runId}/events`, { accept: 'application/json' })
  for (const path of [`/runs/${runId}`, '/runs', '/hitl?status=resolved']) left[path] = await page(path)
  const output = JSON.parse(await page(`/runs/${runId}/output`)).output
  const again = await server.call('/runs?wait=20', body, { 'idempotency-key': 'once' })
  await again.text()
  left['stderr'] = first.stderr() + server.stderr()
  await server.kill('SIGTERM')
  const use = ['--use', join(folder, 'agents.mjs')]
  const commands = [
    ['show', runId, '--json'],
    ['runs'],
    ['asks', '--status', 'resolved', '--json'],
    ['verify', runId],
    ['replay', runId, ...use],
  ]
  await Promise.all(
    commands.map(async (command) => {
      const done = await proviso([...command, '--store', store], { env })
      left[command.join(' ')] = done.stdout + done.stderr
      expect([command[0], done.code, done.code === 0 ? '' : done.stderr]).toEqual([command[0], 0, ''])
    }),
  )
  return { runId, left, output, calls: lines() }
}

function check({ left, output, calls }: Awaited<ReturnType<typeof journey>>): void {
  // The step in progress was killed and called again, with the real values; the second read what the first answered.
  expect(calls).toEqual([
    { name: 'login', input: received.login },
    { name: 'login', input: received.login },
    { name: 'write', input: received.write },
  ])
  expect(output).toEqual(answer)
  const hits = Object.entries(left).flatMap(([source, text]) =>
    // The answer has this member because its contract asks for it by name.
    found(text.replaceAll(`"apiKey":"${planted.literal}"`, '')).map((canary) => `${canary} in ${source}`),
  )
  expect(hits).toEqual([])
}

describe('on SQLite without any setting', () => {
  it('no secret is in the files of the store, and erasing the run removes the sealed ones', async () => {
    const file = join(folder, 'runs.db')
    const store = `sqlite:${file}`
    const env = { RECEIVED: join(folder, 'sqlite'), PROVISO_SECRET_KEY: '' }
    const bytes = () =>
      readdirSync(folder)
        .filter((name) => name.startsWith('runs.db') && name !== 'runs.db-secret-key')
        .map((name) => readFileSync(join(folder, name), 'latin1'))
        .join('\n')
    const done = await journey(store, env)
    check(done)
    expect(found(bytes())).toEqual([])
    expect(bytes()).toContain('[sealed:v1.')
    const erased = await proviso(['erase', '--run', done.runId, '--yes', '--store', store], { env })
    expect([erased.code, erased.stderr]).toEqual([0, expect.any(String)])
    expect(bytes().match(/\[sealed:v1\.[\w.-]+/g) ?? []).toEqual([])
  }, 90_000)
})

describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL with a key', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster?.stop())

  it('no secret is in any table', async () => {
    const key = { PROVISO_SECRET_KEY: '5ea1'.repeat(16), PROVISO_LEASE_MS: '2000' }
    check(await journey(cluster.url, { RECEIVED: join(folder, 'postgres'), ...key }))
    const client = new Client({ connectionString: cluster.url })
    await client.connect()
    const names = await client.query("select tablename from pg_tables where schemaname = 'public'")
    const dump: string[] = []
    for (const { tablename } of names.rows)
      dump.push(JSON.stringify((await client.query(`select * from "${tablename}"`)).rows))
    await client.end()
    expect(names.rows.length).toBeGreaterThan(10)
    expect(dump.join()).toContain('[sealed:v1.')
    expect(found(dump.join())).toEqual([])
  }, 90_000)
})
