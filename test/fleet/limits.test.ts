/** Limits of all processes together, and circuit breakers: several apps on one PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { type AppOptions, createApp } from '../../src/index.ts'
import { local, open, text } from '../journeys/support.ts'

const envelope = { objective: 'Answer', outputContract: { schema: text } }
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const pause = (ms: number) => new Promise((next) => setTimeout(next, ms))

describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL', { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  }, 60_000)
  afterAll(() => cluster?.stop())

  /** Workers that count what they do at one time, and an API. */
  async function startFleet(size: number, limits: AppOptions['limits'], ms = 20) {
    const shared = { env: {}, store: cluster.url, pollMs: 20 }
    const seen = {
      now: 0,
      most: 0,
      starts: [] as number[],
      order: [] as string[],
      by: new Map<string, number>(),
    }
    const work = (owner: string) => async () => {
      seen.most = Math.max(seen.most, ++seen.now)
      seen.starts.push(Date.now())
      seen.by.set(owner, (seen.by.get(owner) ?? 0) + 1)
      await pause(ms)
      seen.now--
      return { text: owner }
    }
    const api = await open({ ...shared, claim: 'none' })
    const workers = []
    for (let nth = 0; nth < size; nth++) {
      const owner = `w${nth}`
      // Few slots each, so that the work is shared.
      workers.push(
        await open({
          ...{ ...shared, owner, limits: { process: 3, ...limits } },
          capabilities: [local('write', work(owner))],
        }),
      )
    }
    const begin = async (count: number, tenant = 'default') => {
      const runs = await Promise.all(
        Array.from({ length: count }, () => api.start(envelope, { draft, tenant })),
      )
      return Promise.all(
        runs.map(async (run) => {
          const result = await run.result()
          seen.order.push(tenant)
          return result.status
        }),
      )
    }
    return { api, workers, seen, begin }
  }

  it('no more attempts of a capability are made at once than the fleet may, and each process gets its share', async () => {
    const { seen, begin } = await startFleet(
      3,
      { fleet: { capabilities: { write: { concurrency: 2 } } } },
      100,
    )
    expect(new Set(await begin(40))).toEqual(new Set(['completed']))
    expect(seen.most).toBe(2)
    expect(seen.by.size).toBeGreaterThan(1)
  })

  it('a rate is kept by all processes together', async () => {
    const { seen, begin } = await startFleet(2, {
      fleet: { capabilities: { '*': { rate: { count: 10, perMs: 1_000 } } } },
    })
    const begun = Date.now()
    expect(new Set(await begin(30))).toEqual(new Set(['completed']))
    // Ten at once, and then one every tenth of a second at most; clocks of both sides differ by milliseconds.
    for (const [nth, at] of seen.starts.sort().entries())
      expect(at - begun).toBeGreaterThan((nth - 10) * 100 - 50)
  })

  it('a tenant with many runs keeps to its share, and others do not wait for it', async () => {
    const { seen, begin } = await startFleet(2, { fleet: { tenants: { '*': { concurrency: 1 } } } })
    const big = begin(30, 'big')
    await expect.poll(() => seen.starts.length, { interval: 5, timeout: 20_000 }).toBeGreaterThan(1)
    await begin(4, 'small')
    expect(seen.order.filter((tenant) => tenant === 'big').length).toBeLessThan(28)
    await big
    expect(seen.most).toBeLessThanOrEqual(2)
  })

  it('an open circuit sends attempts to their alternate, holds the others back, and closes by a probe', async () => {
    let isUp = false
    const calls: string[] = []
    const shaky: NonNullable<AppOptions['dispatchers']>[number] = {
      kind: 'shaky',
      ...{ remote: false, retries: true },
      async dispatch({ capability: { capabilityId } }) {
        calls.push(capabilityId)
        if (isUp) return { outcome: 'ok', output: { value: { text: 'up' } }, issues: [], usage: { calls: 1 } }
        return { outcome: 'unavailable', issues: [], usage: { calls: 0 } }
      },
    }
    const definition = { inputContract: { type: 'object' }, outputContract: text, idempotent: true } as const
    const app = await open({
      ...{ env: {}, store: cluster.url, dispatchers: [shaky], owner: 'one' },
      limits: { circuits: { failures: 3, openMs: 300 } },
      capabilities: [
        { capability: { ...local('write', () => ({ text: '' })).capability, kind: 'shaky', ...definition } },
        local('other', () => ({ text: 'other' })),
      ],
    })
    const run = async (given: object) =>
      (await app.start(envelope, { draft: given as typeof draft })).result()
    for (let nth = 0; nth < 3; nth++) expect((await run(draft)).status).toBe('failed')
    expect(app.circuits()).toMatchObject([{ name: 'capabilities/write', failures: 3 }])
    const either = { nodes: [{ id: 'write', capabilityId: 'write', alternates: ['other'] }] }
    expect(await run(either)).toMatchObject({ status: 'completed', output: { text: 'other' } })
    expect(calls).toHaveLength(3)
    const waiting = [run(draft), run(draft), run(draft)]
    isUp = true
    for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ output: { text: 'up' } })
    expect([calls.length, app.circuits()]).toEqual([6, []])
  })

  it('misspelled limits are errors with a suggestion', async () => {
    const refused = (limits: unknown) => expect(createApp({ limits } as AppOptions)).rejects
    await refused({ fleet: { capabilites: {} } }).toMatchObject({ hint: 'Did you mean "capabilities"?' })
    await refused({ fleet: { models: { m: { concurency: 1 } } } }).toMatchObject({
      hint: 'Did you mean "concurrency"?',
    })
    await refused({ circuits: { failure: 1 } }).toMatchObject({ hint: 'Did you mean "failures"?' })
  })
})
