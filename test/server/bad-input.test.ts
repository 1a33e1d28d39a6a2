/** Promises about requests that are wrong: at every route and for every mistake, a problem says what, where and what to do; never 500. */
import { describe, expect, it } from 'vitest'
import { type Route, sandboxRoutes } from '../../src/server/index.ts'
import { agent, serveAgents, status, wanted, writer, writing } from '../agents/support.ts'
import { signatureHeaders } from '../seams/agents.ts'
import { isObject, own } from '../seams/base.ts'
import { compileSchema } from '../seams/schema.ts'
import { problemSchema } from '../seams/server.ts'
import { type Asked, api, type Body, local, serve, start, tea, teaDraft } from './support.ts'

const traceId = 'c'.repeat(32)
const traceparent = `00-${traceId}-${'d'.repeat(16)}-01`
/** Bodies here are at most this long where a route has no limit of its own. */
const bodyBytes = 2_000

const routes = sandboxRoutes({
  generate: () => {
    throw new Error('No request that is wrong comes to the model')
  },
})

/** Every route there is, on one server whose internal errors fail the test. */
async function everyRoute() {
  const mishaps: unknown[] = []
  const served = await serveAgents(
    { capabilities: tea.capabilities },
    { routes, limits: { bodyBytes, rate: false }, onError: (cause) => mishaps.push(cause) },
  )
  const { server, call } = served
  const callback = await acceptedCall(served)
  /** With ids that do not exist, but for a callback: its body is only read if the call exists. */
  const pathOf = (route: Route) => (route.checkHead ? callback : missingPathOf(route))
  const refused = async (path: string, asked: Asked, status: number) => {
    const headers = { ...signed(), ...asked.headers, traceparent }
    const response = await call(path, { ...asked, headers })
    const said = (await response.json()) as Body & { hint: string }
    const what = `${asked.method} ${path}: ${response.status} ${JSON.stringify(said)}`
    expect(response.status, what).toBe(status)
    expect(response.headers.get('content-type'), what).toMatch(/^application\/problem\+json/)
    expect(compileSchema(problemSchema).validate(said), what).toEqual([])
    expect(said, what).toMatchObject({ status, traceId, code: expect.stringMatching(/^\w+\/[\w-]+$/) })
    expect(said.hint.length, what).toBeGreaterThan(10)
    expect(JSON.stringify(said), what).not.toMatch(/node_modules|\bat .*\.ts|src\//)
    expect(mishaps, what).toEqual([])
    return { said, response }
  }
  return { routes: server.routes, refused, pathOf }
}

/** Starts a call that its agent accepts and does not answer; returns the path of its callback. */
async function acceptedCall({ register, agentToken, app }: Awaited<ReturnType<typeof serveAgents>>) {
  let accept = (_path: string) => {}
  const accepted = new Promise<string>((resolve) => {
    accept = resolve
  })
  const later = await agent((response, received) => {
    status(202)(response, received)
    accept(new URL(later.received[0]?.call.callbackUrl ?? '').pathname)
  })
  await register(writer(later.url), await agentToken())
  await app.start(wanted(), { draft: writing({}) })
  return accepted
}

/** Headers of a signature that may be valid: whether it is, depends on the body. */
const signed = () => ({
  [signatureHeaders.timestamp]: String(Math.floor(Date.now() / 1_000)),
  [signatureHeaders.nonce]: 'a-nonce-of-this-test',
  [signatureHeaders.signature]: `v1=${'a'.repeat(64)}`,
})

const missingPathOf = ({ path }: Route) => path.replaceAll(/:\w+/g, 'none')
const pointers = ({ issues }: Body) => (issues ?? []).map(({ pointer }) => pointer)

/** What a route takes, but for the ids in its path. */
const acceptable: { readonly [operation: string]: unknown } = {
  respondInSandboxConversation: { message: 'Tea' },
  postCallback: { output: 1 },
  takeCall: { waitMs: 0 },
  renewCall: { delivery: 1 },
  registerCapability: writer('http://127.0.0.1:9/'),
  completeTask: { value: 1 },
  changeWebhook: { isPaused: true },
  changeSchedule: { isPaused: true },
  createFacet: {
    name: 'mood',
    title: 'Mood',
    description: 'How the text feels',
    schema: { type: 'string' },
    metadata: { version: 'v1', direction: 'bidirectional' },
  },
}

/** A value that a schema does not take, with the member that is wrong; `undefined` where it takes everything. */
function wrongFor(schema: unknown): unknown {
  if (!isObject(schema)) return undefined
  const types = [own(schema, 'type') ?? []].flat()
  if (types.includes('string') || isList(own(schema, 'enum')) || own(schema, 'const') !== undefined)
    return [7]
  if (types.length === 0)
    return isList(own(schema, 'anyOf')) || isList(own(schema, 'oneOf')) ? 7.5 : undefined
  return types.includes('object') || types.includes('array') ? 7.5 : 'text'
}

const isList = (value: unknown) => Array.isArray(value)

function membersOf({ body }: Route): [name: string, schema: unknown][] {
  if (!isObject(body)) return []
  const forms = [body, ...(isList(own(body, 'anyOf')) ? (own(body, 'anyOf') as unknown[]) : [])]
  return forms.flatMap((form) => {
    const members = isObject(form) ? own(form, 'properties') : undefined
    return isObject(members) ? Object.entries(members) : []
  })
}

describe('at every route', () => {
  it('a body that is no JSON, too deep, or would change prototypes is unreadable', async () => {
    const { routes, refused, pathOf } = await everyRoute()
    const bodies = ['{"a": ', '{"__proto__": {"a": 1}}', `${'['.repeat(300)}${']'.repeat(300)}`, '\u0000']
    for (const route of routes.filter(({ body }) => body !== undefined))
      for (const body of bodies) {
        const { said } = await refused(pathOf(route), { method: route.method, body }, 400)
        expect(said.code).toBe('request/unreadable')
        expect(pointers(said)).toEqual([''])
      }
  })

  it('a body of another type, and each member of another type, is located', async () => {
    const { routes, refused, pathOf } = await everyRoute()
    let members = 0
    for (const route of routes.filter(({ body }) => body !== undefined)) {
      const asked = { method: route.method }
      const { said } = await refused(pathOf(route), { ...asked, body: [7] }, 422)
      expect([said.code, pointers(said)[0]], route.operation).toEqual(['request/invalid', ''])
      for (const [name, schema] of membersOf(route)) {
        const wrong = wrongFor(schema)
        if (wrong === undefined) continue
        const { said: located } = await refused(pathOf(route), { ...asked, body: { [name]: wrong } }, 422)
        expect(
          pointers(located).some((pointer) => pointer.startsWith(`/${name}`)),
          `${route.operation} ${name}: ${JSON.stringify(located)}`,
        ).toBe(true)
        members++
      }
    }
    expect(members).toBeGreaterThan(40)
  })

  it('an unknown member is located, where a body is closed', async () => {
    const { routes, refused, pathOf } = await everyRoute()
    for (const route of routes.filter(({ body }) => body !== undefined)) {
      const body = { ...(acceptable[route.operation] as object), somethingElse: 1 }
      const { said } = await refused(pathOf(route), { method: route.method, body }, 422)
      expect(pointers(said), route.operation).toContain('/somethingElse')
    }
  })

  it('a body where none is expected is refused', async () => {
    const { routes, refused, pathOf } = await everyRoute()
    for (const route of routes.filter(({ body, method }) => body === undefined && method !== 'GET')) {
      const { said } = await refused(pathOf(route), { method: route.method, body: { a: 1 } }, 422)
      expect(said.detail).toContain('must be empty')
    }
  })

  it('a body that is too large is refused with the limit', async () => {
    const { routes, refused, pathOf } = await everyRoute()
    for (const route of routes.filter(({ method }) => method !== 'GET')) {
      const limit = route.bodyLimit ?? bodyBytes
      const body = { objective: 'x'.repeat(limit) }
      const { said } = await refused(pathOf(route), { method: route.method, body }, 413)
      expect(said).toMatchObject({
        code: 'request/too-large',
        detail: expect.stringContaining(`${limit} bytes`),
      })
    }
  })

  it('a body that is not called JSON is refused', async () => {
    const { routes, refused, pathOf } = await everyRoute()
    const headers = { 'content-type': 'text/plain' }
    for (const route of routes.filter(({ method }) => method !== 'GET')) {
      const { said } = await refused(pathOf(route), { method: route.method, body: 'x', headers }, 415)
      expect(said.code).toBe('request/media-type')
    }
  })

  it('an unknown word in the query is located', async () => {
    const { routes, refused, pathOf } = await everyRoute()
    for (const route of routes) {
      const body = acceptable[route.operation]
      const asked = { method: route.method, ...(body !== undefined && { body }) }
      const { said } = await refused(`${pathOf(route)}?odd=1`, asked, 400)
      expect([said.code, pointers(said)], route.operation).toEqual(['request/unreadable', ['/odd']])
    }
  })

  it('an id that is not there is not found, and one that cannot be is unreadable', async () => {
    const { routes, refused } = await everyRoute()
    // A message to a thread that is not there begins it.
    const named = routes.filter(({ path, operation }) => path.includes(':') && operation !== 'addMessage')
    for (const route of named) {
      const body = acceptable[route.operation]
      const asked = { method: route.method, ...(body !== undefined && { body }) }
      const { said } = await refused(missingPathOf(route), asked, 404)
      expect(said.code, route.operation).toMatch(/\/(missing|unknown|unregistered)$/)
      const long = route.path.replaceAll(/:\w+/g, 'x'.repeat(600))
      await refused(long, asked, 400)
      const broken = route.path.replaceAll(/:\w+/g, '%ff%')
      expect((await refused(broken, asked, 400)).said.code).toBe('request/unreadable')
    }
  })

  it('another method gets the list of methods', async () => {
    const { routes, refused } = await everyRoute()
    for (const { path } of routes) {
      const at = path.replaceAll(/:\w+/g, 'none')
      const allowed = routes.filter((route) => route.path === path).map(({ method }) => method)
      for (const method of ['PUT', 'GET', 'POST', 'PATCH', 'DELETE']) {
        // `register` is a name that a capability might have.
        if (allowed.includes(method as Route['method']) || path.endsWith('/register')) continue
        const { said, response } = await refused(at, { method }, 405)
        expect(said.code).toBe('request/method')
        expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual(allowed.toSorted())
      }
    }
  })
})

it('an unknown path is not found, and says where the others are', async () => {
  const { refused } = await everyRoute()
  for (const path of ['/', '/api', `${api}/nothing`, `${api}/runs/a/b/c`, '/livez/']) {
    const { said } = await refused(path, { method: 'GET' }, 404)
    expect([said.code, said.hint]).toEqual(['route/missing', expect.stringContaining('/openapi.json')])
  }
})

it('ids in bodies and queries that are not there are not found', async () => {
  const { refused } = await everyRoute()
  const post = (path: string, body: unknown) => refused(`${api}/${path}`, { method: 'POST', body }, 404)
  const get = (path: string) => refused(`${api}/${path}`, { method: 'GET' }, 404)
  const resumeRunId = 'flex_none'
  const codes = [
    await post('run.resume', { runId: 'flex_none' }),
    await post('run.resume', { runId: 'flex_none', payload: { nodeId: 'n', output: 1 } }),
    await post('run.stream', start({ constraints: { resumeRunId } })),
    await post('hitl/resolve', { requestId: 'none', decision: 'approve', valueHash: 'x' }),
    await get('hitl?runId=flex_none'),
    await get('runs?before=flex_none'),
  ].map(({ said }) => said.code)
  expect(codes).toEqual([
    'run/missing',
    'run/missing',
    'run/missing',
    'ask/unknown',
    'run/missing',
    'run/missing',
  ])
})

it('envelopes and drafts that cannot be used are refused at each route that takes them, with every place', async () => {
  const { refused } = await everyRoute()
  for (const path of ['runs', 'run.stream', 'prove']) {
    const at = `${api}/${path}`
    const envelope = await refused(
      at,
      { method: 'POST', body: { objective: 7, outputContract: { schema: 7 } } },
      422,
    )
    expect([envelope.said.code, pointers(envelope.said)]).toEqual([
      'envelope/invalid',
      expect.arrayContaining(['/objective', '/outputContract/schema']),
    ])
    const draft = await refused(at, { method: 'POST', body: start({}, { nodes: [{ id: 7 }] }) }, 422)
    expect([draft.said.code, pointers(draft.said)]).toEqual([
      'draft/invalid',
      expect.arrayContaining(['/nodes/0/id']),
    ])
  }
})

it('headers that cannot be read are refused', async () => {
  const { app, call } = await serve({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
  const { runId } = await app.run(start().envelope, { draft: teaDraft })
  const seen = await call(`${api}/runs/${runId}/events`, { headers: { 'last-event-id': 'seven' } })
  expect([seen.status, (await seen.json()).code]).toEqual([400, 'request/unreadable'])
  const { seq = 0 } = (await app.store.head(runId)) ?? {}
  for (const accept of ['application/json', 'text/event-stream']) {
    const asked = { headers: { accept } }
    const last = await call(`${api}/runs/${runId}/events?after=${seq}`, asked)
    expect(last.ok).toBe(true)
    const beyond = await call(`${api}/runs/${runId}/events?after=${seq + 1}`, asked)
    expect(beyond.status).toBe(400)
    expect((await beyond.json()).detail).toContain(`at most ${seq}`)
  }
  const headers = { 'idempotency-key': 'k'.repeat(500) }
  const keyed = await call(`${api}/runs`, { body: start(), headers })
  expect([keyed.status, (await keyed.json()).code]).toEqual([400, 'request/unreadable'])
})

it('what is wrong with a part of the request is said with its place, also where only the detail is read', async () => {
  const { call } = await serve()
  const query = await (await call(`${api}/runs?limit=many`)).json()
  expect(query.detail).toBe('the query: must be integer, but is the string "many", at /limit')
  const body = await (await call(`${api}/tokens`, { body: { role: 'caller', name: 5 } })).json()
  expect(body.detail).toBe('the body: must be string, but is the integer 5, at /name')
})
