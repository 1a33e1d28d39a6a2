/** T14: who may do what, every role at every route in both tenants, enumerated from the table of routes. */
import { describe, expect, it } from 'vitest'
import { createToken } from '../../src/server/index.ts'
import type { Role } from '../seams/domain.ts'
import { type Asked, api, approved, frames, paused, type Served, serve, start, tea } from './support.ts'

type Right = 'anyone' | Role

interface Row {
  /** Who may, admin included. */
  readonly allowed: readonly Right[]
  /** The status for a caller that has the right, and for a caller of another tenant with the role. */
  readonly own: number
  readonly other: number
  ask(own: Own): { readonly path: string } & Asked
}

/** What the tenant `default` has. */
interface Own {
  readonly running: string
  readonly paused: string
  readonly tokenId: string
  readonly webhookId: string
  readonly request: { readonly requestId: string; readonly valueHash: string }
}

const person = {
  capabilityId: 'writer.en',
  version: '1',
  displayName: 'Writer',
  summary: 'Writes',
  inputContract: ['writerBrief'],
  outputContract: ['copyVariants'],
  human: { role: 'writers' },
}
/** A server that also works with agents. */
const options = { ...tea, http: { allowLoopback: true } }

const everybody = ['caller', 'operator', 'admin'] as const
const post = (path: string, body: unknown) => ({ path: `${api}${path}`, body })

const taskRow = (action: string, body: object): Row => ({
  allowed: ['operator', 'admin'],
  own: 404,
  other: 404,
  ask: ({ request }) => post(`/tasks/${encodeURIComponent(request.requestId)}/${action}`, body),
})

