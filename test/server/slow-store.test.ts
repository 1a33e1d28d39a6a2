/** A store that accepts calls and never answers: every request is answered with 503 after a lease and five seconds. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { api, local, serve, start } from './support.ts'

it('requests that read or write are refused in time, with and without a token', async () => {
  const store = createMemoryStore()
  const never = new Promise<never>(() => {})
  let isStuck = false
  const stuck = new Set(['read', 'head', 'runs', 'create', 'asks', 'snapshots', 'append', 'claim', 'usage'])
  const hanging = (target: object): object =>
    new Proxy(target, {
      get(inner, name) {
        const value = Reflect.get(inner, name)
        if (name === 'records')
          return { ...value, tokens: allHanging(value.tokens), once: allHanging(value.once) }
        return stuck.has(String(name))
          ? (...given: unknown[]) => (isStuck ? never : (value as (...all: unknown[]) => unknown)(...given))
          : value
      },
    })
  const allHanging = (target: Record<string, (...given: unknown[]) => unknown>) =>
    Object.fromEntries(
      Object.entries(target).map(([name, value]) => [
        name,
        (...given: unknown[]) => (isStuck ? never : value(...given)),
      ]),
    )
  const { app, call, address } = await serve({
    store: hanging(store) as typeof store,
    capabilities: [local('write', async () => ({ text: 'tea' }))],
    leaseMs: 100,
  })
  const begun = await call(`${api}/runs?wait=10`, { body: start() })
  const { runId } = (await begun.json()) as { runId: string }
  expect((await app.store.head(runId))?.status).toBe('completed')

  isStuck = true
  const asked = performance.now()
  const run = `${api}/runs/${runId}`
  const responses = await Promise.all([
    call(run),
    call(`${api}/runs`),
    call(`${run}/events`),
    call(`${run}/events`, { headers: { accept: 'text/event-stream' } }),
    call(`${run}/cancel`, { method: 'POST' }),
    call(`${api}/hitl`),
    call(`${api}/runs`, { body: start() }),
    call(`${api}/runs`, { body: start(), headers: { 'idempotency-key': 'one' } }),
    fetch(`${address}${api}/runs`, { headers: { authorization: `Bearer pvs_${'a'.repeat(43)}` } }),
  ])
  const answers = await Promise.all(
    responses.map(async (each) => [each.status, ((await each.json()) as { code: string }).code]),
  )
  expect(answers).toEqual(answers.map(() => [503, 'store/unavailable']))
  expect(performance.now() - asked).toBeGreaterThan(5_000)
  isStuck = false
  expect((await call(run)).status).toBe(200)
})
