/** One suite for every way to mount a server: its own port, node:http, Express, Fastify, Hono, a route handler as Next calls it. */
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import createExpress from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { createServer, type Server } from '../../src/server/index.ts'
import { describeMount, type Mounted } from './mount-suite.ts'
import { flexToken, local, open } from './support.ts'

interface Host {
  readonly send: Mounted['send']
  close(): Promise<void>
}

/** Express-like frameworks call a handler of node:http; Hono and Next call one of the Fetch API. */
const mounts: { readonly [name: string]: (server: Server) => Promise<Host> } = {
  'its own port': async (server) => {
    const address = await server.listen({ port: 0 })
    return { send: (path, init) => fetch(`${address}${path}`, init), close: async () => {} }
  },
  'server.fetch': async (server) => ({
    send: (path, init) => server.fetch(new Request(`https://runs.example${path}`, init)),
    close: async () => {},
  }),
  // As Next calls the exports of `route.ts`: one function per method, with a second argument. `test/packages/next.test.ts` runs the suite in Next itself.
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
async function listenWith(listener: RequestListener, prefix = ''): Promise<Host> {
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

async function mountOn(mount: (server: Server) => Promise<Host>): Promise<Mounted> {
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
  return {
    send,
    finish: () => finish(),
    streams: () => server.streams,
    result: (runId) => app.result(runId),
    async [Symbol.asyncDispose]() {
      finish()
      await server.close({ graceMs: 0 })
      await close()
    },
  }
}

for (const [name, mount] of Object.entries(mounts)) describeMount(name, () => mountOn(mount), flexToken)
