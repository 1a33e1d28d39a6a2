/** Tasks of people over HTTP: who gets them, who holds them, and what follows a decline or a missed due time. */
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { createToken } from '../../src/server/index.ts'
import { leave } from '../journeys/support.ts'
import { api, envelope, type HttpAnswer, local, type Served, serve, text } from './support.ts'

interface TaskBody {
  readonly requestId: string
  readonly runId: string
  readonly assignee?: string
  readonly claimedBy?: string
  readonly declinedBy?: readonly string[]
  readonly priority: string
  readonly dueAt: string
}

/** A person with a token of the role operator. */
async function person(
  served: Served,
  name: string,
  {
    taskRoles,
    tenant = 'default',
  }: { readonly taskRoles?: readonly string[]; readonly tenant?: string } = {},
) {
  const given = { role: 'operator', tenant, name, ...(taskRoles && { taskRoles }) } as const
  const { token } = await createToken(served.app.store.records.tokens, given)
  const on = (task: { readonly requestId: string }, action: string, body: unknown = {}) =>
    served.call(`${api}/tasks/${encodeURIComponent(task.requestId)}/${action}`, { token, body })
  const list = async (query = '') => {
    const answer = await served.call(`${api}/tasks${query}`, { token })
    return (await answer.json()) as unknown as { readonly tasks: TaskBody[]; readonly next?: string }
  }
  return { token, on, list }
}

const registration = (human: object, more: object = {}) => ({
  capabilityId: 'review',
  version: '1',
  displayName: 'Review',
  summary: 'A person writes the text',
  inputContract: { type: 'object' },
  outputContract: text,
  human,
  ...more,
})

const agents = { http: { allowLoopback: true, clearSecrets: true } }

/** Registers `review` for these people and starts a run of one node, which waits for them. */
async function begin(
  served: Served,
  human: object,
  { token, draft }: { token?: string; draft?: object } = {},
) {
  const who = token === undefined ? {} : { token }
  const made = await served.call(`${api}/capabilities/register`, { ...who, body: registration(human) })
  expect([200, 201]).toContain(made.status)
  return startRun(served, { ...who, ...(draft && { draft }) })
}

async function startRun(served: Served, { token, draft }: { token?: string; draft?: object } = {}) {
  const body = { envelope: envelope(), draft: draft ?? { nodes: [{ id: 'write', capabilityId: 'review' }] } }
  const begun = await served.call(`${api}/runs`, { body, ...(token !== undefined && { token }) })
  const { runId } = await begun.json()
  await served.app.result(runId)
  return runId
}

const problem = async (answer: HttpAnswer) => {
  const { code, detail } = await answer.json()
  return [answer.status, code, detail]
}

