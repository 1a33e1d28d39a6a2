/**
 * T16: secrets of every kind are planted where they turn up in practice, on the way in and in what servers send back. None
 * of them is in a prompt, in the bytes of the store, in a frame, on a cassette, in a partial or in what the command prints.
 * What callers give as data under a key that names a secret reaches the call it is for, is sealed in the journal, and leaves
 * nowhere.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { createApp, type Dispatcher, defineCapability, type JournalEvent } from '../../src/index.ts'
import { cassette } from '../../src/testing/index.ts'
import { openAiServer, type Reply, type Seen } from '../models/openai-server.ts'
import { readEnv } from '../seams/base.ts'
import { toFrame } from '../seams/domain.ts'
import { openLibsql } from '../seams/stores.ts'
import { proviso, requireBuild } from '../support.ts'
import { envelope, text } from './support.ts'

/** Known by themselves: they must be nowhere. */
const keys = {
  openai: 'sk-proj-canary-openai-01',
  shadowed: 'sk-proj-canary-shadowed-02',
  anthropic: 'sk-ant-canary-03',
  google: 'AIza-canary-google-04',
  compatible: 'sk-or-canary-compatible-05',
  header: 'canary-gateway-header-06',
  agent: 'canary-agent-key-07',
  option: 'canary "quoted" / option-08',
} as const
/** Data of the caller, by the name of its key or by its shape. */
const data = {
  token: 'canary-user-token-09',
  nested: 'canary-nested-password-10',
  address: 'canary-address-password-11',
  query: 'canary-query-key-12',
  bearer: 'canary.bearer.token.13',
} as const

const env = {
  FLEX_OPENAI_API_KEY: keys.openai,
  OPENAI_API_KEY: keys.shadowed,
  ANTHROPIC_API_KEY: keys.anthropic,
  GOOGLE_GENERATIVE_AI_API_KEY: keys.google,
  PROVISO_COMPATIBLE_API_KEY: keys.compatible,
}

const everyKey = Object.values(keys).join(' and ')

let folder = ''
let seen: readonly Seen[] = []
let events: readonly JournalEvent[] = []
const received: unknown[] = []
const partials: string[] = []
/** Everything that left, by where it went. */
const left: Record<string, string> = {}

/** An agent behind a key of its own, which returns everything it knows. */
const chatty: Dispatcher = {
  kind: 'chatty',
  remote: false,
  async dispatch({ bundle, capability, onEvent, attempt }) {
    received.push(bundle.inputs)
    const all = `${JSON.stringify(bundle.inputs)} ${JSON.stringify(capability.settings)} ${everyKey}`
    onEvent('chatty.called', { note: all, Authorization: `Bearer ${data.bearer}` })
    if (attempt === 1)
      throw new Error(`GET https://api.example/v1?api_key=${data.query} with Bearer ${data.bearer}: ${all}`)
    const value = { text: `Done with ${everyKey}` }
    return { outcome: 'ok', output: { value, raw: all, reasoning: all }, issues: [], usage: { calls: 1 } }
  },
}

/** What a careless server sends back, call by call. */
const replies: readonly Reply[] = [
  { text: `no JSON, but your keys are ${everyKey}`, reasoning: `I think of ${everyKey}` },
  {
    status: 500,
    headers: { 'x-echo': `Bearer ${keys.compatible}` },
    body: { error: { message: `Failed for ${everyKey} at http://u:${data.address}@proxy/` } },
  },
  { text: JSON.stringify({ txet: everyKey }), reasoning: `Still ${everyKey}` },
  { text: JSON.stringify({ text: `Keys: ${everyKey}` }), reasoning: `At last ${everyKey}`, chunks: 3 },
]

const inputs = {
  topic: `tea, not ${keys.option}`,
  accessToken: data.token,
  account: { name: 'Ann', dbPassword: data.nested },
}

const draft = {
  nodes: [
    {
      id: 'fetch',
      capabilityId: 'fetch',
      inputs: { accessToken: { envelope: '/inputs/accessToken' }, account: { envelope: '/inputs/account' } },
      retry: { max: 1 },
      callBudget: 2,
    },
    {
      id: 'write',
      capabilityId: 'write',
      instructions: `Use ${keys.option} when you must`,
      inputs: {
        topic: { envelope: '/inputs/topic' },
        accessToken: { envelope: '/inputs/accessToken' },
        notes: { node: 'fetch', pointer: '/text' },
      },
      retry: { max: 1 },
      callBudget: 8,
    },
  ],
  output: { node: 'write' },
}

