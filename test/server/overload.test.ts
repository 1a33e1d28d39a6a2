/** Promises about a server with more requests than it can handle: what is refused and how, and that one tenant does not starve another. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { Clock } from '../../src/index.ts'
import { systemClock } from '../seams/base.ts'
import { api, frames, local, type Served, serve, start, tea } from './support.ts'

/** A store whose new runs wait until the gate opens, and the tenants in the order in which their runs were stored. */
function gatedStore() {
  const store = createMemoryStore()
  const order: string[] = []
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const create: typeof store.create = async (run) => {
    await gate
    order.push(run.tenant)
    return store.create(run)
  }
  return { store: { ...store, create }, order, open }
}

/** Time that a test moves by hand; timers fire in real time. */
function handClock() {
  let now = Date.now()
  const clock: Clock = {
    now: () => now,
    timer: (at, callback) => systemClock.timer(Date.now() + at - now, callback),
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { clock, pass }
}

async function metric({ call }: Served, name: string): Promise<number> {
  const text = await (await call('/metrics')).text()
  return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1])
}

async function until(check: () => Promise<boolean>) {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('requests that wait', () => {
  it('a tenant with one request is served before the queue of a tenant with many', async () => {
    const { store, order, open } = gatedStore()
    const served = await serve({ ...tea, store }, { limits: { handling: 2, queueMs: 60_000, rate: false } })
    const [many, one] = [await served.tokenFor('caller', 'many'), await served.tokenFor('caller', 'one')]
    const begin = (token: string) => served.call(`${api}/runs`, { body: start(), token })
    const first = Array.from({ length: 30 }, () => begin(many))
    await until(async () => (await metric(served, 'proviso_http_waiting')) === 28)
    const second = begin(one)
    await until(async () => (await metric(served, 'proviso_http_waiting')) === 29)
    open()
    expect(new Set((await Promise.all([...first, second])).map(({ status }) => status))).toEqual(
      new Set([202]),
    )
    expect(order).toHaveLength(31)
    // Two were handled already, and the two tenants take turns from then on.
    expect(order.indexOf('one')).toBeLessThanOrEqual(4)
  })

  it('beyond the time that a request may wait, 429 with Retry-After; other tenants still enter', async () => {
    const { store, open } = gatedStore()
    const { clock, pass } = handClock()
    const limits = { handling: 1, queueMs: 30, rate: false } as const
    const served = await serve({ ...tea, store }, { limits, clock })
    const [many, one] = [await served.tokenFor('caller', 'many'), await served.tokenFor('caller', 'one')]
    const begin = (token: string) => served.call(`${api}/runs`, { body: start(), token })
    // One is handled; about a millisecond for each that waits makes thirty.
    const first = Array.from({ length: 40 }, () => begin(many))
    await until(async () => (await metric(served, 'proviso_http_shed{reason="queue"}')) === 9)
    const second = begin(one)
    await until(async () => (await metric(served, 'proviso_http_waiting')) === 31)
    // Control is never refused: an operator can still cancel.
    expect((await served.call(`${api}/runs/none/cancel`, { method: 'POST' })).status).toBe(404)
    pass(61)
    await until(async () => (await metric(served, 'proviso_http_waiting')) === 0)
    open()
    const answers = await Promise.all([...first, second])
    const found: Record<string, number> = {}
    for (const answer of answers) {
      const code = answer.ok ? '202' : `${answer.status} ${(await answer.json()).code}`
      found[code] = (found[code] ?? 0) + 1
      if (!answer.ok) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    expect(found).toEqual({ '202': 1, '429 overload/queue': 9, '503 overload/server': 31 })
  })

  it('an accepted run that is waited for, and a stream, do not hold up others', async () => {
    const never = local('write', () => new Promise(() => {}))
    const { call } = await serve({ capabilities: [never] }, { limits: { handling: 1, queueMs: 60_000 } })
    const waited = call(`${api}/runs?wait=2`, { body: start() })
    const stream = await call(`${api}/run.stream`, { body: start() })
    expect((await call(`${api}/runs`, { body: start() })).status).toBe(202)
    await stream.body?.cancel()
    expect((await waited).status).toBe(202)
  })
})

describe('a late event loop', () => {
  it('refuses new work with 503 and Retry-After until it has caught up; probes and control still answer', async () => {
    const { call } = await serve(tea, { limits: { lagMs: 20 } })
    let busy = true
    const block = () => {
      const end = performance.now() + 150
      while (performance.now() < end);
      if (busy) setImmediate(block)
    }
    block()
    await until(async () => (await call(`${api}/runs`)).status === 503)
    const refused = await call(`${api}/runs`, { body: start() })
    expect([refused.status, (await refused.json()).code]).toEqual([503, 'overload/server'])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await call('/livez')).status).toBe(200)
    expect((await call(`${api}/runs/none/cancel`, { method: 'POST' })).status).toBe(404)
    busy = false
    await until(async () => (await call(`${api}/runs`, { body: start() })).status === 202)
  })
})

