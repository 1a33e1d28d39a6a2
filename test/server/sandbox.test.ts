/** The sandbox over HTTP: only behind its flag, only in memory, and whatever an assistant says, the draft stays sound. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { App, ModelAnswer, Provider } from '../../src/index.ts'
import { sandboxRoutes } from '../../src/server/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { serveAgents, writer } from '../agents/support.ts'
import { api, serve, tea } from './support.ts'

const base = `${api}/sandbox`

interface Turn {
  conversationId: string
  envelope: { [key: string]: unknown }
  reply: string
  missingFields: string[]
  warnings: string[]
  valid: boolean
  messagesLeft: number
  issues: unknown[]
}

/** A model that says these things, one a call. */
function assistant(
  ...said: (unknown | ModelAnswer)[]
): Provider & { prompts: string[]; most: (number | undefined)[] } {
  const prompts: string[] = []
  const most: (number | undefined)[] = []
  return {
    name: '*',
    prompts,
    most,
    async generate({ prompt, maxOutputTokens }) {
      prompts.push(prompt)
      most.push(maxOutputTokens)
      const next = said.shift()
      if (typeof next === 'object' && next !== null && 'kind' in next) return next as ModelAnswer
      return { kind: 'text', text: JSON.stringify(next), finish: 'stop', usage: {} }
    },
  }
}

async function sandbox(
  provider: Provider = rehearsal(),
  more: { templateDir?: string; now?: () => number } = {},
) {
  let app: App | undefined
  const routes = sandboxRoutes({
    generate: (request) => (app as App).generate(request),
    ...(more.templateDir !== undefined && { templateDir: more.templateDir }),
    ...(more.now && { clock: { now: more.now } }),
  })
  const served = await serve({ ...tea, providers: [provider], secrets: ['canary-7261-secret'] }, { routes })
  app = served.app
  const say = async (conversationId: string, message: string, envelope?: unknown) =>
    served.call(`${base}/envelope/conversation/${conversationId}/respond`, {
      body: { message, ...(envelope !== undefined && { envelope }) },
    })
  const start = async (body: unknown = {}) => served.call(`${base}/envelope/conversation/start`, { body })
  const turn = async (response: Response) => (await response.json()) as unknown as Turn
  return { ...served, say, start, turn }
}