beforeAll(async () => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'proviso-canaries-'))
  const server = await openAiServer(replies)
  const store = `sqlite:${join(folder, 'runs.db')}`
  const tape = cassette({
    file: join(folder, 'tape.json'),
    mode: 'record',
    provider: compatible({
      baseURL: server.url,
      apiKey: keys.compatible,
      headers: { 'X-Api-Key': keys.header },
    }),
    secrets: Object.values(keys),
  })
  const common = { inputContract: { type: 'object' }, outputContract: text } as const
  const app = await createApp({
    store,
    env: readEnv(env),
    providers: [tape],
    secrets: [keys.option],
    dispatchers: [chatty],
    capabilities: [
      defineCapability({
        ...common,
        capabilityId: 'fetch',
        kind: 'chatty',
        idempotent: true,
        settings: { headers: { authorization: `Bearer ${keys.agent}` } },
      }),
      defineCapability({
        ...common,
        capabilityId: 'write',
        kind: 'model',
        preferredModels: ['compatible/test-model'],
      }),
    ],
    onPartial: ({ value }) => partials.push(JSON.stringify(value)),
  })
  const policies = { planner: { directives: { askBeforeFinish: true } } }
  const given = {
    objective: `Write with ${keys.option}`,
    specialInstructions: [`Never say ${keys.option}`],
    inputs,
    policies,
  }
  const { runId, status } = await app.run(envelope(given), { draft, threadId: `thread of ${keys.option}` })
  expect(status).toBe('waiting')
  const command = async (...args: string[]) => {
    const done = await proviso([...args, '--store', store], { env })
    return `${done.stdout}${done.stderr}`
  }
  left['asks'] = await command('asks', '--json')
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  const { requestId = '', valueHash = '' } = ask ?? {}
  await app.reply(runId, { requestId, decision: 'approve', valueHash, by: 'ann', note: `Says ${everyKey}` })
  const done = await app.result(runId)
  expect(done.status).toBe('completed')
  events = await app.store.read(runId, 0, 10_000)
  seen = server.seen
  await app.close()
  tape.save()
  await server.close()
  left['prompts'] = seen.map(({ body, path }) => path + JSON.stringify(body)).join('\n')
  left['frames'] = events.map((event) => JSON.stringify(toFrame(event, runId, app.redactor))).join('\n')
  left['partials'] = partials.join('\n')
  left['answer'] = JSON.stringify(done)
  left['cassette'] = readFileSync(join(folder, 'tape.json'), 'utf8')
  left['show'] = await command('show', runId)
  left['show --json'] = await command('show', runId, '--json')
  left['runs'] = (await command('runs')) + (await command('runs', '--json'))
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const spellings = (secret: string) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
]
const hits = (where: string, secrets: readonly string[]) =>
  secrets.flatMap(spellings).filter((secret) => where.includes(secret))

it('the run has really met them', () => {
  const sent = seen.map(({ headers }) => JSON.stringify(headers)).join()
  expect(sent).toContain(keys.compatible)
  expect(sent).toContain(keys.header)
  expect(seen.length).toBeGreaterThanOrEqual(replies.length)
  expect(received).toEqual(Array(2).fill({ accessToken: data.token, account: inputs.account }))
  for (const [where, text] of Object.entries(left)) expect(text, where).not.toBe('')
  expect(left['prompts']).toContain('[redacted]')
  expect(left['show --json']).toContain('[redacted]')
  expect(left['prompts']).toContain('You repair JSON')
})

it.each(['asks', 'prompts', 'frames', 'partials', 'answer', 'cassette', 'show', 'show --json', 'runs'])(
  'none of them leaves: %s',
  (where) => {
    expect(hits(left[where] ?? '', [...Object.values(keys), ...Object.values(data)])).toEqual([])
  },
)

it('none that is known is in the bytes of the store', () => {
  const files = readdirSync(folder).filter((name) => name.startsWith('runs.db'))
  const bytes = files.map((name) => readFileSync(join(folder, name), 'latin1')).join('\n')
  expect(bytes.length).toBeGreaterThan(10_000)
  expect(bytes).toContain('[redacted]')
  expect(hits(bytes, Object.values(keys))).toEqual([])
})

it('data of the caller is in no table of the store', () => {
  for (const secret of [data.token, data.nested])
    expect(events.filter((event) => JSON.stringify(event).includes(secret)).map(({ type }) => type)).toEqual([
      'start',
    ])
  const database = openLibsql(join(folder, 'runs.db'))
  const tables = database
    .execute("select name from sqlite_master where type = 'table'")
    .map((row) => String(row['name']))
  const holding = tables.filter(
    (table) =>
      hits(JSON.stringify(database.execute(`select * from "${table}"`)), Object.values(data)).length > 0,
  )
  database.close()
  expect(tables).toContain('flex_plan_snapshots')
  expect(holding).toEqual([])
})
