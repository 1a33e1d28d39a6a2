/**
 * Processes on one PostgreSQL that poll once an hour: what one of them registers reaches the others by notification alone,
 * and two that lack a capability do not pass its runs back and forth.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { createApp } from '../../src/index.ts'
import { agent, json, serveAgents } from '../agents/support.ts'
import { local, open, text } from '../journeys/support.ts'

const pollMs = 3_600_000
const count = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }
const envelope = (schema: object) => ({ objective: 'One line', outputContract: { schema } }) as never
const draft = (capabilityId: string) => ({ nodes: [{ id: 'only', capabilityId }] })
const registration = (capabilityId: string, url: string, outputContract: object) => ({
  ...{ capabilityId, version: '1', displayName: capabilityId, summary: 'Supplies a line', outputContract },
  inputContract: { type: 'object' },
  endpoint: { url },
})

function signal() {
  let send: () => undefined = () => undefined
  const sent = new Promise<void>((resolve) => {
    send = () => void resolve()
  })
  return { sent, send: () => send() }
}

describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL', { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  }, 60_000)
  afterAll(() => cluster?.stop())

  /** An API process, and workers that wait in `missing` for what they lack; all of them are listening. */
  async function startFleet(workers: number) {
    const shared = {
      env: {},
      store: cluster.url,
      pollMs,
      http: { allowLoopback: true, secretKeys: ['a1'.repeat(32)] },
    }
    const api = await serveAgents({ ...shared, claim: 'none' })
    const missing: string[] = []
    const tea = local('tea', () => ({ text: 'Tea.' }))
    const opened = []
    for (let nth = 0; nth < workers; nth++)
      opened.push(
        await open({
          ...{ ...shared, capabilities: [tea] },
          owner: `worker-${nth}`,
          onMissing: (runId, [id]) => missing.push(`worker-${nth} ${runId} ${id}`),
        }),
      )
    const listening = new Set<number>()
    for (const [nth, worker] of opened.entries()) worker.store.onChange(() => listening.add(nth))
    // Until a process listens, nothing wakes it.
    while (listening.size < workers) {
      await api.app.start(envelope(text), { draft: draft('tea') })
      await new Promise((next) => setTimeout(next, 20))
    }
    return { api, token: await api.agentToken(), missing, workers: opened }
  }

  it('a worker executes with the registration, and with its change, that the API has just accepted', async () => {
    const { api, token } = await startFleet(1)
    const [old, moved] = [await agent(json({ text: 'Tea.' })), await agent(json({ count: 3 }))]
    const run = async (schema: object) =>
      (await api.app.start(envelope(schema), { draft: draft('fresh') })).result()
    await api.register(registration('fresh', old.url, text), token)
    expect(await run(text)).toMatchObject({ status: 'completed', output: { text: 'Tea.' } })
    await api.register(registration('fresh', moved.url, count), token)
    expect(await run(text)).toMatchObject({ status: 'failed' })
    expect(await run(count)).toMatchObject({ status: 'completed', output: { count: 3 } })
    expect([old.received.length, moved.received.length]).toEqual([1, 1])
  })

  it('a run that waits for a capability continues as soon as it is registered at another process', async () => {
    const { api, token, missing, workers } = await startFleet(2)
    const nodes = ['tea', 'later'].map((id) => ({ id, capabilityId: id }))
    const chain = { nodes, edges: [{ from: 'tea', to: 'later' }], output: { node: 'later' } }
    const planned = local('later', () => ({ text: '' }))
    const begun = signal()
    // It knows both steps, and ends before the first one does.
    const first = await createApp({
      ...{ env: {}, store: cluster.url, claim: 'own', pollMs },
      capabilities: [planned, local('tea', () => begun.send() ?? new Promise(() => {}))],
    })
    const { id } = await first.start(envelope(text), { draft: chain })
    await begun.sent
    await first.close({ graceMs: 0 })
    await expect.poll(() => missing.length, { interval: 10, timeout: 20_000 }).toBe(2)
    // Each of these wakes both workers, which must leave the run alone.
    for (let nth = 0; nth < 20; nth++)
      await (await api.app.start(envelope(text), { draft: draft('tea') })).result()
    expect(missing.sort()).toEqual([`worker-0 ${id} later`, `worker-1 ${id} later`])
    const writer = await agent(json({ text: 'Late.' }))
    await api.register(registration('later', writer.url, text), token)
    const [worker] = workers
    expect(await (await worker?.attach(id))?.result()).toMatchObject({
      status: 'completed',
      output: { text: 'Late.' },
    })
  })
})
