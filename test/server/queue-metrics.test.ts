/** Gauges of the store and the fleet show the moment of the scrape, not that of the scrape before; the status names what stuck runs need. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { api, local, serve, start } from './support.ts'

async function scrape(call: Awaited<ReturnType<typeof serve>>['call'], gauge: string): Promise<number> {
  const text = await (await call('/metrics')).text()
  const line = text.split('\n').find((each) => each.startsWith(`${gauge} `))
  return Number(line?.slice(gauge.length))
}

it('the first scrape shows how long the oldest due run waits', async () => {
  let passed = 0
  const clock = { ...systemClock, now: () => systemClock.now() + passed }
  const { call } = await serve({ claim: 'none', store: createMemoryStore({ clock }) })
  await call(`${api}/runs`, { body: start() })
  passed = 60_000
  expect(await scrape(call, 'proviso_queue_lag_ms')).toBeGreaterThanOrEqual(60_000)
  expect(await scrape(call, 'proviso_runs_due')).toBe(1)
})

it('the first scrape shows the permits that are held', async () => {
  let begin = () => {}
  let answer = (_output: { text: string }) => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const write = local('write', () => {
    begin()
    return new Promise<{ text: string }>((resolve) => {
      answer = resolve
    })
  })
  const { call } = await serve({
    capabilities: [write],
    limits: { fleet: { capabilities: { write: { concurrency: 1 } } } },
  })
  await call(`${api}/runs`, { body: start() })
  await begun
  expect(await scrape(call, 'proviso_limit_permits{limit="capabilities/write",state="held"}')).toBe(1)
  answer({ text: 'Tea' })
})

it('the status names the labels that a stuck run waits for', async () => {
  let passed = 0
  const clock = { ...systemClock, now: () => systemClock.now() + passed }
  const { call } = await serve({ claim: 'none', store: createMemoryStore({ clock }) })
  await call(`${api}/runs`, { body: start({ constraints: { placement: { region: 'eu' } } }) })
  passed = 120_000
  const { stuck } = JSON.parse(await (await call(`${api}/status`)).text())
  expect(stuck).toMatchObject([{ why: 'due', placement: 'region=eu' }])
})
