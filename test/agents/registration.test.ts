/** Promises about agents that register over HTTP: who may, what is refused, who is seen by whom, and how long. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { createApp, defineCapability } from '../../src/index.ts'
import { mostPerTenant } from '../seams/agents.ts'
import { readEnv, systemClock } from '../seams/base.ts'
import { serve } from '../server/support.ts'
import { createHandClock } from '../streams/hand-clock.ts'
import { agent, api, copyVariants, isSigned, json, serveAgents, wanted, writer } from './support.ts'

const address = 'http://127.0.0.1:9'

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

/** A store in a file, until all tests are over. */
async function openSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-registration-'))
  const store = await openSqliteStore({ path: join(folder, 'runs.db') })
  closing.push(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return store
}

/** A schema of arrays in arrays. */
const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : { type: 'array', items: nested(depth - 1) }
const nestedAt = `/inputContract${'/items'.repeat(32)}`

describe('registering', () => {
  it('returns the heartbeat interval and, once, the key that calls are signed with', async () => {
    const { register, agentToken, app } = await serveAgents()
    const token = await agentToken()
    const first = await register(writer(address, { heartbeat: { intervalSeconds: 20 } }), token)
    expect(first).toMatchObject({
      status: 'active',
      heartbeat: { intervalSeconds: 20, timeoutSeconds: 60 },
      signingKey: expect.stringMatching(/^psk_[\w-]{43}$/),
    })
    const again = await register(writer(address), token)
    expect(again.status).toBe('active')
    expect(again.signingKey).toBeUndefined()
    expect(app.capabilities().map(({ capabilityId }) => capabilityId)).toContain('writer.en')
  })

  it('stores the compiled contracts beside the facets', async () => {
    const { register, agentToken, app } = await serveAgents()
    await register(writer(address), await agentToken())
    const [row] = await app.store.records.registrations.list({})
    expect(row?.payload).toMatchObject({
      capability: { capabilityId: 'writer.en', kind: 'http', inputContract: ['writerBrief'] },
      contracts: { output: { properties: { copyVariants: { type: 'array' } }, required: ['copyVariants'] } },
    })
  })

  it('takes JSON Schemas instead of facets, and plans with them', async () => {
    const { register, agentToken, app } = await serveAgents()
    const writing = await agent(json({ line: 'Time for tea.' }))
    const input = { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] }
    const output = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }
    const contracts = { inputContract: input, outputContract: output }
    expect(await register(writer(writing.url, contracts), await agentToken())).toMatchObject({
      status: 'active',
      contracts: { input, output },
    })
    const done = await app.run({
      objective: 'One line',
      inputs: { topic: 'tea' },
      outputContract: { schema: output },
    })
    expect(done).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
    expect(writing.received[0]?.call.inputs).toEqual({ topic: 'tea' })
  })

  it('changes the key without a gap: the two newest are alive, and a third ends the first', async () => {
    const { register, agentToken, app } = await serveAgents()
    const writing = await agent(json({ copyVariants }))
    const token = await agentToken()
    const keys = []
    for (const rotateKey of [false, true, true])
      keys.push((await register(writer(writing.url, { rotateKey }), token)).signingKey ?? '')
    await app.run(wanted())
    expect(keys.map((key) => isSigned(writing.received[0]!, key))).toEqual([false, true, true])
  })

  it.each([
    ['an unknown facet', { inputContract: ['writerBreif'] }, '/inputContract/0'],
    ['a facet that goes the other way', { outputContract: ['objectiveBrief'] }, '/outputContract/0'],
    ['an invalid JSON Schema', { outputContract: { type: 'objekt' } }, '/outputContract/type'],
    [
      'a pattern that needs more than linear time',
      { inputContract: { type: 'object', properties: { a: { type: 'string', pattern: '(a)\\1' } } } },
      '/inputContract/properties/a/pattern',
    ],
    ['a JSON Schema above the limits', { inputContract: nested(40) }, nestedAt],
    ['an invalid condition', { postConditions: [{ frob: [1] }] }, '/postConditions/0/frob'],
    ['another kind', { kind: 'local' }, '/kind'],
    ['settings', { settings: { url: 'x' } }, '/settings'],
    ['an old field', { defaultContract: {} }, '/defaultContract'],
    ['a private address', { endpoint: { url: 'http://10.0.0.1/' } }, '/endpoint/url'],
    ['no summary', { summary: undefined }, '/summary'],
  ])('is refused for %s, with its place', async (_, more, pointer) => {
    const { register, agentToken, app } = await serveAgents()
    const refused = await register(writer(address, more), await agentToken())
    expect(refused.status).toBe(422)
    expect(refused.issues?.map((issue) => issue.pointer)).toContain(pointer)
    expect(await app.store.records.registrations.list({})).toEqual([])
  })

  it.each(['', 'two words', 'a\nb', 'schlüssel'])(
    'refuses a bearer token that no header can hold: %j',
    async (bearer) => {
      const { register, agentToken } = await serveAgents()
      const auth = { kind: 'bearer', token: bearer }
      const refused = await register(writer(address, { auth }), await agentToken())
      expect(refused).toMatchObject({ status: 422, issues: [{ pointer: '/auth/token' }] })
    },
  )

  it('refuses names of the server itself, and names of another agent that is alive', async () => {
    const { register, agentToken } = await serveAgents()
    expect(
      await register(writer(address, { capabilityId: 'proviso.answer' }), await agentToken()),
    ).toMatchObject({
      status: 409,
      code: 'capability/taken',
    })
    await register(writer(address), await agentToken())
    expect(await register(writer(address), await agentToken())).toMatchObject({ status: 409 })
  })

  it("lets a capability's token do nothing with another capability", async () => {
    const { register, agentToken, call } = await serveAgents()
    const token = await agentToken('writer.de')
    expect(await register(writer(address), token)).toMatchObject({
      status: 403,
      code: 'capability/forbidden',
    })
    for (const method of ['PATCH', 'DELETE'])
      expect((await call(`${api}/capabilities/writer.en`, { method, token })).status).toBe(403)
  })

  it('has a limit per tenant, which holds back new names and no registered agent', async () => {
    const store = createMemoryStore()
    const { register, agentToken } = await serveAgents({ store })
    const token = await agentToken()
    await register(writer(address), token)
    const [row] = await store.records.registrations.list({})
    for (let n = 1; n < mostPerTenant; n++)
      await store.records.registrations.put({ ...row!, capabilityId: `a.${n}`, payload: {} })
    expect(await register(writer(address, { capabilityId: 'one.more' }), token)).toMatchObject({
      status: 429,
      code: 'capability/limit',
    })
    expect((await register(writer(address), token)).status).toBe('active')
  })

  it('is answered with 404 by a server that takes no agents', async () => {
    const { call } = await serve()
    const response = await call(`${api}/capabilities/register`, { body: writer(address) })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 'agents/off' })
  })
})

