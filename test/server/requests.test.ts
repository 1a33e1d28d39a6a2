/** Promises about requests that are wrong, too many or sent twice, and about what leaves with every answer. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { Clock } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { leave } from '../journeys/support.ts'
import { systemClock } from '../seams/base.ts'
import { api, envelope, frames, local, paused, readFrames, serve, start, tea } from './support.ts'

describe('what is no request, or goes wrong here', () => {
  it('bytes that are no HTTP get 400 and the connection ends', async () => {
    const { address } = await serve(tea)
    const said = await speak(address, 'NONSENSE\r\n\r\n')
    expect(said).toMatch(/^HTTP\/1\.1 400 [\s\S]*problem\+json[\s\S]*request\/unreadable/)
    const long = await speak(address, `GET /livez HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(long).toMatch(/^HTTP\/1\.1 (400|431) /)
  })

  it('errors of our own say nothing of what is inside', async () => {
    const store = createMemoryStore()
    const seen: unknown[] = []
    const broken = new Error('SELECT * FROM flex_runs failed at /srv/secret/path')
    let down = true
    const runs = (query: Parameters<typeof store.runs>[0]) =>
      down ? Promise.reject(broken) : store.runs(query)
    const { call } = await serve(
      { ...tea, store: { ...store, runs } },
      { onError: (cause, { traceId }) => seen.push([cause, traceId]) },
    )
    const response = await call(`${api}/runs`, {
      headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
    })
    down = false
    expect(response.status).toBe(500)
    const said = await response.text()
    expect(said).not.toMatch(/SELECT|secret|Error/)
    expect(JSON.parse(said)).toMatchObject({ code: 'internal', traceId: 'a'.repeat(32) })
    expect(seen).toEqual([[broken, 'a'.repeat(32)]])
  })
})

describe('hostile contracts', () => {
  it('a pattern that hangs the native engine for a minute costs nothing, from the proof to the answer', async () => {
    const { call } = await serve({ capabilities: [local('write', () => ({ text: `${'a'.repeat(40)}!` }))] })
    const schema = {
      type: 'object',
      properties: { text: { type: 'string', pattern: '^(a+)+$' } },
      required: ['text'],
    }
    const body = { ...start(), envelope: envelope({ outputContract: { schema } }) }
    const begun = performance.now()
    const done = await call(`${api}/runs?wait=30`, { body })
    expect(await done.json()).toMatchObject({
      status: 'failed',
      error: { details: { code: 'contract/unmet' } },
    })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})

describe('Idempotency-Key', () => {
  const keyed = (body: unknown, key = 'k1') => ({ body, headers: { 'idempotency-key': key } })

  it('gives the first answer again for the same request, and begins one run', async () => {
    const { call, app } = await serve(tea)
    const first = await call(`${api}/runs`, keyed(start()))
    const second = await call(`${api}/runs`, keyed(start()))
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(await second.json()).toEqual(await first.json())
    expect(await app.store.runs({})).toHaveLength(1)
  })

  it('streams the same run again', async () => {
    const { call } = await serve(tea)
    const first = await frames(await call(`${api}/run.stream`, keyed(start())))
    expect(await frames(await call(`${api}/run.stream`, keyed(start())))).toEqual(first)
  })

  it('is refused with another body, and belongs to its tenant and route', async () => {
    const { call, app, tokenFor } = await serve(tea)
    await call(`${api}/runs`, keyed(start()))
    const other = await call(`${api}/runs`, keyed(start({ inputs: { topic: 'coffee' } })))
    expect([other.status, (await other.json()).code]).toEqual([422, 'idempotency/other-body'])
    const token = await tokenFor('caller', 'other')
    expect((await call(`${api}/runs`, { ...keyed(start({ inputs: {} })), token })).status).toBe(202)
    await frames(await call(`${api}/run.stream`, keyed(start({ inputs: {} }))))
    expect(await app.store.runs({})).toHaveLength(3)
  })

  it('a refused request may be tried again with the same key', async () => {
    const { call } = await serve(tea)
    expect((await call(`${api}/runs`, keyed({ objective: 7 }))).status).toBe(422)
    expect((await call(`${api}/runs`, keyed(start()))).status).toBe(202)
  })

  it('while the first request is active a second one waits its turn; what a dead process started is found again', async () => {
    let now = Date.now()
    const store = createMemoryStore({ clock: { now: () => now } })
    // The answers and the renewals of a process that dies do not arrive.
    const once = { ...store.records.once, settle: async () => {}, renew: async () => true }
    const dying = await serve({ ...tea, store: { ...store, records: { ...store.records, once } } })
    const served = await serve({ ...tea, store })
    const first = await (await dying.call(`${api}/runs`, keyed(start()))).json()
    now += 14_999
    const early = await served.call(`${api}/runs`, keyed(start()))
    expect([early.status, (await early.json()).code]).toEqual([409, 'idempotency/in-flight'])
    expect(early.headers.get('retry-after')).toBe('1')
    now += 1
    const late = await served.call(`${api}/runs`, keyed(start()))
    expect([late.status, (await late.json()).runId]).toEqual([202, first.runId])
    expect(await served.app.store.runs({})).toHaveLength(1)
  })

  it('of many at the same moment one begins a run', async () => {
    const { call, app } = await serve(tea)
    const answers = await Promise.all(Array.from({ length: 10 }, () => call(`${api}/runs`, keyed(start()))))
    expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true)
    expect(await app.store.runs({})).toHaveLength(1)
  })

  it('is kept by a store of files as well, also for another process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-keys-'))
    const answers: (string | null)[][] = []
    for (let life = 0; life < 2; life++) {
      const { call, app, server } = await serve({ ...tea, store: `sqlite:${join(folder, 'runs.db')}` })
      const all = await frames(await call(`${api}/run.stream`, keyed(start())))
      const begun = await call(`${api}/runs`, keyed(start()))
      answers.push([all[0]!.runId, (await begun.json()).runId])
      expect(begun.headers.get('idempotency-replayed')).toBe(life === 0 ? null : 'true')
      expect(await app.store.runs({})).toHaveLength(2)
      await server.close({ graceMs: 0 })
      await leave(app)
    }
    expect(answers[1]).toEqual(answers[0])
    rmSync(folder, { recursive: true })
  })

  it('must be one that can be kept', async () => {
    const { call } = await serve(tea)
    expect((await call(`${api}/runs`, keyed(start(), 'x'.repeat(201)))).status).toBe(400)
  })
})

describe('limits', () => {
  it('a token that calls too often learns when to retry; others are not limited', async () => {
    const { call, tokenFor } = await serve(tea, { limits: { rate: { requests: 5, seconds: 60 } } })
    const token = await tokenFor('caller')
    const answers = []
    for (let count = 0; count < 7; count++) answers.push(await call(`${api}/runs`, { token }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(Number(answers[6]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await call(`${api}/runs`)).status).toBe(200)
  })

  it('tokens cannot be tried out', async () => {
    const { call } = await serve(tea, { limits: { failures: { requests: 3, seconds: 60 } } })
    const answers = []
    for (let count = 0; count < 5; count++) answers.push(await call(`${api}/runs`, { token: `pvs_${count}` }))
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429])
  })

  it('a tenant has so many runs under way and no more', async () => {
    const never = local('write', () => new Promise(() => {}))
    const { call, tokenFor } = await serve({ capabilities: [never] }, { limits: { runs: 3 } })
    const answers = []
    for (let count = 0; count < 5; count++) answers.push(await call(`${api}/runs`, { body: start() }))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429])
    expect(await answers[4]?.json()).toMatchObject({
      code: 'quota/runs',
      detail: expect.stringContaining('`server.max_runs`'),
    })
    const token = await tokenFor('caller', 'other')
    expect((await call(`${api}/runs`, { token, body: start() })).status).toBe(202)
  })

  it('runs that have ended make place at once, however many there were', async () => {
    const { call } = await serve(tea, { limits: { runs: 2 }, clock: ticking(60) })
    for (let count = 0; count < 12; count++)
      expect((await call(`${api}/runs?wait=30`, { body: start() })).status).toBe(200)
  })

  it('runs that wait for people are not under way', async () => {
    const { call } = await serve(tea, { limits: { runs: 1 }, clock: ticking(1_000) })
    for (let count = 0; count < 3; count++)
      await frames(await call(`${api}/run.stream`, { body: start(paused) }))
    expect((await call(`${api}/runs`, { body: start() })).status).toBe(202)
  })

  it('so many streams are open and no more; no run begins for one that cannot be', async () => {
    const never = local('write', () => new Promise(() => {}))
    const { call, app, server } = await serve({ capabilities: [never] }, { limits: { streams: 2 } })
    const open = [
      readFrames(await call(`${api}/run.stream`, { body: start() })),
      readFrames(await call(`${api}/run.stream`, { body: start() })),
    ]
    for (const stream of open) await stream.next()
    const refused = await call(`${api}/run.stream`, { body: start() })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    const page = { accept: 'application/json' }
    expect((await call(`${api}/run.stream`, { body: start(), headers: page })).status).toBe(503)
    expect(await app.store.runs({})).toHaveLength(2)
    expect(server.streams).toBe(2)
    // Pages are no streams, and what is not asked for by name is a page.
    const [run] = await app.store.runs({})
    for (const accept of ['application/json', '*/*'])
      expect((await call(`${api}/runs/${run?.runId}/events`, { headers: { accept } })).status).toBe(200)
    for (const stream of open) await stream.return()
  })
})