/** One row per operation of the table. A route without a row fails the test below. */
const rights: { readonly [operation: string]: Row } = {
  runStream: { allowed: everybody, own: 200, other: 200, ask: () => post('/run.stream', start()) },
  runResume: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 404,
    ask: (own) => post('/run.resume', { runId: own.paused }),
  },
  createRun: { allowed: everybody, own: 202, other: 202, ask: () => post('/runs', start()) },
  listMemories: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 200,
    ask: () => ({ path: `${api}/memories` }),
  },
  deleteMemory: {
    allowed: ['operator', 'admin'],
    own: 404,
    other: 404,
    ask: () => ({ path: `${api}/memories/none`, method: 'DELETE' }),
  },
  createSchedule: {
    allowed: ['operator', 'admin'],
    own: 201,
    other: 201,
    ask: () => post('/schedules', { cron: '0 7 * * *', ...start() }),
  },
  listSchedules: { allowed: everybody, own: 200, other: 200, ask: () => ({ path: `${api}/schedules` }) },
  showSchedule: {
    allowed: everybody,
    own: 200,
    other: 404,
    ask: () => ({ path: `${api}/schedules/nightly` }),
  },
  changeSchedule: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 404,
    ask: () => ({ path: `${api}/schedules/nightly`, method: 'PATCH', body: { isPaused: true } }),
  },
  deleteSchedule: {
    allowed: ['operator', 'admin'],
    own: 404,
    other: 404,
    ask: () => ({ path: `${api}/schedules/none`, method: 'DELETE' }),
  },
  showStatus: {
    allowed: ['operator', 'admin'],
    own: 200,
    // It covers all tenants.
    other: 403,
    ask: () => ({ path: `${api}/status` }),
  },
  listThreads: { allowed: everybody, own: 200, other: 200, ask: () => ({ path: `${api}/threads` }) },
  showThread: { allowed: everybody, own: 404, other: 404, ask: () => ({ path: `${api}/threads/none` }) },
  addMessage: {
    allowed: everybody,
    own: 202,
    other: 202,
    ask: () => post('/threads/t/messages', { message: 'Tea', ...start() }),
  },
  listRuns: { allowed: everybody, own: 200, other: 200, ask: () => ({ path: `${api}/runs` }) },
  showRun: {
    allowed: everybody,
    own: 200,
    other: 404,
    ask: (own) => ({ path: `${api}/runs/${own.running}` }),
  },
  showOutput: {
    allowed: everybody,
    // It has no answer yet.
    own: 409,
    other: 404,
    ask: (own) => ({ path: `${api}/runs/${own.running}/output` }),
  },
  runEvents: {
    allowed: everybody,
    own: 200,
    other: 404,
    ask: (own) => ({ path: `${api}/runs/${own.running}/events` }),
  },
  cancelRun: {
    allowed: everybody,
    own: 202,
    other: 404,
    ask: (own) => post(`/runs/${own.paused}/cancel`, {}),
  },
  triggerPolicy: {
    allowed: ['operator', 'admin'],
    own: 202,
    other: 404,
    ask: (own) => post(`/runs/${own.paused}/policies/byHand/trigger`, {}),
  },
  listAsks: { allowed: ['operator', 'admin'], own: 200, other: 200, ask: () => ({ path: `${api}/hitl` }) },
  resolveAsk: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 404,
    ask: (own) => post('/hitl/resolve', { ...own.request, decision: 'approve' }),
  },
  resolveAskOldPath: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 404,
    ask: (own) => ({ path: '/api/hitl/resume', body: { ...own.request, decision: 'approve' } }),
  },
  proveEnvelope: { allowed: everybody, own: 200, other: 200, ask: () => post('/prove', start()) },
  getMetrics: { allowed: ['operator', 'admin'], own: 200, other: 403, ask: () => ({ path: '/metrics' }) },
  getOpenApi: { allowed: ['anyone'], own: 200, other: 200, ask: () => ({ path: '/openapi.json' }) },
  // A person; that operators register no agents is in tasks.test.ts.
  registerCapability: {
    allowed: ['agent', 'operator', 'admin'],
    own: 201,
    other: 201,
    ask: () => post('/capabilities/register', person),
  },
  listTasks: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 200,
    ask: () => ({ path: `${api}/tasks?filter=mine` }),
  },
  // The run of this tenant has an ask that is not a task.
  claimTask: taskRow('claim', {}),
  releaseTask: taskRow('release', {}),
  declineTask: taskRow('decline', { note: 'No time' }),
  completeTask: taskRow('complete', { value: 1 }),
  heartbeatCapability: {
    allowed: ['agent', 'operator', 'admin'],
    own: 404,
    other: 404,
    ask: () => ({ path: `${api}/capabilities/none`, method: 'PATCH' }),
  },
  deregisterCapability: {
    allowed: ['agent', 'operator', 'admin'],
    own: 404,
    other: 404,
    ask: () => ({ path: `${api}/capabilities/none`, method: 'DELETE' }),
  },
  showHealth: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 200,
    ask: () => ({ path: `${api}/health` }),
  },
  replayRun: {
    allowed: ['operator', 'admin'],
    own: 200,
    other: 404,
    ask: (own) => post(`/runs/${own.running}/replay`, {}),
  },
  showSignIn: { allowed: ['anyone'], own: 200, other: 200, ask: () => ({ path: `${api}/sign-in` }) },
  signIn: {
    allowed: ['anyone'],
    own: 401,
    other: 401,
    ask: () =>
      post('/sign-in', { code: 'c', codeVerifier: 'v'.repeat(43), redirectUri: 'http://here/sign-in' }),
  },
  showCaller: {
    allowed: [...everybody, 'agent'],
    own: 200,
    other: 200,
    ask: () => ({ path: `${api}/me` }),
  },
  listCapabilities: {
    allowed: [...everybody, 'agent'],
    own: 200,
    other: 200,
    ask: () => ({ path: `${api}/capabilities` }),
  },
  listFacets: {
    allowed: [...everybody, 'agent'],
    own: 200,
    other: 200,
    ask: () => ({ path: `${api}/facets` }),
  },
  createFacet: {
    allowed: ['admin'],
    own: 201,
    other: 201,
    ask: () =>
      post('/facets', { name: 'mood', schema: { type: 'string' }, metadata: { direction: 'input' } }),
  },
  deleteFacet: {
    allowed: ['admin'],
    own: 404,
    other: 404,
    ask: () => ({ path: `${api}/facets/none`, method: 'DELETE' }),
  },
  postCallback: {
    allowed: ['anyone'],
    own: 404,
    other: 404,
    ask: () => post('/callbacks/none', { output: 1 }),
  },
  takeCall: {
    allowed: ['agent', 'admin'],
    own: 404,
    other: 404,
    ask: () => post('/capabilities/none/calls', { waitMs: 0 }),
  },
  renewCall: {
    allowed: ['agent', 'admin'],
    own: 404,
    other: 404,
    ask: () => post('/capabilities/none/calls/none', { delivery: 1 }),
  },
  createToken: {
    allowed: ['admin'],
    own: 201,
    other: 201,
    ask: () => post('/tokens', { role: 'caller', name: 'x' }),
  },
  listTokens: { allowed: ['admin'], own: 200, other: 200, ask: () => ({ path: `${api}/tokens` }) },
  revokeToken: {
    allowed: ['admin'],
    own: 204,
    other: 404,
    ask: ({ tokenId }) => ({ path: `${api}/tokens/${tokenId}`, method: 'DELETE' }),
  },
  rotateToken: {
    allowed: ['admin'],
    own: 201,
    other: 404,
    ask: ({ tokenId }) => post(`/tokens/${tokenId}/rotate`, {}),
  },
  createWebhook: {
    allowed: ['admin'],
    own: 201,
    other: 201,
    ask: () => post('/webhooks', { url: 'http://127.0.0.1:9/' }),
  },
  listWebhooks: { allowed: ['admin'], own: 200, other: 200, ask: () => ({ path: `${api}/webhooks` }) },
  changeWebhook: {
    allowed: ['admin'],
    own: 200,
    other: 404,
    ask: ({ webhookId }) => ({
      path: `${api}/webhooks/${webhookId}`,
      method: 'PATCH',
      body: { isPaused: true },
    }),
  },
  deleteWebhook: {
    allowed: ['admin'],
    own: 204,
    other: 404,
    ask: ({ webhookId }) => ({ path: `${api}/webhooks/${webhookId}`, method: 'DELETE' }),
  },
  listDeliveries: {
    allowed: ['admin'],
    own: 200,
    other: 404,
    ask: ({ webhookId }) => ({ path: `${api}/webhooks/${webhookId}/deliveries` }),
  },
  retryDelivery: {
    allowed: ['admin'],
    // There is no such delivery.
    own: 404,
    other: 404,
    ask: ({ webhookId }) => ({ path: `${api}/webhooks/${webhookId}/deliveries/none/retry`, method: 'POST' }),
  },
  listOperations: { allowed: ['admin'], own: 200, other: 200, ask: () => ({ path: `${api}/audit` }) },
  eraseRuns: {
    allowed: ['admin'],
    own: 409,
    other: 404,
    ask: ({ running }) => post('/erase', { runId: running }),
  },
  resealSecrets: {
    allowed: ['admin'],
    own: 200,
    other: 200,
    ask: () => ({ path: `${api}/secrets/reseal`, method: 'POST' }),
  },
  livez: { allowed: ['anyone'], own: 200, other: 200, ask: () => ({ path: '/livez' }) },
  readyz: { allowed: ['anyone'], own: 200, other: 200, ask: () => ({ path: '/readyz' }) },
}

