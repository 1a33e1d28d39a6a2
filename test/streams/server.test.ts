/** Promises about streams as the server gives them. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { Store } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import { api, envelope, local, serve } from '../server/support.ts'

const capabilities = [local('writer', () => ({ text: 'Tea' }))]
const draft = { nodes: [{ id: 'n', capabilityId: 'writer', inputs: {} }], output: { node: 'n' } }
const stream = { accept: 'text/event-stream' }

it('a store that fails before the first byte is an answer in form, not a silence', async () => {
  const store = createMemoryStore()
  let broken = false
  const failing: Store = {
    ...store,
    read: (...given) =>
      broken
        ? Promise.reject(new ProvisoError('store/unavailable', 'The connection was lost'))
        : store.read(...given),
  }
  const { app, call } = await serve({ store: failing, capabilities })
  const { runId } = await app.run(envelope(), { draft })
  broken = true
  const refused = await call(`${api}/runs/${runId}/events`, { headers: stream })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('content-type')).toContain('application/problem+json')
  expect((await refused.json()).code).toBe('store/unavailable')
  broken = false
  expect((await call(`${api}/runs/${runId}/events`, { headers: stream })).status).toBe(200)
})

it('a reader that has seen the end gets an empty answer, as a stream and as a page', async () => {
  const { app, server, call } = await serve({ capabilities })
  const { runId } = await app.run(envelope(), { draft })
  const page = await (await call(`${api}/runs/${runId}/events`)).json()
  const last = page.events.at(-1)
  expect([last?.type, page.next]).toEqual(['complete', undefined])
  const seen = await call(`${api}/runs/${runId}/events`, {
    headers: { ...stream, 'last-event-id': String(last?.id) },
  })
  expect([seen.status, await seen.text()]).toEqual([204, ''])
  expect(server.streams).toBe(0)
})