describe('tasks', () => {
  it('are claimed by one person at a time, and completed with a valid value', async () => {
    const served = await serve(agents)
    const [ann, ben] = [await person(served, 'ann'), await person(served, 'ben')]
    const runId = await begin(served, { priority: 'high' })
    const { tasks } = await ann.list()
    expect(tasks).toMatchObject([{ runId, status: 'pending', priority: 'high', capabilityId: 'review' }])
    const task = tasks[0]!
    const claimed = await ann.on(task, 'claim')
    expect(await claimed.json()).toMatchObject({ claimedBy: expect.stringMatching(/^ann \(tok_/) })
    expect((await ann.on(task, 'claim')).status, 'again, without effect').toBe(200)
    const held = [409, 'task/claimed', expect.stringContaining('ann')]
    expect(await problem(await ben.on(task, 'claim'))).toEqual(held)
    expect(await problem(await ben.on(task, 'release'))).toEqual(held)
    expect(await problem(await ben.on(task, 'complete', { value: { text: 'Mine' } }))).toEqual(held)
    // The older route has the same rules.
    const { valueHash, requestId } = task as unknown as { valueHash: string; requestId: string }
    const reply = { requestId, valueHash, decision: 'answer', value: { text: 'Mine' } }
    expect((await served.call(`${api}/hitl/resolve`, { token: ben.token, body: reply })).status).toBe(409)
    expect((await ben.list('?filter=available')).tasks).toEqual([])
    expect((await ann.on(task, 'release', { note: 'Later' })).status).toBe(200)
    expect((await ben.on(task, 'claim')).status).toBe(200)
    const invalid = await ben.on(task, 'complete', { value: { text: 5 } })
    expect(invalid.status).toBe(422)
    expect((await invalid.json()).issues[0]?.pointer).toBe('/text')
    const done = await ben.on(task, 'complete', { value: { text: 'Tea' }, note: 'Short' })
    expect(await done.json()).toMatchObject({ status: 'resolved', decision: 'answer', note: 'Short' })
    expect(await served.app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect((await problem(await ann.on(task, 'claim'))).slice(0, 2)).toEqual([409, 'ask/resolved'])
    expect((await ben.list('?status=resolved&filter=mine')).tasks).toHaveLength(1)
    expect((await ann.list('?status=resolved&filter=mine')).tasks).toEqual([])
    const said: string[] = []
    for await (const event of served.app.watch(runId))
      if (event.type === 'hitl_assigned')
        said.push(`${event.payload.change} ${event.payload.by.split(' ')[0]}`)
    expect(said, 'the journal').toEqual(['claimed ann', 'released ann', 'claimed ben'])
  })

  it('are listed, claimed and completed by the client', async () => {
    const served = await serve(agents)
    const runId = await begin(served, { role: 'legal' })
    const { token } = await person(served, 'lea', { taskRoles: ['legal'] })
    const client = createClient({ url: served.address, token })
    const mine = []
    for await (const task of client.tasks.list({ filter: 'role' })) mine.push(task)
    expect(mine).toMatchObject([{ runId, role: 'legal', status: 'pending' }])
    expect((await client.tasks.claim(mine[0]!)).claimedBy).toMatch(/^lea /)
    const max = createClient({ url: served.address, token: (await person(served, 'max')).token })
    await expect(max.tasks.claim(mine[0]!.requestId)).rejects.toMatchObject({
      code: 'task/forbidden',
      status: 403,
    })
    await client.tasks.release(mine[0]!, { note: 'Later' })
    await expect(client.tasks.complete(mine[0]!, { text: 1 })).rejects.toMatchObject({ code: 'ask/invalid' })
    expect((await client.tasks.complete(mine[0]!, { text: 'Fine' })).status).toBe('resolved')
    expect(await served.app.result(runId)).toMatchObject({ output: { text: 'Fine' } })
  })

  it('have one winner of a race to claim', async () => {
    const served = await serve(agents)
    await begin(served, {})
    const people = await Promise.all(['ann', 'ben', 'cleo', 'dan'].map((name) => person(served, name)))
    const task = (await people[0]!.list()).tasks[0]!
    const answers = await Promise.all(people.map(({ on }) => on(task, 'claim')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  })

  it('are for their assignee; declined, they pass to the next, to the role, and then to an alternate', async () => {
    const served = await serve({ ...agents, capabilities: [local('robot', () => ({ text: 'By a robot' }))] })
    const [ann, ben, lea] = [
      await person(served, 'ann'),
      await person(served, 'ben'),
      await person(served, 'lea', { taskRoles: ['legal'] }),
    ]
    await begin(served, { assignee: ['ann', 'ben'], role: 'legal' })
    const task = (await ann.list('?filter=mine')).tasks[0]!
    expect(task.assignee).toBe('ann')
    expect((await ben.list('?filter=mine')).tasks).toEqual([])
    expect((await lea.list('?filter=role')).tasks).toEqual([])
    const forbidden = [403, 'task/forbidden', expect.stringContaining('ann')]
    expect(await problem(await ben.on(task, 'claim'))).toEqual(forbidden)
    expect(await problem(await lea.on(task, 'complete', { value: { text: 'x' } }))).toEqual(forbidden)
    expect(await (await ann.on(task, 'decline', { note: 'On holiday' })).json()).toMatchObject({
      assignee: 'ben',
    })
    expect((await problem(await ann.on(task, 'claim')))[0], 'who has declined').toBe(403)
    await ben.on(task, 'claim')
    const offered = await (await ben.on(task, 'decline')).json()
    expect(offered).toMatchObject({
      role: 'legal',
      declinedBy: [/ann/, /ben/].map((who) => expect.stringMatching(who)),
    })
    expect(offered).not.toHaveProperty('assignee')
    expect((await problem(await (await person(served, 'max')).on(task, 'claim')))[2]).toContain('legal')
    expect((await lea.list('?filter=role')).tasks).toHaveLength(1)
    expect((await lea.on(task, 'complete', { value: { text: 'Fine' } })).status).toBe(200)

    const draft = { nodes: [{ id: 'write', capabilityId: 'review', alternates: ['robot'] }] }
    const runId = await begin(served, { assignee: 'ann' }, { draft })
    const [last] = (await ann.list('?filter=mine')).tasks
    expect((await ann.on(last!, 'decline', { note: 'Not me' })).status).toBe(200)
    expect(await served.app.result(runId)).toMatchObject({ output: { text: 'By a robot' } })
    // Without an alternate the node fails, with the words of the person.
    const failing = await startRun(served)
    await ann.on((await ann.list('?filter=mine')).tasks[0]!, 'decline', { note: 'Not me' })
    expect((await served.app.result(failing)).error?.message).toContain('Not me')
  })

  it('pass to the next person when they are due, and expire after the last', async () => {
    const served = await serve({ ...agents, capabilities: [local('robot', () => ({ text: 'In time' }))] })
    const draft = { nodes: [{ id: 'write', capabilityId: 'review', alternates: ['robot'] }] }
    const runId = await begin(served, { assignee: ['ann', 'ben'], dueSeconds: 0.05 }, { draft })
    const seen: string[] = []
    for await (const event of served.app.watch(runId)) {
      if (event.type === 'hitl_assigned')
        seen.push(`${event.payload.change}: ${event.payload.assignment.assignee}`)
      if (event.type === 'hitl_resolved') seen.push(event.payload.decision)
    }
    expect(seen).toEqual(['overdue: ben', 'expired'])
    expect(await served.app.result(runId)).toMatchObject({ output: { text: 'In time' } })
    expect((await served.app.replay(runId)).differences).toEqual([])
  })

  it('are sorted by priority and paged, and belong to their tenant', async () => {
    const served = await serve(agents)
    const ann = await person(served, 'ann')
    const order = ['normal', 'urgent', 'low', 'high', 'normal']
    for (const priority of order) await begin(served, { priority })
    const paged: string[] = []
    let after = ''
    do {
      const page = await ann.list(`?limit=2${after}`)
      paged.push(...page.tasks.map(({ priority }) => priority))
      after = page.next === undefined ? '' : `&after=${encodeURIComponent(page.next)}`
    } while (after !== '')
    expect(paged).toEqual(['urgent', 'high', 'normal', 'normal', 'low'])
    const eve = await person(served, 'ann', { tenant: 'other' })
    expect((await eve.list()).tasks).toEqual([])
    const foreign = (await ann.list()).tasks[0]!
    for (const action of ['claim', 'release', 'decline'])
      expect((await problem(await eve.on(foreign, action))).slice(0, 2)).toEqual([404, 'ask/unknown'])
  })

  it('keep their holder when the server is restarted, and an admin can release them', async ({
    onTestFinished,
  }) => {
    const { mkdtemp, rm } = await import('node:fs/promises')
    const folder = await mkdtemp('/tmp/tasks-')
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const options = { ...agents, store: `sqlite:${folder}/proviso.db` }
    const first = await serve(options)
    const before = await person(first, 'ann')
    const runId = await begin(first, { assignee: 'ann', dueSeconds: 3_600 })
    await before.on((await before.list()).tasks[0]!, 'claim')
    await first.server.close({ graceMs: 0 })
    await leave(first.app)

    const served = await serve(options)
    const ben = await person(served, 'ben')
    const call = (path: string, body?: unknown) =>
      served.call(`${api}/tasks${path}`, { token: before.token, ...(body !== undefined && { body }) })
    const { tasks } = (await (await call('?filter=mine')).json()) as unknown as { readonly tasks: TaskBody[] }
    expect(tasks).toMatchObject([{ claimedBy: expect.stringMatching(/^ann /) }])
    const path = `/${encodeURIComponent(tasks[0]!.requestId)}`
    expect((await ben.on(tasks[0]!, 'claim')).status).toBe(403)
    const released = await served.call(`${api}/tasks${path}/release`, { body: { note: 'Ann is ill' } })
    expect(await released.json()).not.toHaveProperty('claimedBy')
    expect((await call(`${path}/complete`, { value: { text: 'Back' } })).status).toBe(200)
    expect(await served.app.result(runId)).toMatchObject({ output: { text: 'Back' } })
  })
})

describe('people', () => {
  it('register with the token of an operator, who can register no agent, and need no heartbeat', async () => {
    const served = await serve(agents)
    const ann = await person(served, 'ann')
    const register = (body: object) => served.call(`${api}/capabilities/register`, { token: ann.token, body })
    const made = await register(registration({ assignee: 'ann' }))
    expect(made.status).toBe(201)
    expect(await made.json()).not.toHaveProperty('heartbeat')
    const { human: _, ...agent } = registration({})
    const endpoint = { url: 'http://127.0.0.1:9/' }
    expect((await problem(await register({ ...agent, capabilityId: 'a', endpoint }))).slice(0, 2)).toEqual([
      403,
      'capability/forbidden',
    ])
    const both = await served.call(`${api}/capabilities/register`, {
      body: registration({}, { capabilityId: 'b', endpoint }),
    })
    expect((await both.json()).issues.map(({ pointer }) => pointer)).toContain('/human')
    const wrong = await register(registration({ priority: 'soon', dueSeconds: -1 }))
    expect((await wrong.json()).issues.map(({ pointer }) => pointer).sort()).toEqual([
      '/human/dueSeconds',
      '/human/priority',
    ])
    const removed = await served.call(`${api}/capabilities/review`, { token: ann.token, method: 'DELETE' })
    expect(removed.status).toBe(204)
  })
})
