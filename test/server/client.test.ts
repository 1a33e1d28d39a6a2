/** The types of the client are those of the routes that there are, and fit what the server answers. */
import { join } from 'node:path'
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { expect, it } from 'vitest'
import { createServer, openApiDocument, sandboxRoutes } from '../../src/server/index.ts'
import { root } from '../support.ts'
import { createClient } from './client-support.ts'
import { flexToken, open, serve, start, tea } from './support.ts'

const header =
  '/** Types of the HTTP API, generated from the table of routes by `npm run client`; do not edit. */\n'

it('src/client/api.ts is up to date (`npm run client` makes it anew)', async () => {
  const app = await open(tea)
  const { routes } = createServer({ app }, { routes: sandboxRoutes({ generate: app.generate }) })
  const document = openApiDocument(routes, { version: 'client' })
  const types = astToString(await openapiTypescript(document as unknown as OpenAPI3))
  await expect(header + types).toMatchFileSnapshot(join(root, 'src/client/api.ts'))
})

it('a run through the typed client: started, read, listed', async () => {
  const { address } = await serve(tea)
  const client = createClient(address, flexToken)
  const begun = await client.POST('/api/v1/flex/runs', { params: { query: { wait: 10 } }, body: start() })
  expect(begun.data).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  const runId = begun.data?.runId ?? ''
  const page = await client.GET('/api/v1/flex/runs/{runId}', { params: { path: { runId } } })
  expect(page.data?.run).toMatchObject({ runId, status: 'completed' })
  const list = await client.GET('/api/v1/flex/runs', {
    params: { query: { status: ['completed'], limit: 5 } },
  })
  expect(list.data?.runs.map((run) => run.runId)).toEqual([runId])
})

it('refusals have their type, too', async () => {
  const { address } = await serve(tea)
  const client = createClient(address, flexToken)
  const { error, response } = await client.GET('/api/v1/flex/runs/{runId}', {
    params: { path: { runId: 'nothing' } },
  })
  expect(response.status).toBe(404)
  expect(error?.code).toBe('run/missing')
})