it('of many streams that are wanted at the same moment as many begin as there are places, and no more runs', async () => {
  const never = local('write', () => new Promise(() => {}))
  const memory = createMemoryStore()
  // Long enough that all of them have come before the first stream is open.
  const create: typeof memory.create = async (run) => {
    await new Promise<void>((resolve) => void systemClock.timer(systemClock.now() + 100, resolve))
    return memory.create(run)
  }
  const store = { ...memory, create }
  const { call, app } = await serve({ capabilities: [never], store }, { limits: { streams: 2 } })
  const all = await Promise.all(Array.from({ length: 8 }, () => call(`${api}/run.stream`, { body: start() })))
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, 200, 503, 503, 503, 503, 503, 503])
  expect(await app.store.runs({})).toHaveLength(2)
  for (const response of all) await response.body?.cancel()
})

describe('browsers', () => {
  const origin = 'https://console.example'

  it('may read answers only from origins on the list, and none by default', async () => {
    const closed = await serve(tea)
    const none = await closed.call(`${api}/runs`, { headers: { origin } })
    expect(none.headers.get('access-control-allow-origin')).toBeNull()
    const { call } = await serve(tea, { cors: [origin] })
    const listed = await call(`${api}/runs`, { headers: { origin } })
    expect(listed.headers.get('access-control-allow-origin')).toBe(origin)
    const other = await call(`${api}/runs`, { headers: { origin: 'https://evil.example' } })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
    const preflight = await call(`${api}/runs`, {
      method: 'OPTIONS',
      token: '',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin])
    const stream = await call(`${api}/run.stream`, { body: start(), headers: { origin } })
    expect(stream.headers.get('access-control-allow-origin')).toBe(origin)
    // Browsers show pages the headers that are named, and the stream's names the run.
    expect(stream.headers.get('access-control-expose-headers')?.split(', ')).toContain('proviso-run-id')
    expect(stream.headers.get('proviso-run-id')).toMatch(/^flex_/)
    await frames(stream)
  })

  it.each(['*', 'https://console.example/', 'console.example', 'null'])(
    'an origin that no browser sends is refused, not forgotten: %s',
    async (wrong) => {
      await expect(serve(tea, { cors: [wrong] })).rejects.toThrow('is not a valid CORS origin')
    },
  )

  it('get security headers on every answer, streams and errors included', async () => {
    const { call } = await serve(tea)
    const answers = [
      await call('/livez'),
      await call('/none'),
      await call(`${api}/run.stream`, { body: envelope() }),
    ]
    for (const { headers } of answers) {
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('cache-control')).toContain('no-store')
    }
    await frames(answers[2]!)
  })
})

