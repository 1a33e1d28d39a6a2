/** Webhooks through the client: added, listed, changed, their deliveries paged and repeated, deleted. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook } from 'proviso/agent'
import { afterEach, expect, expectTypeOf, it } from 'vitest'
import type { WebhookDelivery } from '../../src/client/index.ts'
import { draft, serveSqlite, tea, writing } from './support.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

interface Received {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly body: string
}

async function receiver() {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    received.push({ headers: request.headers, body })
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received }
}

it('adds a webhook, pages its deliveries, repeats one, and deletes it', async () => {
  const { client } = await serveSqlite({ ...writing, http: { allowLoopback: true } })
  const { url, received } = await receiver()
  const added = await client.webhooks.create({ url, events: ['run.ended'] })
  expect(added).toMatchObject({ url, events: ['run.ended'], secret: expect.stringMatching(/^whsec_/) })
  const [listed] = await client.webhooks.list()
  expect(listed).toMatchObject({ webhookId: added.webhookId, isPaused: false })
  expect(listed).not.toHaveProperty('secret')
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    const run = await client.runs.start(tea, { draft })
    await run.result()
    ids.unshift(run.id)
  }
  const read = async (status?: WebhookDelivery['status']) => {
    const found: WebhookDelivery[] = []
    const query = status === undefined ? {} : { status }
    for await (const each of client.webhooks.deliveries(added, query, { pageSize: 2 })) found.push(each)
    return found
  }
  await expect.poll(async () => (await read('delivered')).length, { interval: 20, timeout: 20_000 }).toBe(5)
  expect((await read()).map(({ runId }) => runId)).toEqual(ids)
  expect(await read('failed')).toEqual([])
  const [newest] = await read()
  if (newest === undefined) throw new Error('no delivery')
  expectTypeOf(newest.tries[0]?.status).toEqualTypeOf<number | undefined>()
  await client.webhooks.retry(added, newest.deliveryId)
  await expect.poll(() => received.length, { interval: 20, timeout: 20_000 }).toBe(6)
  const last = received.at(-1)
  expect(last?.headers['webhook-id']).toBe(newest.deliveryId)
  expect(last?.body).toBe(newest.body)
  const { secret = '' } = added
  expect(verifyWebhook({ headers: last?.headers ?? {}, body: last?.body ?? '', secret })).toBe(true)
  const rotated = await client.webhooks.change(added.webhookId, { isPaused: true, rotateSecret: true })
  expect(rotated.isPaused).toBe(true)
  expect(rotated.secret).not.toBe(added.secret)
  await client.webhooks.delete(added)
  expect(await client.webhooks.list()).toEqual([])
  await expect(client.webhooks.delete(added)).rejects.toMatchObject({ code: 'webhook/unknown', status: 404 })
  await expect(read()).rejects.toMatchObject({ code: 'webhook/unknown' })
})