describe('staying', () => {
  it('a heartbeat keeps it, silence makes it inactive by the clock of the store, and leaving ends it', async () => {
    let later = 0
    const store = createMemoryStore({ clock: { now: () => Date.now() + later } })
    const { register, agentToken, call, app } = await serveAgents({ store, http: { cacheTtlMs: 5 } })
    const token = await agentToken()
    const path = `${api}/capabilities/writer.en`
    const isPlannable = () => app.capabilities().some(({ capabilityId }) => capabilityId === 'writer.en')
    await register(writer(address, { heartbeat: { intervalSeconds: 10 } }), token)
    later = 29_000
    expect(await (await call(path, { method: 'PATCH', token })).json()).toMatchObject({ status: 'active' })
    later = 58_000
    expect(await (await call(path, { method: 'PATCH', token })).json()).toMatchObject({ status: 'active' })
    later = 90_000
    await until(() => !isPlannable())
    const { capabilities } = (await (
      await call(`${api}/capabilities?status=inactive`)
    ).json()) as unknown as Listed
    expect(capabilities.map(({ capabilityId }) => capabilityId)).toContain('writer.en')
    expect((await call(path, { method: 'PATCH', token, body: {} })).status).toBe(200)
    expect(isPlannable()).toBe(true)
    expect((await call(path, { method: 'DELETE', token })).status).toBe(204)
    expect(isPlannable()).toBe(false)
    expect((await call(path, { method: 'PATCH', token })).status).toBe(404)
  })

  it('is inactive when its time is over, however seldom the store is read, and a heartbeat in time keeps it', async () => {
    const { register, agentToken, call, app } = await serveAgents({ http: { cacheTtlMs: 600_000 } })
    const token = await agentToken()
    const isPlannable = () => app.capabilities().some(({ capabilityId }) => capabilityId === 'writer.en')
    await register(writer(address, { heartbeat: { intervalSeconds: 0.5, timeoutSeconds: 1.5 } }), token)
    await pause(1_000)
    await call(`${api}/capabilities/writer.en`, { method: 'PATCH', token })
    await pause(1_000)
    expect(isPlannable()).toBe(true)
    await until(() => !isPlannable())
  })

  it('only the token that registered it, or an admin, may keep it or take it away', async () => {
    const { register, agentToken, call } = await serveAgents()
    await register(writer(address), await agentToken())
    const path = `${api}/capabilities/writer.en`
    const otherToken = await agentToken()
    for (const method of ['PATCH', 'DELETE'])
      expect((await call(path, { method, token: otherToken })).status).toBe(403)
    expect((await call(path, { method: 'DELETE' })).status).toBe(204)
  })
})