describe('quotas of a tenant', () => {
  it.each([
    ['quota/storage', { storedChars: 1_000 }, '`quota.stored_chars`'],
    ['quota/tokens', { dailyTokens: 100 }, '`quota.daily_tokens`'],
    ['quota/spend', { dailyUsd: 0.5 }, '`quota.daily_usd`'],
  ])('%s: what the store has counted of the tenant', async (code, limits, setting) => {
    const used = { stored: 1_000, tokens: 100, costUsd: 0.5 }
    const usage = async ({ tenant }: { tenant: string }) =>
      tenant === 'one' ? used : { stored: 999, tokens: 99, costUsd: 0.49 }
    const { call, tokenFor } = await serve({ ...tea, store: { ...createMemoryStore(), usage } }, { limits })
    const begin = async (tenant: string) =>
      call(`${api}/runs`, { body: start(), token: await tokenFor('caller', tenant) })
    const refused = await begin('one')
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { code, detail: expect.stringContaining(setting) },
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await begin('other')).status).toBe(202)
  })

  it('a store that does not count them is refused at the start', async () => {
    const { usage: _usage, ...store } = createMemoryStore()
    await expect(serve({ ...tea, store }, { limits: { dailyUsd: 1 } })).rejects.toThrow('does not count them')
  })

  it('open streams', async () => {
    const never = local('write', () => new Promise(() => {}))
    const { call, tokenFor } = await serve({ capabilities: [never] }, { limits: { tenantStreams: 1 } })
    const [one, other] = [await tokenFor('caller', 'one'), await tokenFor('caller', 'other')]
    const open = (token: string) => call(`${api}/run.stream`, { body: start(), token })
    const stream = await open(one)
    const refused = await open(one)
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { code: 'quota/streams', detail: expect.stringContaining('`server.tenant_streams`') },
    ])
    const others = await open(other)
    expect(others.status).toBe(200)
    await stream.body?.cancel()
    await others.body?.cancel()
    await until(async () => {
      const again = await open(one)
      await again.body?.cancel()
      return again.status === 200
    })
  })
})

describe('metrics of the server', () => {
  it('are named as documented and move', async () => {
    const served = await serve(tea)
    await frames(await served.call(`${api}/run.stream`, { body: start() }))
    await served.call(`${api}/runs/none`)
    const text = await (await served.call('/metrics')).text()
    const value = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      )
    expect(value('proviso_accept_ms_count')).toBe(1)
    expect(value('proviso_http_request_ms_count{route="/api/v1/flex/runs/:runId",status="4xx"}')).toBe(1)
    expect(value('proviso_store_ms_count{operation="create"}')).toBe(1)
    expect(value('proviso_store_ms_count{operation="append"}')).toBeGreaterThanOrEqual(1)
    for (const name of [
      'proviso_loop_lag_ms{quantile="0.99"}',
      'proviso_loop_lag_ms{quantile="least"}',
      'proviso_http_handling',
      'proviso_http_waiting',
      'proviso_streams_open',
      'proviso_leases_held',
      'proviso_leases_lost',
      'proviso_ask_age_ms',
      'proviso_workers',
      'proviso_workers_busy',
      'proviso_workers_queued',
    ])
      expect(value(name), name).toBeGreaterThanOrEqual(0)
  })
})
