/** Webhooks as a receiver sees them: a real server on loopback that gets signed notices, fails, and is gone. */
import { createHmac } from 'node:crypto'
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../src/agent/index.ts'
import type { AppOptions } from '../../src/index.ts'
import type { Delivery } from '../../src/server/index.ts'
import { api, approved, frames, type Served, serve, start, tea } from './support.ts'

interface Received {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Answers each request with the next status, and 200 when there are no more. */
async function receiver(statuses: number[] = [], headers: { [name: string]: string } = {}) {
  const received: Received[] = []
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      response.writeHead(statuses.shift() ?? 200, headers).end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  closers.push(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?of=acme`, received, close }
}

const retry = { max: 3, baseMs: 5, jitter: 'none' } as const
const options = (more: AppOptions = {}): AppOptions => ({
  ...tea,
  http: { allowLoopback: true },
  webhooks: { retry },
  ...more,
})

async function subscribe({ call }: Served, body: object, token?: string) {
  const response = await call(`${api}/webhooks`, { body, ...(token !== undefined && { token }) })
  expect(response.status).toBe(201)
  return (await response.json()) as unknown as { webhookId: string; secret: string; events: string[] }
}

interface DeliveryView extends Pick<Delivery, 'deliveryId' | 'event' | 'runId' | 'status' | 'attempts'> {
  readonly tries: readonly { readonly status?: number; readonly error?: string }[]
  readonly body: string
}

async function deliveries({ call }: Served, webhookId: string, query = ''): Promise<DeliveryView[]> {
  const response = await call(`${api}/webhooks/${webhookId}/deliveries${query}`)
  return ((await response.json()) as unknown as { deliveries: DeliveryView[] }).deliveries
}

const settled = (served: Served, webhookId: string, status: string, count = 1) =>
  expect
    .poll(async () => (await deliveries(served, webhookId, `?status=${status}`)).length, {
      interval: 20,
      timeout: 20_000,
    })
    .toBe(count)

const run = async ({ call }: Served, more = {}) => {
  const [first] = await frames(await call(`${api}/run.stream`, { body: start(more) }))
  return first!.runId
}

describe('a webhook', () => {
  it('gets the end of a run, signed by the Standard Webhooks specification, and nothing of the answer', async () => {
    const served = await serve(options())
    const { url, received } = await receiver()
    const { webhookId, secret, events } = await subscribe(served, { url })
    expect(secret).toMatch(/^whsec_/)
    expect(events).toEqual(['run.ended', 'ask.opened'])
    const runId = await run(served, { inputs: { topic: 'tea' } })
    await settled(served, webhookId, 'delivered')
    const [{ headers, body, url: path }] = received as [Received]
    expect(path).toBe('/hook?of=acme')
    expect(JSON.parse(body)).toEqual({
      type: 'run.ended',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { runId, tenant: 'default', correlationId: expect.any(String), status: 'completed' },
    })
    expect(verifyWebhook({ headers, body, secret })).toBe(true)
    expect(verifyWebhook({ headers, body: `${body} `, secret })).toBe(false)
    expect(verifyWebhook({ headers, body, secret: 'whsec_AAAA' })).toBe(false)
    for (const empty of ['', 'whsec_', [secret, '']])
      expect(() => verifyWebhook({ headers, body, secret: empty })).toThrow('must not be empty')
    expect(verifyWebhook({ headers, body, secret, now: Date.now() + 301_000 })).toBe(false)
    // By hand, as another library does it.
    const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(secret.slice(6), 'base64')
    const mac = createHmac('sha256', key).update(content).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${mac}`)
    const [delivery] = await deliveries(served, webhookId)
    expect(delivery).toMatchObject({ event: 'run.ended', runId, attempts: 1, tries: [{ status: 200 }], body })
    expect(delivery?.deliveryId).toBe(headers['webhook-id'])
  })

  it('gets open asks, and only the events it names', async () => {
    const served = await serve(options())
    const asks = await receiver()
    const ends = await receiver()
    const { webhookId } = await subscribe(served, { url: asks.url, events: ['ask.opened'] })
    await subscribe(served, { url: ends.url, events: ['run.ended'] })
    const runId = await run(served, approved)
    await settled(served, webhookId, 'delivered')
    const { data, type } = JSON.parse(asks.received[0]!.body)
    expect([type, data.runId, data.kind]).toEqual(['ask.opened', runId, 'final'])
    const [ask] = (await (await served.call(`${api}/hitl?runId=${runId}`)).json()).asks
    expect([data.requestId, data.valueHash]).toEqual([ask!.requestId, ask!.valueHash])
    expect([asks.received.length, ends.received.length]).toEqual([1, 0])
  })

  it('is tried again with the same id and body after a failure, and given up in the end', async () => {
    const given: Delivery[] = []
    const served = await serve(options({ webhooks: { retry, onGiveUp: (delivery) => given.push(delivery) } }))
    const shaky = await receiver([500, 503])
    const dead = await receiver()
    await dead.close()
    const good = await subscribe(served, { url: shaky.url })
    const bad = await subscribe(served, { url: dead.url })
    await run(served)
    await settled(served, good.webhookId, 'delivered')
    const tries = shaky.received.map(({ headers, body }) => [headers['webhook-id'], body])
    expect(tries).toEqual([tries[0], tries[0], tries[0]])
    const [done] = await deliveries(served, good.webhookId)
    expect(done?.tries.map(({ status }) => status)).toEqual([500, 503, 200])
    await settled(served, bad.webhookId, 'failed')
    expect(given.map(({ webhookId, attempts }) => [webhookId, attempts])).toEqual([[bad.webhookId, 3]])
    expect(given[0]?.tries.at(-1)?.error).toContain('Cannot deliver')
  })

  it('that was given up is delivered when an admin asks for it', async () => {
    const served = await serve(options({ webhooks: { retry: { max: 1 }, onGiveUp: () => {} } }))
    const { url, received } = await receiver([500])
    const { webhookId } = await subscribe(served, { url })
    await run(served)
    await settled(served, webhookId, 'failed')
    const [{ deliveryId }] = (await deliveries(served, webhookId)) as [DeliveryView]
    const path = `${api}/webhooks/${webhookId}/deliveries/${deliveryId}/retry`
    expect((await served.call(path, { method: 'POST' })).status).toBe(202)
    await settled(served, webhookId, 'delivered')
    expect(received[1]?.headers['webhook-id']).toBe(deliveryId)
  })

  it('is listed page by page, newest first, also by status', async () => {
    const served = await serve(options())
    const { url } = await receiver()
    const { webhookId } = await subscribe(served, { url })
    for (let count = 0; count < 5; count++) await run(served)
    await settled(served, webhookId, 'delivered', 5)
    const all = await deliveries(served, webhookId)
    const paged: DeliveryView[] = []
    const sizes: number[] = []
    let after: string | undefined
    do {
      const query = `?status=delivered&limit=2${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`
      const response = await served.call(`${api}/webhooks/${webhookId}/deliveries${query}`)
      const page = (await response.json()) as unknown as { deliveries: DeliveryView[]; next?: string }
      paged.push(...page.deliveries)
      sizes.push(page.deliveries.length)
      after = page.next
    } while (after !== undefined)
    expect(sizes).toEqual([2, 2, 1])
    expect(paged).toEqual(all)
    const unknown = await served.call(`${api}/webhooks/${webhookId}/deliveries?after=${webhookId}_none`)
    expect(unknown.status).toBe(404)
  })

  it('does not follow redirects, and stops when the receiver is gone for good', async () => {
    const served = await serve(options({ webhooks: { retry, onGiveUp: () => {} } }))
    const target = await receiver()
    const from = await receiver([307, 410], { location: target.url })
    const { webhookId } = await subscribe(served, { url: from.url })
    await run(served)
    await settled(served, webhookId, 'failed')
    const [delivery] = await deliveries(served, webhookId)
    expect(delivery?.tries.map(({ status }) => status)).toEqual([307, 410])
    expect(delivery?.tries[0]?.error).toContain('redirects are not followed')
    expect(target.received).toEqual([])
  })

  it('of a private or loopback address is refused, at registration and at delivery', async () => {
    const given: Delivery[] = []
    const { url, received } = await receiver()
    const named = url.replace('127.0.0.1', 'hooks.example')
    // A name that becomes a private address after it was registered (DNS rebinding).
    let address = '93.184.216.34'
    const http = {
      schemes: ['http:', 'https:'],
      ports: 'any',
      resolve: async () => [{ address, family: 4 }],
    } as const
    const served = await serve(
      options({ http, webhooks: { retry, onGiveUp: (delivery) => given.push(delivery) } }),
    )
    for (const refused of [
      url,
      'https://10.0.0.7/',
      'https://[::1]/',
      'http://169.254.169.254/latest',
      'ftp://a.example/',
    ]) {
      const response = await served.call(`${api}/webhooks`, { body: { url: refused } })
      const { code, issues } = await response.json()
      expect([response.status, code, issues[0]?.pointer], refused).toEqual([422, 'webhook/invalid', '/url'])
    }
    const { webhookId } = await subscribe(served, { url: named })
    address = '127.0.0.1'
    await run(served)
    await settled(served, webhookId, 'failed')
    expect(given[0]?.attempts, 'no second try').toBe(1)
    expect(given[0]?.tries[0]?.error).toContain('not public')
    address = '10.1.2.3'
    const refused = await served.call(`${api}/webhooks`, { body: { url: named } })
    const { issues } = await refused.json()
    expect(issues[0]?.message).toContain('it resolves to an address that is not public')
    expect(JSON.stringify([issues, given])).not.toMatch(/10\.1\.2\.3|127\.0\.0\.1/)
    expect(received).toEqual([])
  })

  it('never shows its secret again, and keeps it out of the store unsealed', async () => {
    const secretKeys = ['11'.repeat(32)]
    const served = await serve(options({ http: { allowLoopback: true, secretKeys, clearSecrets: false } }))
    const { url } = await receiver()
    const { webhookId, secret } = await subscribe(served, { url })
    const said = [
      await (await served.call(`${api}/webhooks`)).text(),
      await (
        await served.call(`${api}/webhooks/${webhookId}`, { method: 'PATCH', body: { description: 'x' } })
      ).text(),
      await (await served.call(`${api}/audit`)).text(),
      JSON.stringify(await served.app.store.records.documents.list({ kind: 'webhook' })),
    ].join('\n')
    expect(said).toContain(webhookId)
    expect(said).not.toContain(secret)
    expect(said).not.toContain(secret.slice(6))
    expect(said).toContain('webhook.created')
  })

  it('signs with both secrets while one is rotated', async () => {
    const served = await serve(options())
    const { url, received } = await receiver()
    const { webhookId, secret } = await subscribe(served, { url })
    const changed = await served.call(`${api}/webhooks/${webhookId}`, {
      method: 'PATCH',
      body: { rotateSecret: true },
    })
    const { secret: next } = (await changed.json()) as unknown as { secret: string }
    expect(next).not.toBe(secret)
    await run(served)
    await settled(served, webhookId, 'delivered')
    const [{ headers, body }] = received as [Received]
    for (const each of [secret, next]) expect(verifyWebhook({ headers, body, secret: each })).toBe(true)
  })

  it('is paused, resumed and deleted', async () => {
    const served = await serve(options())
    const { url, received } = await receiver()
    const { webhookId } = await subscribe(served, { url })
    const path = `${api}/webhooks/${webhookId}`
    await served.call(path, { method: 'PATCH', body: { isPaused: true } })
    await run(served)
    expect(await deliveries(served, webhookId)).toEqual([])
    await served.call(path, { method: 'PATCH', body: { isPaused: false } })
    await run(served)
    await settled(served, webhookId, 'delivered')
    expect((await served.call(path, { method: 'DELETE' })).status).toBe(204)
    expect((await served.call(path, { method: 'DELETE' })).status).toBe(404)
    expect(received.length).toBe(1)
  })

  it('gets nothing of another tenant; one of the settings gets the events of all', async () => {
    const own = await receiver()
    const all = await receiver()
    const secret = 'a secret of the settings'
    const endpoints = [{ url: all.url, secret, events: ['run.ended'] }] as const
    const served = await serve(options({ webhooks: { retry, endpoints } }))
    const admin = await served.tokenFor('admin', 'acme')
    await subscribe(served, { url: own.url }, admin)
    await run(served)
    const { webhooks } = (await (await served.call(`${api}/webhooks`)).json()) as unknown as {
      webhooks: { webhookId: string; source: string }[]
    }
    expect(webhooks.map(({ source }) => source)).toEqual(['settings'])
    await settled(served, webhooks[0]!.webhookId, 'delivered')
    const { headers, body } = all.received[0]!
    expect(verifyWebhook({ headers, body, secret })).toBe(true)
    expect(own.received).toEqual([])
    const removed = await served.call(`${api}/webhooks/${webhooks[0]!.webhookId}`, { method: 'DELETE' })
    expect(removed.status).toBe(422)
  })

  it('of the settings shows tenants neither its path nor why a try failed, and redacts keys in other URLs', async () => {
    const token = 'ops-secret-1234567'
    const closed = await receiver()
    await closed.close()
    const endpoints = [{ url: `${closed.url}&token=${token}`, secret: 'a secret of the settings' }]
    const served = await serve(options({ webhooks: { retry: { max: 1 }, endpoints, onGiveUp: () => {} } }))
    const own = await subscribe(served, { url: `http://127.0.0.1:9/?password=${token}` })
    await run(served)
    const { webhooks } = (await (await served.call(`${api}/webhooks`)).json()) as unknown as {
      webhooks: { webhookId: string; url: string; source: string }[]
    }
    const [settings] = webhooks as [(typeof webhooks)[0]]
    expect([settings.source, settings.url]).toEqual(['settings', new URL(closed.url).origin])
    expect(webhooks.find(({ webhookId }) => webhookId === own.webhookId)?.url).toContain(
      'http://127.0.0.1:9/',
    )
    await settled(served, settings.webhookId, 'failed')
    const [failed] = (await deliveries(served, settings.webhookId)) as [DeliveryView]
    expect(failed.tries[0]?.error).toBe('Not delivered; the operator sees the reason')
    expect(JSON.stringify([webhooks, own, failed])).not.toContain(token)
    // A tenant may repeat what it caused itself.
    const path = `${api}/webhooks/${settings.webhookId}/deliveries/${failed.deliveryId}/retry`
    expect((await served.call(path, { method: 'POST' })).status).toBe(202)
  })

  it('of another tenant is delivered while all receivers of a tenant hang', async () => {
    let hanging = 0
    let most = 0
    const hung = createHttpServer((request) => {
      hanging++
      most = Math.max(most, hanging)
      request.on('close', () => hanging--)
    })
    await new Promise<void>((resolve) => hung.listen(0, '127.0.0.1', resolve))
    closers.push(async () => {
      hung.closeAllConnections()
      await new Promise((resolve) => hung.close(resolve))
    })
    const good = await receiver()
    const served = await serve(options({ webhooks: { timeoutMs: 60_000, onGiveUp: () => {} } }))
    const admin = await served.tokenFor('admin', 'acme')
    const url = `http://127.0.0.1:${(hung.address() as AddressInfo).port}/`
    for (let count = 0; count < 10; count++) await subscribe(served, { url, events: ['run.ended'] }, admin)
    // 40 deliveries: more than a process has in flight.
    for (let count = 0; count < 4; count++)
      await frames(await served.call(`${api}/run.stream`, { body: start(), token: admin }))
    const { webhookId } = await subscribe(served, { url: good.url })
    await run(served)
    await settled(served, webhookId, 'delivered')
    expect(good.received.length).toBe(1)
    await expect.poll(() => most, { interval: 20, timeout: 20_000 }).toBe(8)
  })

  it('does not exist where webhooks are off, and is limited per tenant', async () => {
    const off = await serve(tea)
    expect((await (await off.call(`${api}/webhooks`)).json()).code).toBe('webhook/off')
    const served = await serve(options())
    for (let count = 0; count < 15; count++) await subscribe(served, { url: 'http://127.0.0.1:9/' })
    const add = () => served.call(`${api}/webhooks`, { body: { url: 'http://127.0.0.1:9/' } })
    const countAll = async () =>
      ((await (await served.call(`${api}/webhooks`)).json()) as unknown as { webhooks: unknown[] }).webhooks
        .length
    const added = (await Promise.all(Array.from({ length: 15 }, add))).filter(({ status }) => status === 201)
    expect(added.length).toBeLessThanOrEqual(5)
    expect(await countAll()).toBe(15 + added.length)
    while ((await countAll()) < 20) await subscribe(served, { url: 'http://127.0.0.1:9/' })
    const over = await served.call(`${api}/webhooks`, { body: { url: 'http://127.0.0.1:9/' } })
    expect([over.status, (await over.json()).code]).toEqual([409, 'webhook/limit'])
  })
})
