/**
 * What one process registers, every other process on the store uses at once, with default settings: two processes on
 * PostgreSQL, and a request to the second right after the first has answered.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { agent, json } from '../agents/support.ts'
import { api } from '../server/support.ts'
import { type Process, processes } from './serve.ts'

const object = (name: string, type = 'string') => ({
  type: 'object',
  properties: { [name]: { type } },
  required: [name],
})
const registration = (capabilityId: string, url: string, outputContract: unknown) => ({
  capabilityId,
  version: '1',
  displayName: capabilityId,
  summary: `Supplies ${capabilityId}`,
  inputContract: { type: 'object' },
  outputContract,
  endpoint: { url },
})
const envelope = (schema: object) => ({ objective: 'One line', outputContract: { schema } })
const draft = (capabilityId: string) => ({ nodes: [{ id: 'only', capabilityId }] })

interface Ended {
  readonly status: string
  readonly output?: unknown
  readonly error?: { readonly type: string }
}

describe.skipIf(missingPostgres() !== undefined)('two processes', { timeout: 120_000 }, () => {
  const here = processes()
  let one: Process
  let other: Process
  beforeAll(async () => {
    one = await here.serve()
    other = await here.serve()
  })
  afterAll(async () => {
    for (const each of [one, other]) each.kill('SIGKILL')
    await Promise.all([one.ended, other.ended])
  })
  const failed: string[] = []
  afterEach(() => expect(failed.splice(0)).toEqual([]))

  const run = async (at: Process, body: unknown) =>
    (await (await at.call(`${api}/runs?wait=60`, body)).json()) as Ended
  const register = async (at: Process, body: unknown) => {
    const response = await at.call(`${api}/capabilities/register`, body)
    if (!response.ok) failed.push(await response.text())
    return response.status
  }
  const remove = (at: Process, path: string) => fetch(`${at.address}${api}/${path}`, { method: 'DELETE' })

  it('plan and call an agent that the other one has just registered, by search and by draft', async () => {
    const { url } = await agent(json({ line: 'Tea.' }))
    for (let round = 0; round < 10; round++) {
      const [first, second] = round % 2 === 0 ? [one, other] : [other, one]
      const id = `writer.${round}`
      await register(first, registration(id, url, object('line')))
      const body = { envelope: envelope(object('line')), draft: draft(id) }
      expect(await run(second, body)).toMatchObject({ status: 'completed', output: { line: 'Tea.' } })
      expect((await remove(second, `capabilities/${id}`)).status).toBe(204)
      expect(await run(first, body)).toMatchObject({ status: 'failed', error: { type: 'PLAN_REJECTED' } })
    }
    await register(one, registration('writer.found', url, object('line')))
    expect(await run(other, { envelope: envelope(object('line')) })).toMatchObject({
      status: 'completed',
      output: { line: 'Tea.' },
    })
    await remove(one, 'capabilities/writer.found')
  })

  it('prove with the contract that an agent has now, and call it at its new address', async () => {
    const [old, moved] = [await agent(json({ line: 'Tea.' })), await agent(json({ count: 3 }))]
    const body = { envelope: envelope(object('line')), draft: draft('changing') }
    await register(one, registration('changing', old.url, object('line')))
    expect(await run(other, body)).toMatchObject({ status: 'completed' })
    await register(one, registration('changing', moved.url, object('count', 'integer')))
    expect(await run(other, body)).toMatchObject({ status: 'failed', error: { type: 'PLAN_REJECTED' } })
    const next = { envelope: envelope(object('count', 'integer')), draft: draft('changing') }
    expect(await run(other, next)).toMatchObject({ status: 'completed', output: { count: 3 } })
    expect([old.received.length, moved.received.length]).toEqual([1, 1])
  })

  it('register and plan with a facet that the other one has just defined', async () => {
    const { url } = await agent(json({ mood: 'calm' }))
    const mood = {
      name: 'mood',
      title: 'Mood',
      description: 'How it should feel',
      schema: { type: 'string', enum: ['calm', 'loud'] },
      semantics: { instruction: 'Write so' },
      metadata: { version: 'v1', direction: 'bidirectional' },
    }
    expect((await one.call(`${api}/facets`, mood)).status).toBe(201)
    expect(await register(other, registration('mood.finder', url, ['mood']))).toBe(201)
    const body = { envelope: envelope(object('mood')), draft: draft('mood.finder') }
    expect(await run(one, body)).toMatchObject({ status: 'completed', output: { mood: 'calm' } })
    const listed = await (await one.call(`${api}/capabilities?q=mood`)).text()
    expect(listed).toContain('mood.finder')
  })

  it('notify a webhook that the other one has just added', async () => {
    const hook = await agent(json({}))
    const created = await one.call(`${api}/webhooks`, { url: hook.url, events: ['run.ended'] })
    const { webhookId } = (await created.json()) as { webhookId: string }
    expect(created.status).toBe(201)
    const { url } = await agent(json({ line: 'Tea.' }))
    await register(one, registration('noticed', url, object('line')))
    await run(other, { envelope: envelope(object('line')), draft: draft('noticed') })
    await expect.poll(() => hook.received.length, { interval: 20, timeout: 20_000 }).toBe(1)
    await remove(other, `webhooks/${webhookId}`)
  })
})