const byHand = { id: 'byHand', trigger: { kind: 'manual' }, action: { type: 'pause', reason: 'Again' } }

async function own({ call, app }: Served): Promise<Own> {
  const [waiting] = await frames(await call(`${api}/run.stream`, { body: start(approved) }))
  const policies = { runtime: [...paused.policies.runtime, byHand] }
  const [held] = await frames(await call(`${api}/run.stream`, { body: start({ policies }) }))
  const { asks } = await (await call(`${api}/hitl?runId=${waiting!.runId}`)).json()
  const { requestId, valueHash } = asks[0]!
  const { row } = await createToken(app.store.records.tokens, {
    role: 'caller',
    tenant: 'default',
    name: 'old',
  })
  const { envelope } = start()
  await app.schedules.add({ scheduleId: 'nightly', cron: '0 7 * * *', envelope })
  const hook = await app.webhooks!.create({ tenant: 'default', by: 'ann' }, { url: 'http://127.0.0.1:9/' })
  return {
    tokenId: row.tokenId,
    webhookId: hook.webhook.webhookId,
    running: waiting!.runId,
    paused: held!.runId,
    request: { requestId, valueHash },
  }
}

const tokens: readonly ('none' | 'wrong' | Role)[] = ['none', 'wrong', 'caller', 'agent', 'operator', 'admin']

