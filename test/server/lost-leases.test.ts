/** `proviso_leases_lost` counts runs that another process took over, and nothing else. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { ProvisoError, type Store } from '../../src/index.ts'
import { api, local, serve, start } from './support.ts'

const leaseMs = 300
const write = local('write', async () => ({ text: 'Tea' }))

async function serveOn(store: Store, capabilities = [write]) {
  const { call } = await serve({ store, capabilities, leaseMs, pollMs: 20 })
  const count = async () =>
    /^proviso_leases_lost (\d+)$/m.exec(await (await call('/metrics')).text())?.[1] ?? 'absent'
  return { call, count }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('does not count a start that the store refuses', async () => {
  const { call, count } = await serveOn({
    ...createMemoryStore(),
    create: () => Promise.reject(new ProvisoError('store/unavailable', 'The store is down')),
  })
  expect((await call(`${api}/runs`, { body: start() })).status).toBe(503)
  expect(await count()).toBe('0')
})

it('does not count a run that ends while its lease is renewed', async () => {
  const store = createMemoryStore()
  const { call, count } = await serveOn({
    ...store,
    async append(given) {
      const result = await store.append(given)
      // The answer is later than that of a renewal.
      await pause(leaseMs)
      return result
    },
  })
  const frames = await (await call(`${api}/run.stream`, { body: start() })).text()
  expect(frames).toContain('event: complete')
  expect(await count()).toBe('0')
})

it('a process that stood still renews its leases before it claims', async () => {
  const store = createMemoryStore()
  let [claimed, calls] = [0, 0]
  const claim: Store['claim'] = async (given) => {
    const claims = await store.claim(given)
    claimed += claims.length
    return claims
  }
  const blocking = local('write', async () => {
    calls++
    await pause(20)
    const until = Date.now() + 2 * leaseMs
    while (Date.now() < until);
    await pause(leaseMs)
    return { text: 'Tea' }
  })
  const { call, count } = await serveOn({ ...store, claim }, [blocking])
  const frames = await (await call(`${api}/run.stream`, { body: start() })).text()
  expect(frames).toContain('event: complete')
  expect({ claimed, calls, lost: await count() }).toEqual({ claimed: 0, calls: 1, lost: '0' })
})