describe('development mode', () => {
  it('takes any token or none, on loopback names only', async () => {
    const { call, address } = await serve(tea, { auth: { open: true } })
    expect((await call(`${api}/runs`, { token: '' })).status).toBe(200)
    expect((await call(`${api}/hitl`, { token: 'any-token' })).status).toBe(200)
    const rebound = await speak(
      address,
      'GET /livez HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
    )
    expect(rebound).toMatch(/^HTTP\/1\.1 421 /)
  })

  it('does not listen to the world', async () => {
    const { app } = await serve(tea)
    const server = createServer({ app }, { auth: { open: true } })
    await expect(server.listen({ host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
      code: 'option/invalid',
    })
    await server.close()
  })
})

describe('the end', () => {
  it('is not ready, ends streams with a hint to come back, and refuses what is new', async () => {
    const never = local('write', () => new Promise(() => {}))
    const { call, server } = await serve({ capabilities: [never] })
    expect(await (await call('/readyz')).json()).toEqual({ status: 'ready' })
    const stream = await call(`${api}/run.stream`, { body: start() })
    const reader = stream.body!.getReader()
    let said = new TextDecoder().decode((await reader.read()).value)
    const begun = Date.now()
    const closed = server.close()
    for (let part = await reader.read(); !part.done; part = await reader.read())
      said += new TextDecoder().decode(part.value)
    await closed
    expect(said).toMatch(/retry: \d+/)
    expect(Date.now() - begun).toBeLessThan(5000)
    await expect(call('/livez')).rejects.toThrow()
  })

  it('a taken port is a clear error', async () => {
    const { app, address } = await serve(tea)
    const port = Number(new URL(address).port)
    const second = createServer({ app, auth: { token: 'token-of-a-second-server' } })
    await expect(second.listen({ port })).rejects.toThrow(
      `Cannot listen on 127.0.0.1: port ${port} is used by another process`,
    )
    await second.close()
  })
})

/** Speaks bytes and hears all that is said until the connection ends. */
function speak(address: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let said = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      said += part
    })
    socket.on('error', reject).on('close', () => resolve(said))
  })
}

/** Every reading is so much later. */
function ticking(step: number) {
  let now = Date.now()
  return realTimers(
    () => (now += step),
    () => now,
  )
}

/** A clock that shows a given time, while as much time passes as is waited for. */
function realTimers(now: () => number, shown: () => number): Clock {
  return { now, timer: (at, callback) => systemClock.timer(Date.now() + at - shown(), callback) }
}
