/** The document describes what is served: valid OpenAPI 3.1, every route, and answers as declared. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/index.ts'
import { openApiDocument, type Route } from '../../src/server/index.ts'
import { compileSchema } from '../seams/schema.ts'
import { createConformance } from './openapi-support.ts'
import { api, serve, start, tea } from './support.ts'

describe('openapi.json', () => {
  it('is valid OpenAPI 3.1, served to anyone, and has every route of the table', async () => {
    const { call, server } = await serve(tea)
    const response = await call('/openapi.json', { token: '' })
    const document = (await response.json()) as unknown as { paths: { [path: string]: object } }
    const result = await new Validator().validate(structuredClone(document))
    expect(result).toMatchObject({ valid: true })
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const served = server.routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(described.sort()).toEqual(served.sort())
  })

  it('says of every route who may call it, how it refuses, and what varies in its path', async () => {
    const { server } = await serve(tea)
    const document = openApiDocument(server.routes, { version: '1' })
    const operations = Object.entries(
      document['paths'] as { [path: string]: { [method: string]: Json } },
    ).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, operation: operation as { [key: string]: Json } })),
    )
    for (const { path, operation } of operations) {
      const named = (operation['parameters'] as { in?: string; name?: string }[]).filter(
        (one) => one.in === 'path',
      )
      expect(named.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
      expect(operation).toMatchObject({ summary: expect.any(String), security: expect.any(Array) })
      expect(operation['responses']).toHaveProperty('default')
    }
    const ids = operations.map(({ operation }) => operation['operationId'])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has only schemas that compile, and none that refers to a root it is not', async () => {
    const { server } = await serve(tea)
    for (const route of server.routes) {
      const schemas = [
        route.params,
        route.query,
        route.body,
        ...Object.values(route.replies).map((reply) => reply.schema),
      ]
      for (const schema of schemas.filter((one) => one !== undefined)) {
        expect(() => compileSchema(schema)).not.toThrow()
        expect(JSON.stringify(schema), `${route.operation} has a $ref`).not.toContain('"$ref"')
      }
    }
  })

  it('describes streams: frames, where to continue, and JSON where it is available', async () => {
    const { server } = await serve(tea)
    const document = openApiDocument(server.routes, { version: '1' })
    expect(document).toMatchObject({
      paths: {
        [`${api}/runs/{runId}/events`]: {
          get: {
            parameters: expect.arrayContaining([{ $ref: '#/components/parameters/lastEventId' }]),
            responses: {
              200: {
                content: {
                  'text/event-stream': { schema: { 'x-event-data': { $ref: '#/components/schemas/Frame' } } },
                  'application/json': { schema: { required: ['events'] } },
                },
              },
            },
          },
        },
      },
    })
  })
})

describe('answers', () => {
  it('are as declared: a run, its page, its events, the lists, and refusals', async () => {
    const { call } = await serve(tea)
    const begun = await (await call(`${api}/runs?wait=10`, { body: start() })).json()
    for (const path of ['', '/events'].map((end) => `${api}/runs/${begun.runId}${end}`))
      expect((await call(path)).status).toBe(200)
    expect((await call(`${api}/runs`)).status).toBe(200)
    expect((await call(`${api}/hitl`)).status).toBe(200)
    expect((await call(`${api}/prove`, { body: start() })).status).toBe(200)
    expect((await call(`${api}/runs/nothing`)).status).toBe(404)
    expect((await call(`${api}/runs`, { token: '' })).status).toBe(401)
    expect((await call('/nowhere')).status).toBe(404)
    expect((await call(`${api}/runs`, { body: '{' })).status).toBe(400)
  })

  it('that contradict the document are found', async () => {
    const liar: Route = {
      method: 'GET',
      path: '/liar',
      operation: 'liar',
      summary: 'Says one thing and does another',
      roles: 'anyone',
      replies: { 200: { description: 'A number', schema: { type: 'number' } } },
      handle: async () => ({ status: 200, body: 'seven' }),
    }
    const { call, server, address } = await serve(tea, { routes: [liar] })
    await expect(call('/liar')).rejects.toThrow('/liar 200')
    const { check } = createConformance(server.routes)
    expect(await check('GET', `${address}/liar`, Response.json(7))).toBeUndefined()
    expect(await check('GET', `${address}/liar`, Response.json(7, { status: 201 }))).toContain(
      'does not declare 201',
    )
    expect(
      await check('GET', `${address}/liar`, new Response('7', { headers: { 'content-type': 'text/html' } })),
    ).toContain('text/html')
  })
})

describe('metrics over HTTP', () => {
  it('are there for operators and admins, counted by what was served, and refused to callers', async () => {
    const { call, tokenFor } = await serve(tea)
    await call(`${api}/runs?wait=10`, { body: start() })
    const response = await call('/metrics', { token: await tokenFor('operator') })
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    const text = await response.text()
    expect(text).toContain('flex_run_status{status="completed"} 1')
    expect(text).toMatch(/^proviso_runs_active 0$/m)
    expect((await call('/metrics', { token: await tokenFor('caller') })).status).toBe(403)
    expect((await call('/metrics', { token: '' })).status).toBe(401)
  })

  it('are open in development mode', async () => {
    const { call } = await serve(tea, { auth: { open: true } })
    expect((await call('/metrics', { token: '' })).status).toBe(200)
  })
})

it('a traceparent comes in with the request and is kept with the run', async () => {
  const { call, app } = await serve(tea)
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const { runId } = await (
    await call(`${api}/runs?wait=10`, { body: start(), headers: { traceparent } })
  ).json()
  expect((await app.state(runId)).traceparent).toBe(traceparent)
  const odd = await call(`${api}/runs?wait=10`, { body: start(), headers: { traceparent: 'nonsense' } })
  expect((await app.state((await odd.json()).runId)).traceparent).toBeUndefined()
})
