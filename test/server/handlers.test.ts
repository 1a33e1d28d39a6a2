/** One suite for every way to mount a server: its own port, node:http, Express, Fastify, Hono, a route handler as Next calls it. */
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import createExpress from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createServer, type Server } from '../../src/server/index.ts'
import { api, approved, flexToken, frames, local, open, readFrames, start } from './support.ts'

type Send = (path: string, init?: RequestInit) => Promise<Response>

interface Mounted {
  readonly send: Send
  close(): Promise<void>
}

/** Express-like frameworks call a handler of node:http; Hono and Next call one of the Fetch API. */
const mounts: { readonly [name: string]: (server: Server) => Promise<Mounted> } = {
  'its own port': async (server) => {
    const address = await server.listen({ port: 0 })
    return { send: (path, init) => fetch(`${address}${path}`, init), close: async () => {} }
  },
  'server.fetch': async (server) => ({
    send: (path, init) => server.fetch(new Request(`https://runs.example${path}`, init)),
    close: async () => {},
  }),
  // As Next calls the exports of `route.ts`: one function per method, with a second argument. Next itself is not installed.
  'a route handler of Next': async (server) => {
    const route: { readonly [method: string]: (request: Request, context: object) => Promise<Response> } = {
      GET: server.fetch,
      POST: server.fetch,
      PATCH: server.fetch,
      DELETE: server.fetch,
    }
    const context = { params: Promise.resolve({ path: [] }) }
    return {
      async send(path, init) {
        const request = new Request(`https://runs.example${path}`, init)
        // Next answers other methods itself.
        return route[request.method]?.(request, context) ?? new Response(null, { status: 405 })
      },
      close: async () => {},
    }
  },
  Hono: async (server) => {
    const hono = new Hono()
    hono.all('/api/v1/flex/*', (c) => server.fetch(c.req.raw))
    return { send: async (path, init) => hono.request(path, init), close: async () => {} }
  },
  'Hono, under a prefix': async (server) => {
    const hono = new Hono()
    hono.mount('/proviso', server.fetch)
    return { send: async (path, init) => hono.request(`/proviso${path}`, init), close: async () => {} }
  },
  Express: (server) => listenWith(createExpress().use(server.handler)),
  'Express, under a prefix': (server) =>
    listenWith(createExpress().use('/proviso', server.handler), '/proviso'),
  'node:http': (server) => listenWith(server.handler),
  'a plugin of Fastify': async (server) => {
    const host = createFastify()
    await host.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _body, done) => done(null))
      scope.all('/api/v1/flex/*', (request, reply) => {
        reply.hijack()
        server.handler(request.raw, reply.raw)
      })
    })
    const address = await host.listen({ port: 0 })
    return {
      send: (path, init) => fetch(`${address}${path}`, init),
      async close() {
        host.server.closeAllConnections()
        await host.close()
      },
    }
  },
}

/** A server of node:http with this listener, such as an app of Express. */
async function listenWith(listener: RequestListener, prefix = ''): Promise<Mounted> {
  const host = createHttpServer(listener)
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  const { port } = host.address() as AddressInfo
  return {
    send: (path, init) => fetch(`http://127.0.0.1:${port}${prefix}${path}`, init),
    async close() {
      host.closeAllConnections()
      await new Promise((resolve) => host.close(resolve))
    },
  }
}

const authorization = `Bearer ${flexToken}`
const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const get = (headers = {}): RequestInit => ({ headers: { authorization, ...headers } })

