/** Which process executes a run, and in which order: labels of workers, and priorities, on one PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { local, open, text } from '../journeys/support.ts'

const envelope = (constraints: { readonly [name: string]: unknown }) => ({
  objective: 'Answer',
  constraints,
  outputContract: { schema: text },
})
const bound = {
  nodes: [{ id: 'write', capabilityId: 'write', inputs: { priority: { envelope: '/inputs/priority' } } }],
}
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }

describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL', { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  }, 60_000)
  afterAll(() => cluster?.stop())

  const shared = () => ({ env: {}, store: cluster.url })

  it('a run is executed by a worker that has all labels of its placement', async () => {
    const worker = (owner: string, labels?: { readonly [name: string]: string }) =>
      open({
        ...{ ...shared(), owner, pollMs: 20, ...(labels && { labels }) },
        capabilities: [local('write', () => ({ text: owner }))],
      })
    const plain = await worker('plain')
    await worker('eu', { region: 'eu' })
    const start = (placement?: { readonly [name: string]: string }) =>
      plain.start(envelope(placement ? { placement } : {}), { draft })
    const answers = async (placement?: { readonly [name: string]: string }) => {
      const runs = await Promise.all(Array.from({ length: 5 }, () => start(placement)))
      const results = await Promise.all(runs.map((run) => run.result()))
      return [...new Set(results.map((result) => result.status === 'completed' && result.output.text))]
    }
    expect(await answers({ region: 'eu' })).toEqual(['eu'])
    expect(await answers()).toEqual(['plain'])
    const waiting = await start({ region: 'eu', gpu: 'yes' })
    // It has waited while both polled and executed other runs.
    await answers({ region: 'eu' })
    expect(await plain.store.head(waiting.id)).toMatchObject({ seq: 1, placement: 'gpu=yes,region=eu' })
    await worker('both', { gpu: 'yes', region: 'eu', zone: '1' })
    expect(await waiting.result()).toMatchObject({ output: { text: 'both' } })
  })

  it('a run that no worker has the labels for can be cancelled', async () => {
    const api = await open({ ...shared(), claim: 'none' })
    await open({ ...shared(), pollMs: 20, capabilities: [local('write', () => ({ text: '' }))] })
    const run = await api.start(envelope({ placement: { region: 'misspelled' } }), { draft })
    await run.cancel({ by: 'ann' })
    expect(await run.result()).toMatchObject({ status: 'cancelled' })
  })

  it('a worker takes runs of high priority first, also from a backlog that it has begun', async () => {
    const api = await open({ ...shared(), claim: 'none' })
    const order: string[] = []
    const ids: string[] = []
    const begin = async (priority: string, count: number) => {
      for (let nth = 0; nth < count; nth++) {
        const { id } = await api.start({ ...envelope({ priority }), inputs: { priority } }, { draft: bound })
        ids.push(id)
      }
    }
    await begin('low', 3)
    await begin('normal', 100)
    await begin('high', 3)
    let late: Promise<void> | undefined
    const write = local('write', async ({ priority }) => {
      order.push(String(priority))
      // Three more arrive when the backlog is under way: of a hundred, most are still in the store.
      if (order.length === 10) late = begin('high', 3)
      await late
      return { text: '' }
    })
    const worker = await open({ ...shared(), capabilities: [write], pollMs: 20, limits: { process: 1 } })
    while (order.length < 109) await new Promise((next) => setTimeout(next, 20))
    for (const id of ids) await (await worker.attach(id)).result()
    expect(order.slice(0, 3)).toEqual(['high', 'high', 'high'])
    expect(order.slice(-3)).toEqual(['low', 'low', 'low'])
    const lateOnes = order.flatMap((priority, at) => (priority === 'high' && at >= 3 ? [at] : []))
    expect(lateOnes).toHaveLength(3)
    // Only what the worker had claimed by then comes first: without a priority they would be the last before the low ones.
    expect(Math.max(...lateOnes)).toBeLessThan(100)
  })
})
