/** Facets of a tenant: defined over HTTP, used by plans and registrations at once, and invisible to other tenants. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { api, type Body, local, type Served, serve } from './support.ts'

const mood = {
  name: 'mood',
  title: 'Mood',
  description: 'How it should feel',
  schema: { type: 'string', enum: ['calm', 'loud'] },
  semantics: { instruction: 'Write so' },
  metadata: { version: 'v1', direction: 'bidirectional' },
}
const agent = {
  capabilityId: 'mood.finder',
  version: '1',
  displayName: 'Finder',
  summary: 'Finds the mood',
  inputContract: { type: 'object' },
  outputContract: ['mood'],
  endpoint: { url: 'http://127.0.0.1:9/' },
}
const options = {
  capabilities: [local('write', () => ({ text: 'Tea' }))],
  http: { allowLoopback: true },
}
const define = ({ call }: Served, body: unknown, token?: string) =>
  call(`${api}/facets`, { body, ...(token !== undefined && { token }) })
const codeOf = async (response: { status: number; json(): Promise<Body> }) => [
  response.status,
  (await response.json()).code,
]
const prove = {
  envelope: {
    objective: 'Find the mood',
    outputContract: { schema: { type: 'object', properties: { mood: mood.schema }, required: ['mood'] } },
  },
}

it('is used by registrations and plans at once, and only by its own tenant', async () => {
  const served = await serve(options)
  const { call, tokenFor } = served
  const other = await tokenFor('admin', 'other')
  const register = (token?: string) =>
    call(`${api}/capabilities/register`, { body: agent, ...(token !== undefined && { token }) })
  expect((await register()).status, 'the facet does not exist yet').toBe(422)
  expect((await define(served, mood)).status).toBe(201)
  expect((await define(served, mood)).status, 'the same again').toBe(200)
  expect((await register()).status).toBe(201)
  expect((await (await call(`${api}/prove`, { body: prove })).json()).accepted).toBe(true)
  expect((await register(other)).status, 'another tenant does not have it').toBe(422)
  const names = async (token?: string) => {
    const response = await call(`${api}/facets`, token === undefined ? {} : { token })
    const { facets } = (await response.json()) as unknown as { facets: { name: string; source: string }[] }
    return facets.filter(({ source }) => source === 'tenant').map(({ name }) => name)
  }
  expect([await names(), await names(other)]).toEqual([['mood'], []])
})

it('cannot be changed, take the name of a shared one, or be deleted while it is used', async () => {
  const served = await serve(options)
  const { call } = served
  await define(served, mood)
  expect(await codeOf(await define(served, { ...mood, schema: { type: 'string' } }))).toEqual([
    409,
    'facet/taken',
  ])
  const [shared] = served.app.facets()
  expect(await codeOf(await define(served, { ...mood, name: shared?.name }))).toEqual([409, 'facet/taken'])
  await call(`${api}/capabilities/register`, { body: agent })
  const remove = () => call(`${api}/facets/mood`, { method: 'DELETE' })
  expect(await codeOf(await remove())).toEqual([409, 'facet/in-use'])
  await call(`${api}/capabilities/mood.finder`, { method: 'DELETE' })
  const tone = { ...mood, name: 'tone', metadata: { ...mood.metadata, dependencies: ['mood'] } }
  expect((await define(served, tone)).status).toBe(201)
  expect(await codeOf(await remove())).toEqual([409, 'facet/in-use'])
  await call(`${api}/facets/tone`, { method: 'DELETE' })
  expect((await remove()).status).toBe(204)
  expect(await codeOf(await remove())).toEqual([404, 'facet/unknown'])
  const audit = await (await call(`${api}/audit`)).text()
  for (const action of ['facet.created', 'facet.removed']) expect(audit).toContain(action)
})

it('must be valid and within the limits of untrusted schemas', async () => {
  const served = await serve(options)
  const deep = Array.from({ length: 40 }).reduce<object>((items) => ({ type: 'array', items }), {
    type: 'string',
  })
  const given = [
    [{ ...mood, schema: { type: 'strin' } }, '/schema'],
    [{ ...mood, schema: deep }, '/schema'],
    [{ ...mood, colour: 'red' }, '/colour'],
    [{ ...mood, metadata: { version: 'v1', direction: 'up' } }, '/metadata/direction'],
    [{ ...mood, metadata: { ...mood.metadata, dependencies: ['none'] } }, ''],
  ] as const
  for (const [facet, pointer] of given) {
    const response = await define(served, facet)
    expect(response.status).toBe(422)
    expect((await response.json()).issues[0]?.pointer).toContain(pointer)
  }
})

it('is known to another process on the store, and so is its deletion', async () => {
  const store = createMemoryStore()
  const first = await serve({ ...options, store })
  await define(first, mood)
  const second = await serve({ ...options, store })
  expect(second.app.facets('default').some(({ name }) => name === 'mood')).toBe(true)
  await first.call(`${api}/facets/mood`, { method: 'DELETE' })
  const registered = await second.call(`${api}/capabilities/register`, { body: agent })
  expect(registered.status).toBe(422)
})

it('is limited per tenant: of definitions at the same time no more than the limit stay', async () => {
  const served = await serve(options)
  const { app, call } = served
  for (let n = 1; n < 200; n++) {
    const name = `mood${n}`
    await app.store.records.documents.add({
      kind: 'facet',
      tenant: 'default',
      id: name,
      body: { ...mood, name },
    })
  }
  const names = ['one', 'two', 'three']
  const answers = await Promise.all(
    names.map(async (name) => codeOf(await define(served, { ...mood, name }))),
  )
  expect(answers.filter(([status]) => status === 201).length).toBeLessThanOrEqual(1)
  for (const [status, code] of answers.filter(([each]) => each !== 201))
    expect([status, code]).toEqual([409, 'facet/limit'])
  const { facets } = (await (await call(`${api}/facets`)).json()) as unknown as {
    facets: { name: string; source: string }[]
  }
  expect(facets.filter(({ source }) => source === 'tenant').length).toBeLessThanOrEqual(200)
})