describe('rights', () => {
  it('names every route of the table, and no other', async () => {
    const { server } = await serve(options)
    expect(server.routes.map(({ operation }) => operation).sort()).toEqual(Object.keys(rights).sort())
    for (const route of server.routes) {
      const row = rights[route.operation]!
      const listed = route.roles === 'anyone' ? ['anyone'] : new Set([...route.roles, 'admin'])
      expect([...listed].sort(), route.operation).toEqual([...row.allowed].sort())
    }
  })

  describe.each(Object.keys(rights))('%s', (operation) => {
    const row = rights[operation]!

    const refused = tokens.filter((who) => expected(who, 0) !== 0)
    const accepted = tokens.filter((who) => !refused.includes(who))

    const unlessAnyone = row.allowed.includes('anyone') ? () => {} : it
    unlessAnyone('refuses who has no right to it, and changes nothing', async () => {
      const served = await serve(options)
      const mine = await own(served)
      const before = await journals(served, mine)
      const { path, ...asked } = row.ask(mine)
      for (const who of refused)
        for (const tenant of ['default', 'other']) {
          const response = await served.call(path, { ...asked, token: await tokenOf(served, who, tenant) })
          expect(response.status, `${who} of ${tenant}`).toBe(expected(who, 0))
          const said = await response.text()
          for (const id of [mine.running, mine.paused]) if (!path.includes(id)) expect(said).not.toContain(id)
        }
      expect(await journals(served, mine)).toEqual(before)
    })

    it.each(accepted)('of its own tenant, for the token "%s"', async (who) => {
      const served = await serve(options)
      const mine = await own(served)
      const { path, ...asked } = row.ask(mine)
      const response = await served.call(path, { ...asked, token: await tokenOf(served, who, 'default') })
      expect(response.status).toBe(row.own)
      await response.body?.cancel()
    })

    it.each(accepted)('of another tenant, for the token "%s"', async (who) => {
      const served = await serve(options)
      const theirs = await own(served)
      const before = await journals(served, theirs)
      const { path, ...asked } = row.ask(theirs)
      const response = await served.call(path, { ...asked, token: await tokenOf(served, who, 'other') })
      expect(response.status).toBe(row.other)
      const said = path.includes('run.stream') ? '' : await response.text()
      await response.body?.cancel().catch(() => {})
      // Neither changed nor seen.
      expect(await journals(served, theirs)).toEqual(before)
      if (!said.includes('problem'))
        for (const id of [theirs.running, theirs.paused]) expect(said).not.toContain(id)
    })

    function expected(who: (typeof tokens)[number], status: number): number {
      if (row.allowed.includes('anyone')) return status
      if (who === 'none' || who === 'wrong') return 401
      return row.allowed.includes(who) ? status : 403
    }
  })
})

function tokenOf(
  { tokenFor }: Served,
  who: (typeof tokens)[number],
  tenant: string,
): string | Promise<string> {
  if (who === 'none') return ''
  return who === 'wrong' ? 'pvs_wrong' : tokenFor(who, tenant)
}

async function journals({ app }: Served, { running, paused: held, tokenId }: Own) {
  const tokens = await app.store.records.tokens.list({ tenant: 'default' })
  const token = tokens.find((row) => row.tokenId === tokenId)
  return [await app.store.head(running), await app.store.head(held), token]
}

describe('what is not in the table', () => {
  it.each([
    ['GET', '/', 404],
    ['GET', '/api/v1/flex', 404],
    ['GET', `${api}/run.stream`, 405],
    ['HEAD', `${api}/runs`, 405],
    ['PUT', `${api}/runs`, 405],
    ['DELETE', `${api}/runs/x`, 405],
    ['GET', `${api}/runs/x/../../livez/x`, 404],
    ['GET', '//livez', 404],
  ])('%s %s is not there, for anybody', async (method, path, status) => {
    const { call } = await serve(options)
    for (const token of ['', undefined])
      expect((await call(path, { method, ...(token !== undefined && { token }) })).status).toBe(status)
  })
})

describe('tokens', () => {
  it('that were revoked or ran out are not known any more', async () => {
    const { call, app } = await serve(options)
    const { tokens: kept } = app.store.records
    const short = await createToken(kept, {
      role: 'caller',
      tenant: 'default',
      name: 'a',
      expiresAt: Date.now() - 1,
    })
    const good = await createToken(kept, { role: 'caller', tenant: 'default', name: 'b' })
    expect((await call(`${api}/runs`, { token: short.token })).status).toBe(401)
    expect((await call(`${api}/runs`, { token: good.token })).status).toBe(200)
    await kept.revoke(good.row.tokenId)
    const refused = await call(`${api}/runs`, { token: good.token })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('invalid_token')
  })

  it('have 256 random bits and are kept as a hash only', async () => {
    const { app, tokenFor } = await serve(options)
    const made = await Promise.all(Array.from({ length: 20 }, () => tokenFor('caller')))
    expect(new Set(made).size).toBe(20)
    for (const token of made) expect(token).toMatch(/^pvs_[\w-]{43}$/)
    const rows = JSON.stringify(await app.store.records.tokens.list({}))
    for (const token of made) expect(rows).not.toContain(token)
  })

  it('are refused in the query, where logs would keep them', async () => {
    const { call, tokenFor } = await serve(options)
    expect((await call(`${api}/runs?token=${await tokenFor('caller')}`, { token: '' })).status).toBe(401)
  })
})

it('restricts only tokens of the role agent to one capability', async () => {
  const { call } = await serve()
  const make = (role: Role) => call(`${api}/tokens`, { body: { role, name: 'x', capabilityId: 'writer.en' } })
  expect((await make('agent')).status).toBe(201)
  for (const role of ['caller', 'operator', 'admin'] as const) {
    const response = await make(role)
    expect([response.status, (await response.json()).code]).toEqual([422, 'option/invalid'])
  }
})