interface Listed {
  readonly capabilities: readonly { readonly capabilityId: string; readonly [name: string]: unknown }[]
}

describe('being seen', () => {
  it('lists what a tenant can plan with, by words and facets, and never a secret or an address', async () => {
    const { register, agentToken, call, tokenFor } = await serveAgents()
    const token = await agentToken()
    const auth = { kind: 'bearer', token: 'canary-agent-bearer' }
    const { signingKey = '-' } = await register(writer('http://127.0.0.1:4711/secret-path', { auth }), token)
    const list = async (query: string) => {
      const response = await call(`${api}/capabilities${query}`, { token: await tokenFor('caller') })
      return (await response.json()) as unknown as Listed
    }
    const all = await list('')
    expect(all.capabilities).toContainEqual(
      expect.objectContaining({ capabilityId: 'writer.en', source: 'registered', status: 'active' }),
    )
    expect(all.capabilities).toContainEqual(
      expect.objectContaining({ capabilityId: 'proviso.answer', source: 'shared' }),
    )
    for (const secret of [signingKey, 'canary-agent-bearer', '4711', 'secret-path', 'tok_'])
      expect(JSON.stringify(all)).not.toContain(secret)
    const ids = async (query: string) =>
      (await list(query)).capabilities.map(({ capabilityId }) => capabilityId)
    expect(await ids('?facet=copyVariants')).toEqual(['writer.en'])
    expect((await ids('?q=variants%20of%20copy'))[0]).toBe('writer.en')
    expect(await ids('?q=plumbing')).toEqual([])
    expect(await ids('?limit=1')).toHaveLength(1)
  })

  it("a tenant neither sees, plans with, proves with nor calls another tenant's agents", async () => {
    const { register, agentToken, call, app, tokenFor } = await serveAgents()
    const theirs = await agent(json({ copyVariants }))
    await register(writer(theirs.url), await agentToken(undefined, 'acme'))
    const draft = { nodes: [{ id: 'write', capabilityId: 'writer.en', inputs: {} }] }
    const other = await app.run(wanted(), { tenant: 'other', draft })
    expect(other).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    const listed = await (
      await call(`${api}/capabilities`, { token: await tokenFor('caller', 'other') })
    ).text()
    expect(listed).not.toContain('writer.en')
    const proof = (tenant: string) => async () =>
      (await call(`${api}/prove`, { body: wanted(), token: await tokenFor('caller', tenant) })).text()
    expect(await proof('other')()).not.toContain('writer.en')
    expect(await proof('acme')()).toContain('writer.en')
    expect(theirs.received).toEqual([])
    expect(await app.run(wanted(), { tenant: 'acme' })).toMatchObject({
      status: 'completed',
      output: { copyVariants },
    })
    expect(theirs.received).toHaveLength(1)
  })

  it('two tenants may have agents of one name, and each is called for its own', async () => {
    const { register, agentToken, app } = await serveAgents()
    const [one, two] = [await agent(json({ copyVariants })), await agent(json({ copyVariants }))]
    await register(writer(one.url), await agentToken(undefined, 'one'))
    await register(writer(two.url), await agentToken(undefined, 'two'))
    await app.run(wanted(), { tenant: 'two' })
    expect([one.received.length, two.received.length]).toEqual([0, 1])
  })

  it.each(['memory', 'sqlite'])(
    'another app on the store uses it at once, with its address and key, until it is removed (%s)',
    async (name) => {
      const store = name === 'memory' ? createMemoryStore() : await openSqlite()
      const here = await serveAgents({ store })
      const there = await serveAgents({ store })
      const [writing, moved] = [await agent(json({ copyVariants })), await agent(json({ copyVariants }))]
      const token = await here.agentToken()
      const draft = { nodes: [{ id: 'write', capabilityId: 'writer.en' }] }
      await here.register(writer(writing.url), token)
      expect(await there.app.run(wanted())).toMatchObject({ status: 'completed' })
      await here.register(writer(moved.url, { rotateKey: true }), token)
      expect(await there.app.run(wanted(), { draft })).toMatchObject({ status: 'completed' })
      expect([writing.received.length, moved.received.length]).toEqual([1, 1])
      await here.call(`${api}/capabilities/writer.en`, { method: 'DELETE' })
      expect(await there.app.run(wanted(), { draft })).toMatchObject({
        status: 'failed',
        failure: 'plan/rejected',
      })
    },
  )

  it('one that fell silent is used at once by another app when its heartbeat is back', async () => {
    let later = 0
    const store = createMemoryStore({ clock: { now: () => Date.now() + later } })
    const here = await serveAgents({ store })
    const writing = await agent(json({ copyVariants }))
    const token = await here.agentToken()
    await here.register(writer(writing.url, { heartbeat: { intervalSeconds: 10 } }), token)
    later = 31_000
    const there = await serveAgents({ store })
    const draft = { nodes: [{ id: 'write', capabilityId: 'writer.en' }] }
    const listed = await there.call(`${api}/capabilities?status=inactive`)
    expect(await listed.text()).toContain('writer.en')
    expect(await there.app.run(wanted(), { draft })).toMatchObject({ failure: 'plan/rejected' })
    await here.call(`${api}/capabilities/writer.en`, { method: 'PATCH', token })
    expect(await there.app.run(wanted(), { draft })).toMatchObject({ status: 'completed' })
  })
})

