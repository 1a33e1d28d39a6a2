/** The client against a real server on SQLite: start, watch, decide, read; and what it does when that fails. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { ClientError, createClient, RunError, type RunEvent } from '../../src/client/index.ts'
import { flexToken, local, paused } from '../server/support.ts'
import { approvedTea, draft, findFaults, quick, serveSqlite, tea, writing } from './support.ts'

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const one of all) list.push(one)
  return list
}

describe('a run', () => {
  it('is started, watched, approved and read', async () => {
    const { client } = await serveSqlite(writing)
    const run = await client.runs.start<{ text: string }>(approvedTea, { draft })
    const watched = collect(run.events())
    for await (const ask of run.asks()) {
      expect(ask).toMatchObject({ runId: run.id, kind: 'final', value: { text: 'Tea' } })
      expect(await ask.approve({ note: 'Fine' })).toMatchObject({ ok: true, decision: 'approve' })
    }
    const output = await run.output()
    expectTypeOf(output).toEqualTypeOf<{ text: string }>()
    expect(output).toEqual({ text: 'Tea' })
    expect(findFaults(await watched)).toEqual([])
    expect((await client.runs.get(run.id)).run).toMatchObject({ runId: run.id, status: 'completed' })
  })

  it('is validated and typed by a schema', async () => {
    const { client } = await serveSqlite(writing)
    const Line = z.object({ text: z.string().transform((text) => text.length) })
    const run = await client.runs.start(tea, { draft, output: Line })
    const result = await run.result()
    if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ text: number }>()
    expect(result).toEqual({ status: 'completed', runId: run.id, output: { text: 3 } })
    const other = client.runs.attach(run.id, { output: z.object({ text: z.number() }) })
    await expect(other.output()).rejects.toMatchObject({
      code: 'client/output-invalid',
      issues: [{ pointer: '/text' }],
    })
  })

  it('is started with the short names of the library, typed and checked by its schema', async () => {
    const { client } = await serveSqlite(writing)
    const { outputContract: _, ...request } = tea
    const Line = z.object({ text: z.string() })
    const run = await client.runs.start({ ...request, output: Line, approve: 'final' }, { draft })
    for await (const ask of run.asks()) await ask.approve()
    const output = await run.output()
    expectTypeOf(output).toEqualTypeOf<{ text: string }>()
    expect(output).toEqual({ text: 'Tea' })
    const literal = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    const other = await client.runs.start({ ...request, output: literal }, { draft })
    expect(await other.output()).toEqual({ text: 'Tea' })
    const Exact = z.object({ text: z.string().regex(/^(?!Coffee)\w+$/), pattern: z.ulid().optional() })
    expect(await (await client.runs.start({ ...request, output: Exact }, { draft })).output()).toEqual({
      text: 'Tea',
    })
    // @ts-expect-error a run has one contract
    const both = client.runs.start({ ...tea, output: Line }, { draft })
    await expect(both).rejects.toMatchObject({ code: 'client/option' })
  })

  it('with the same idempotency key is the same run', async () => {
    const { client } = await serveSqlite(writing)
    const [one, other] = [
      await client.runs.start(tea, { draft, idempotencyKey: 'tea-1' }),
      await client.runs.start(tea, { draft, idempotencyKey: 'tea-1' }),
    ]
    expect(other.id).toBe(one.id)
    const changed = client.runs.start({ ...tea, objective: 'Coffee' }, { draft, idempotencyKey: 'tea-1' })
    await expect(changed).rejects.toMatchObject({ code: 'idempotency/other-body', status: 422 })
    expect(await one.output()).toEqual({ text: 'Tea' })
  })

  it('that waits says so with its asks; until the end it can be awaited', async () => {
    const { client } = await serveSqlite(writing)
    const run = await client.runs.start(approvedTea, { draft })
    const waiting = await run.result()
    expect(waiting).toMatchObject({ status: 'waiting', asks: [{ kind: 'final' }] })
    await expect(run.output()).rejects.toMatchObject({ name: 'RunError', code: 'run/waiting' })
    const end = run.output({ until: 'end' })
    if (waiting.status === 'waiting') await waiting.asks[0]?.approve()
    expect(await end).toEqual({ text: 'Tea' })
    expect(await collect(run.asks())).toEqual([])
  })

  it('that a policy paused says why', async () => {
    const { client } = await serveSqlite(writing)
    const run = await client.runs.start({ ...tea, ...paused }, { draft })
    expect(await run.result()).toMatchObject({
      status: 'waiting',
      asks: [],
      paused: { reason: 'Not yet', quarantined: false },
    })
    expect(await run.cancel({ reason: 'No more tea' })).toMatchObject({ status: expect.any(String) })
    expect(await run.result({ until: 'end' })).toEqual({ status: 'cancelled', runId: run.id })
  })

  it('that failed has its error; output throws it', async () => {
    const broken = local('write', () => {
      throw new Error('No water')
    })
    const { client } = await serveSqlite({ capabilities: [broken] })
    const run = await client.runs.start(tea, { draft })
    expect(await run.result()).toMatchObject({ status: 'failed', error: { type: expect.any(String) } })
    const error = await run.output().catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({ code: 'run/failed', message: expect.stringContaining(run.id) })

    const impossible = { ...tea, outputContract: { schema: { type: 'object', required: ['recipe'] } } }
    const refused = await (await client.runs.start(impossible)).output().catch((cause: unknown) => cause)
    const hint = expect.stringContaining('recipe')
    const issues = [{ code: 'plan/rejected', at: { pointer: '' }, hint }]
    expect(refused).toMatchObject({ code: 'run/failed', hint, result: { issues } })
  })
})

describe('lists', () => {
  it('read runs and asks page by page', async () => {
    const { client, connect, address } = await serveSqlite(writing)
    const runs = []
    for (let count = 0; count < 25; count++) runs.push(await client.runs.start(approvedTea, { draft }))
    for (const run of runs) await run.result()
    const requests: string[] = []
    const counting = connect({
      fetch: (url, init) => {
        requests.push(url)
        return fetch(url, init)
      },
    })
    const listed = await collect(counting.runs.list({ status: ['awaiting_hitl'] }))
    expect(listed.map(({ runId }) => runId).sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(requests).toHaveLength(2)
    expect(requests[0]).toBe(`${address}/api/v1/flex/runs?status=awaiting_hitl`)
    const asks = await collect(client.asks.list())
    expect(asks).toHaveLength(25)
    await client.asks.reject(asks[0]!, { note: 'No', rejectAction: 'fail' })
    await client.asks.approve(asks[1]!)
    await client.asks.edit(asks[2]!, { text: 'Green tea' })
    const ends = asks.slice(0, 3).map(({ runId }) => client.runs.attach(runId).result({ until: 'end' }))
    expect(await Promise.all(ends)).toMatchObject([
      { status: 'failed' },
      { output: { text: 'Tea' } },
      { output: { text: 'Green tea' } },
    ])
  })

  it('the work of a person is an answer', async () => {
    const { client } = await serveSqlite({ capabilities: [local('write', () => ({}), { kind: 'human' })] })
    const run = await client.runs.start(tea, { draft })
    for await (const ask of run.asks()) await ask.answer({ text: 'Written by hand' })
    expect(await run.output()).toEqual({ text: 'Written by hand' })
  })
})

describe('a refused request', () => {
  it('with a wrong token is a clear error at once', async () => {
    const { connect } = await serveSqlite(writing)
    const client = connect({ token: 'not-the-token-at-all' })
    const refused = { name: 'ClientError', code: 'auth/invalid', status: 401, hint: expect.any(String) }
    await expect(client.runs.start(tea)).rejects.toMatchObject(refused)
    await expect(client.runs.attach('r').events().next()).rejects.toMatchObject(refused)
    await expect(collect(client.asks.list())).rejects.toMatchObject(refused)
    expect(await client.runs.get('r').catch((cause: unknown) => cause)).toBeInstanceOf(ClientError)
  })

  it('has the code, the issues and the trace of the problem', async () => {
    const { client } = await serveSqlite(writing)
    const unreadable = client.runs.start({ ...tea, objective: 7 as unknown as string })
    await expect(unreadable).rejects.toMatchObject({
      status: 422,
      issues: [{ pointer: expect.stringContaining('/objective') }],
      traceId: expect.stringMatching(/^[\da-f]{32}$/),
    })
    await expect(client.runs.get('nothing')).rejects.toMatchObject({ code: 'run/missing', status: 404 })
  })

  it('a token may come from a function, for every request anew', async () => {
    const { connect } = await serveSqlite(writing)
    let calls = 0
    const client = connect({ token: async () => (calls++ === 0 ? 'an-expired-token-of-ann' : flexToken) })
    await expect(collect(client.runs.list())).rejects.toMatchObject({ code: 'auth/invalid' })
    expect(await collect(client.runs.list())).toEqual([])
  })

  it('429 waits as long as Retry-After says, then succeeds', async () => {
    const { client } = await serveSqlite(writing, { limits: { rate: { requests: 2, seconds: 2 } } })
    const begun = Date.now()
    for (let count = 0; count < 3; count++) await collect(client.runs.list())
    expect(Date.now() - begun).toBeGreaterThan(900)
  })

  it('429 for a stream waits, too', async () => {
    const { connect } = await serveSqlite(writing)
    let refusals = 0
    const refuse = () => {
      refusals++
      const problem = {
        code: 'quota/streams',
        detail: 'Too many',
        hint: 'Wait',
        title: '',
        type: '',
        traceId: '',
      }
      return Response.json({ ...problem, status: 429 }, { status: 429, headers: { 'retry-after': '1' } })
    }
    const client = connect({
      fetch: async (url, init) => (url.includes('/events') && refusals === 0 ? refuse() : fetch(url, init)),
    })
    const run = await client.runs.start(tea, { draft })
    const begun = Date.now()
    expect(findFaults(await collect(run.events()))).toEqual([])
    expect(Date.now() - begun).toBeGreaterThanOrEqual(990)
  })

  it('a server that is not there is an error after the attempts', async () => {
    const client = createClient({
      url: 'http://127.0.0.1:9',
      token: flexToken,
      retry: { ...quick, attempts: 2 },
    })
    const gone = { code: 'client/unreachable', status: 0, message: expect.stringContaining('127.0.0.1:9') }
    await expect(client.runs.start(tea)).rejects.toMatchObject(gone)
    await expect(client.runs.attach('r').events().next()).rejects.toMatchObject(gone)
    expect(() => createClient({ url: 'localhost' })).toThrow('url must be an address')
  })

  it('an address that is not valid is refused, and a path is accepted', async () => {
    for (const url of ['nonsense', '//other.example', ''])
      expect(() => createClient({ url }), url).toThrow('url must be an address or a path')
    const asked: string[] = []
    const answer = async (url: string) => {
      asked.push(url)
      return Response.json({ name: 'ann' })
    }
    await createClient({ url: '/', fetch: answer }).me()
    await createClient({ url: '/proviso/', fetch: answer }).me()
    expect(asked).toEqual(['/api/v1/flex/me', '/proviso/api/v1/flex/me'])
  })

  it('a page that is not of the server is one, too', async () => {
    const { connect } = await serveSqlite(writing)
    const client = connect({ fetch: async () => new Response('<h1>Welcome</h1>') })
    const other = { code: 'client/unexpected-response' }
    await expect(client.runs.get('r')).rejects.toMatchObject(other)
    await expect(client.runs.attach('r').events().next()).rejects.toMatchObject(other)
  })
})

describe('events', () => {
  const never = { capabilities: [local('write', () => new Promise<never>(() => {}))] }

  it('end with the signal, while connected and while waiting, and the connection is closed', async () => {
    const { client, server } = await serveSqlite(never)
    const run = await client.runs.start(tea, { draft })
    const abort = new AbortController()
    const seen: RunEvent[] = []
    const watching = (async () => {
      for await (const event of run.events({ signal: abort.signal })) {
        seen.push(event)
        if (event.type === 'attempt_start') setTimeout(() => abort.abort(new Error('Enough')), 50)
      }
    })()
    await expect(watching).rejects.toThrow('Enough')
    expect(seen.length).toBeGreaterThan(2)
    await expect.poll(() => server.streams).toBe(0)
    const waiting = run.result({ signal: AbortSignal.timeout(50) })
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' })
    await run.cancel()
  })

  it('close the connection when the loop is left, and continue after a number', async () => {
    const { client, server } = await serveSqlite(never)
    const run = await client.runs.start(tea, { draft })
    for await (const { id } of run.events()) if (id === 2) break
    await expect.poll(() => server.streams).toBe(0)
    for await (const { id } of run.events({ after: 2 })) {
      expect(id).toBe(3)
      break
    }
    await run.cancel()
  })

  it('reconnect when a connection is silent for too long', async () => {
    const { connect } = await serveSqlite(writing)
    let silent = 0
    const client = connect({
      idleMs: 50,
      fetch: (url, init) => {
        if (!url.includes('/events') || silent++ > 1) return fetch(url, init)
        // A connection that never brings anything; aborting it closes it.
        const body = new ReadableStream({
          start: (stream) => init.signal?.addEventListener('abort', () => stream.error(init.signal?.reason)),
        })
        return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
      },
    })
    const run = await client.runs.start(tea, { draft })
    expect(findFaults(await collect(run.events()))).toEqual([])
    expect(silent).toBeGreaterThan(2)
  })
})