describe.each(Object.entries(mounts))('mounted as %s', (_name, mount) => {
  async function mounted() {
    let finish = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    const slow = local('slow', () => held.then(() => ({ text: 'Tea' })))
    const large = local('large', () => ({ text: 'x'.repeat(200_000) }))
    const write = local('write', () => ({ text: 'Tea' }))
    const app = await open({ capabilities: [write, slow, large] })
    const server = createServer({ app, auth: { token: flexToken } })
    const { send, close } = await mount(server)
    const dispose = async () => {
      finish()
      await server.close({ graceMs: 0 })
      await close()
    }
    return { app, server, send, finish, [Symbol.asyncDispose]: dispose }
  }

  it('starts a run and answers with its output', async () => {
    await using served = await mounted()
    const begun = await served.send(`${api}/runs?wait=10`, post(start()))
    expect(begun.status).toBe(200)
    expect(begun.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await begun.json()).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('refuses with problems: no token, a wrong body, a route that is not there', async () => {
    await using served = await mounted()
    const refused = await served.send(`${api}/runs`)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    expect(await refused.json()).toMatchObject({ code: 'auth/missing' })
    const invalid = await served.send(`${api}/hitl/resolve`, post({ requestId: 1 }))
    expect(await invalid.json()).toMatchObject({ status: 422, code: 'request/invalid' })
    expect((await served.send(`${api}/nothing`, get())).status).toBe(404)
  })

  it('refuses a body that is too large', async () => {
    await using served = await mounted()
    const large = await served.send(`${api}/runs`, post({ objective: 'x'.repeat(1_100_000) })).catch(String)
    // The connection may be closed while the rest of the body is still being sent.
    expect(typeof large === 'string' ? 413 : large.status).toBe(413)
  })

  it('streams events while they happen, and later all again with 204 at the end', async () => {
    await using served = await mounted()
    const slow = { nodes: [{ id: 'write', capabilityId: 'slow' }] }
    const stream = await served.send(`${api}/run.stream`, post(start({}, slow)))
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    const seen = []
    for await (const frame of readFrames(stream)) {
      seen.push(frame)
      if (frame.type === 'attempt_start') served.finish()
    }
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1))
    const { runId, id } = seen.at(-1)!
    const events = `${api}/runs/${runId}/events`
    const again = await served.send(events, get({ accept: 'text/event-stream' }))
    expect(await frames(again)).toEqual(seen)
    const over = await served.send(events, get({ accept: 'text/event-stream', 'last-event-id': String(id) }))
    expect([over.status, await over.text()]).toEqual([204, ''])
  })

  it('streams frames that are larger than any buffer', async () => {
    await using served = await mounted()
    const large = { nodes: [{ id: 'write', capabilityId: 'large' }] }
    const all = await frames(await served.send(`${api}/run.stream`, post(start({}, large))))
    expect(all.at(-1)).toMatchObject({ type: 'complete', payload: { output: { text: 'x'.repeat(200_000) } } })
  })

  it('ends a stream whose client is gone, and the run continues', async () => {
    await using served = await mounted()
    const slow = { nodes: [{ id: 'write', capabilityId: 'slow' }] }
    const stream = await served.send(`${api}/run.stream`, post(start({}, slow)))
    const runId = stream.headers.get('proviso-run-id') ?? ''
    const reader = stream.body!.getReader()
    await reader.read()
    expect(served.server.streams).toBe(1)
    await reader.cancel()
    await expect.poll(() => served.server.streams).toBe(0)
    served.finish()
    expect(await served.app.result(runId)).toMatchObject({ status: 'completed' })
  })

  it('answers methods that a route does not have with 405', async () => {
    await using served = await mounted()
    for (const method of ['HEAD', 'OPTIONS', 'PUT'])
      expect((await served.send(`${api}/runs`, { ...get(), method })).status, method).toBe(405)
  })

  it('ends a stream when its request is aborted, and the run continues', async () => {
    await using served = await mounted()
    const slow = { nodes: [{ id: 'write', capabilityId: 'slow' }] }
    const end = new AbortController()
    const stream = await served.send(`${api}/run.stream`, { ...post(start({}, slow)), signal: end.signal })
    const runId = stream.headers.get('proviso-run-id') ?? ''
    const reader = stream.body!.getReader()
    await reader.read()
    end.abort()
    await reader.closed.catch(() => {})
    await expect.poll(() => served.server.streams).toBe(0)
    served.finish()
    expect(await served.app.result(runId)).toMatchObject({ status: 'completed' })
  })

  it('records a decision', async () => {
    await using served = await mounted()
    const begun = await served.send(`${api}/runs?wait=10`, post(start(approved)))
    const { runId } = (await begun.json()) as { runId: string }
    const listed = await served.send(`${api}/hitl?runId=${runId}`, get())
    const { asks } = (await listed.json()) as { asks: { requestId: string; valueHash: string }[] }
    const { requestId, valueHash } = asks[0]!
    const body = { requestId, valueHash, decision: 'approve' }
    expect((await served.send(`${api}/hitl/resolve`, post(body))).status).toBe(200)
    expect(await served.app.result(runId)).toMatchObject({ status: 'completed' })
  })
})