describe('sandbox', () => {
  it('is not there without its flag', async () => {
    const { call } = await serve(tea)
    expect((await call(`${base}/metadata`)).status).toBe(404)
    expect((await call(`${base}/envelope/conversation/start`, { body: {} })).status).toBe(404)
  })

  it('says what can be planned with, and which envelopes there are to begin with', async () => {
    const templateDir = await mkdtemp(join(tmpdir(), 'proviso-sandbox-'))
    await writeFile(join(templateDir, 'flex-tea.json'), '{"objective":"Tea"}')
    await writeFile(join(templateDir, 'flex-broken.json'), '{')
    await writeFile(join(templateDir, 'other.json'), '{}')
    const { call, app } = await sandbox(undefined, { templateDir })
    await app.store.records.registrations.put({
      tenant: 'default',
      capabilityId: 'silent',
      payload: { capability: { capabilityId: 'silent', displayName: 'Silent' }, contracts: {} },
      endpoint: { url: 'https://agent.example', key: 'never' },
      ttlMs: 0,
      tokenId: 't',
    })
    const response = await call(`${base}/metadata`)
    const metadata = await response.json()
    expect(metadata).toMatchObject({
      facets: expect.arrayContaining([expect.objectContaining({ name: 'toneOfVoice' })]),
      prompts: { system: expect.stringContaining('write'), rules: expect.any(Array) },
      templates: [
        { name: 'flex-broken', issue: 'Cannot read the file as JSON' },
        { name: 'flex-tea', envelope: { objective: 'Tea' } },
      ],
    })
    const { active, all } = (
      metadata as unknown as {
        capabilities: { active: { capabilityId: string }[]; all: { capabilityId: string; status: string }[] }
      }
    ).capabilities
    expect(active.map(({ capabilityId }) => capabilityId)).toContain('write')
    expect(all).toContainEqual({ capabilityId: 'silent', displayName: 'Silent', status: 'inactive' })
    expect(JSON.stringify(metadata)).not.toContain('agent.example')
  })

  it('shows each tenant only its own agents', async () => {
    const generate = () => Promise.reject(new Error('No call to a model is expected'))
    const { call, register, agentToken, tokenFor } = await serveAgents(
      {},
      { routes: sandboxRoutes({ generate }) },
    )
    await register(writer('http://127.0.0.1:9/', { capabilityId: 'writer.ours' }), await agentToken())
    const theirs = await agentToken(undefined, 'other')
    await register(writer('http://127.0.0.1:9/', { capabilityId: 'writer.theirs' }), theirs)
    const seen = async (tenant: string) =>
      (await call(`${base}/metadata`, { token: await tokenFor('caller', tenant) })).text()
    for (const [tenant, own, another] of [
      ['default', 'writer.ours', 'writer.theirs'],
      ['other', 'writer.theirs', 'writer.ours'],
    ] as const) {
      const metadata = await seen(tenant)
      expect(JSON.parse(metadata).prompts.system).toContain(own)
      expect(metadata).not.toContain(another)
    }
  })

  it('drafts an envelope by patches, validated again after every turn', async () => {
    const model = assistant(
      {
        reply: 'Which form?',
        patches: [{ op: 'add', path: '/objective', value: 'Two posts about tea' }],
        summary: 'posts',
      },
      {
        reply: 'Done.',
        patches: [
          {
            op: 'add',
            path: '/outputContract',
            value: { schema: { type: 'object', properties: { text: { type: 'string' } } } },
          },
        ],
      },
    )
    const { start, say, turn } = await sandbox(model)
    const first = await turn(await start({ message: 'Posts about tea' }))
    expect(first).toMatchObject({
      envelope: { objective: 'Two posts about tea' },
      missingFields: ['outputContract'],
      valid: false,
      messagesLeft: 22,
    })
    const second = await turn(await say(first.conversationId, 'A text'))
    expect(second).toMatchObject({
      reply: 'Done.',
      missingFields: [],
      valid: true,
      issues: [],
      messagesLeft: 20,
    })
    expect(model.prompts[1]).toContain('Which form?')
    expect(model.most).toEqual([1600, 1600])
  })

  it('an empty patch keeps the draft and shows what is missing; a start without words calls no model', async () => {
    const model = assistant({ reply: 'Please say more', patches: [] })
    const { start, say, turn } = await sandbox(model)
    const begun = await turn(await start())
    expect(begun).toMatchObject({
      envelope: {},
      missingFields: ['objective', 'outputContract'],
      valid: false,
    })
    expect(model.prompts).toHaveLength(0)
    const next = await turn(await say(begun.conversationId, 'Hm', { objective: 'Tea' }))
    expect(next).toMatchObject({
      envelope: { objective: 'Tea' },
      missingFields: ['outputContract'],
      warnings: [],
    })
  })

  it('hostile patches change nothing, and are a warning', async () => {
    const model = assistant({
      reply: 'Sure',
      patches: [
        { op: 'add', path: '/objective', value: 'Changed' },
        { op: 'add', path: '/inputs/__proto__/polluted', value: true },
      ],
    })
    const { start, turn } = await sandbox(model)
    const { envelope, warnings } = await turn(
      await start({ message: 'Hi', envelope: { objective: 'Tea', inputs: {} } }),
    )
    expect(envelope).toEqual({ objective: 'Tea', inputs: {} })
    expect(warnings.join()).toContain('the draft is unchanged')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('a model that gives nothing usable costs the draft nothing; a full one says when to come back', async () => {
    const { start, turn } = await sandbox(assistant('nothing', 'nothing either'))
    expect(await turn(await start({ message: 'Hi', envelope: { objective: 'Tea' } }))).toMatchObject({
      envelope: { objective: 'Tea' },
      warnings: [expect.stringContaining('invalid')],
    })
    const full = await sandbox(assistant({ kind: 'throttled', message: 'slow down', retryAfterMs: 7000 }))
    const refused = await full.start({ message: 'Hi' })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('7')
  })

  it('has at most 24 messages, and is over half an hour after the last', async () => {
    let now = Date.now()
    const replies = Array.from({ length: 13 }, () => ({ reply: 'And?', patches: [] }))
    const { start, say, turn } = await sandbox(assistant(...replies), { now: () => now })
    const { conversationId } = await turn(await start({ message: 'one' }))
    for (let more = 2; more <= 12; more++) expect((await say(conversationId, 'more')).status).toBe(200)
    const full = await say(conversationId, 'one too many')
    expect(full.status).toBe(409)
    expect((await full.json()).detail).toContain('24 messages')
    now += 31 * 60_000
    expect((await say(conversationId, 'late')).status).toBe(404)
  })

  it('belongs to the user who started it', async () => {
    const { start, turn, call, tokenFor } = await sandbox(assistant({ reply: 'Hi', patches: [] }))
    const { conversationId } = await turn(await start())
    const path = `${base}/envelope/conversation/${conversationId}/respond`
    const other = await call(path, { body: { message: 'Hi' }, token: await tokenFor('operator', 'other') })
    expect(other.status).toBe(404)
  })

  it('stores nothing, and sends no secret to a model', async () => {
    const model = assistant({ reply: 'Hi', patches: [] })
    const { start, app } = await sandbox(model)
    await start({ message: 'The key is canary-7261-secret', envelope: { objective: 'Tea' } })
    expect(model.prompts.join()).not.toContain('canary-7261-secret')
    expect(await app.store.runs({})).toEqual([])
    expect(await app.store.records.registrations.list({})).toEqual([])
  })

  it('works without a key: the rehearsal model answers, offline', async () => {
    const { start, turn } = await sandbox()
    const { reply, envelope } = await turn(
      await start({ message: 'Posts about tea', envelope: { objective: 'Tea' } }),
    )
    expect(reply.length).toBeGreaterThan(0)
    expect(envelope).toBeTypeOf('object')
  })
})