describe('how fresh the catalog is', () => {
  it('comes from the environment; the older name of the refresh counts where the newer is absent', async () => {
    expect(readEnv({ FLEX_CAPABILITY_CACHE_TTL_MS: '5', FLEX_CAPABILITY_REFRESH_INTERVAL_MS: '7' })).toEqual({
      capabilityCacheTtlMs: '5',
      capabilityRefreshMs: '7',
    })
    const both = { FLEX_CAPABILITY_SELF_REGISTER_REFRESH_MS: '6', FLEX_CAPABILITY_REFRESH_INTERVAL_MS: '7' }
    expect(readEnv(both).capabilityRefreshMs).toBe('6')
    await expect(createApp({ http: {}, env: { capabilityCacheTtlMs: 'soon' } })).rejects.toThrow(
      'FLEX_CAPABILITY_CACHE_TTL_MS must be a whole number of milliseconds',
    )
  })

  it('a process that learns by itself does so within its time', async () => {
    const store = createMemoryStore()
    const here = await serveAgents({ store })
    const there = await serveAgents({ store, env: { capabilityCacheTtlMs: '5' } })
    await here.register(writer(address), await here.agentToken())
    await until(() => there.app.capabilities().some(({ capabilityId }) => capabilityId === 'writer.en'))
  })

  it('the capabilities of the process itself are renewed by it, and are checked like any other', async () => {
    const { app } = await serveAgents({ env: { capabilityRefreshMs: '5' } })
    const seen = () => app.agents?.registrar.list('default', {})[0]
    const first = seen()
    expect(first?.source).toBe('shared')
    await until(() => (seen()?.lastSeenAt ?? 0) > (first?.lastSeenAt ?? 0))
    const bad = defineCapability({
      capabilityId: 'bad',
      inputContract: ['nothing'],
      outputContract: [],
      run: () => ({}),
    })
    await expect(createApp({ capabilities: [bad], env: {} })).rejects.toThrow('facet "nothing" not found')
  })

  it('without a setting they are renewed every 5 minutes, by the clock of the app (FLEX-95)', async () => {
    const clock = createHandClock()
    const { call } = await serveAgents({ clock, env: {} })
    const seenAt = async () => {
      const { capabilities } = (await (await call(`${api}/capabilities`)).json()) as unknown as Listed
      return capabilities.find(({ capabilityId }) => capabilityId === 'proviso.answer')?.['lastSeenAt']
    }
    const first = await seenAt()
    expect(first).toBeDefined()
    clock.elapse(299_000)
    expect(await seenAt()).toBe(first)
    clock.elapse(2_000)
    expect(await seenAt()).not.toBe(first)
  })

  it('a store that does not answer leaves what was known, is reported, and is asked again', async () => {
    const store = createMemoryStore()
    const { list } = store.records.registrations
    const reported: unknown[] = []
    const { app, register, agentToken } = await serveAgents({
      store,
      http: { cacheTtlMs: 5 },
      onCrash: (_, cause) => reported.push(cause),
    })
    const token = await agentToken()
    await register(writer(address), token)
    const isKnown = () => app.capabilities().some(({ capabilityId }) => capabilityId === 'writer.en')
    Object.assign(store.records.registrations, { list: () => Promise.reject(new Error('The store is away')) })
    await until(() => reported.length > 1)
    expect(isKnown()).toBe(true)
    Object.assign(store.records.registrations, { list })
    await store.records.registrations.remove({ tenant: 'default', capabilityId: 'writer.en' })
    await until(() => !isKnown())
  })
})

/** Looks again with every turn of the clock. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => systemClock.timer(systemClock.now() + 2, resolve))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.timer(systemClock.now() + ms, resolve))
}
