/** Promises about requests that are refused before their body is read, that come from web pages, or that arrive too slowly. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { post } from '../agents/post.ts'
import { agent, type ReceivedCall, serveAgents, status, wanted, writer, writing } from '../agents/support.ts'
import { api, envelope, local, serve, start, tea, teaDraft } from './support.ts'

describe('callbacks before their body is read', () => {
  const body = 900_000

  it('an unknown call is refused while its body has not arrived', async () => {
    const { address } = await serveAgents()
    const said = await speak(address, head(`${api}/callbacks/none`, { length: body }))
    expect(said).toMatch(/^HTTP\/1\.1 404 [\s\S]*callback\/unknown/)
    expect(said).toMatch(/connection: close/i)
  })

  it('a call without a signature, or with an old one, is refused while its body has not arrived', async () => {
    const { address, path } = await waiting()
    const signed = { 'proviso-nonce': 'a'.repeat(16), 'proviso-signature': `v1=${'a'.repeat(64)}` }
    const now = Math.floor(Date.now() / 1000)
    for (const headers of [
      {},
      { ...signed, 'proviso-timestamp': String(now - 400) },
      { ...signed, 'proviso-timestamp': String(now), 'proviso-signature': 'none' },
    ]) {
      const said = await speak(address, head(path, { length: body, headers }))
      expect(said).toMatch(/^HTTP\/1\.1 401 [\s\S]*callback\/forged/)
    }
  })

  it('after twenty forged bodies of a call no further one is read; other calls are not affected', async () => {
    const { address, path, received, key, next } = await waiting()
    const statuses: number[] = []
    for (let i = 0; i < 20; i++) statuses.push((await post(received, { key: 'psk_wrong' })).status)
    expect(new Set(statuses)).toEqual(new Set([401]))
    const said = await speak(address, head(path, { length: body, headers: fresh() }))
    expect(said).toMatch(/^HTTP\/1\.1 429 [\s\S]*retry-after: \d+[\s\S]*rate\/limit/i)
    expect((await post(await next(), { key })).status).toBe(200)
  })

  it('are limited per address, and so are the ones that are refused', async () => {
    const callbacks = await serveAgents({}, { limits: { callbacks: { requests: 3, seconds: 60 } } })
    const failures = await serveAgents({}, { limits: { failures: { requests: 3, seconds: 60 } } })
    for (const { address } of [callbacks, failures]) {
      const seen: string[] = []
      for (let i = 0; i < 5; i++)
        seen.push((await speak(address, head(`${api}/callbacks/none`, { length: body }))).slice(9, 12))
      expect(seen).toEqual(['404', '404', '404', '429', '429'])
    }
  })
})

describe('registrations', () => {
  it('are limited per token', async () => {
    const { agentToken, register } = await serveAgents(
      {},
      { limits: { registrations: { requests: 2, seconds: 60 } } },
    )
    const token = await agentToken()
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await register(writer('http://127.0.0.1:9/'), token)).status)
    expect(statuses).toEqual(['active', 'active', 429])
    const other = await agentToken(undefined, 'other')
    expect((await register(writer('http://127.0.0.1:9/'), other)).status).toBe('active')
  })
})

describe('web pages and development mode', () => {
  it('a page of another origin cannot cancel a run; curl and the same origin can', async () => {
    const capabilities = [local('write', () => new Promise(() => {}))]
    const { address, app, call } = await serve({ capabilities }, { auth: { open: true } })
    const { id: runId } = await app.start(envelope(), { draft: teaDraft })
    const path = `${api}/runs/${runId}/cancel`
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:1' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    ]) {
      const refused = await speak(address, head(path, { length: 0, headers }))
      expect(refused, JSON.stringify(headers)).toMatch(/^HTTP\/1\.1 403 [\s\S]*auth\/origin/)
    }
    expect((await app.store.head(runId))?.status).toBe('running')
    expect((await call(path, { method: 'POST', token: '', headers: { origin: address } })).status).toBe(202)
    const curl = await speak(address, head(path, { length: 0, headers: { connection: 'close' } }))
    expect(curl).toMatch(/^HTTP\/1\.1 20[02] /)
  })

  it('a listed origin is accepted, and a link may be followed', async () => {
    const cors = ['https://console.example']
    const { call, address } = await serve(tea, { auth: { open: true }, cors })
    const listed = await call(`${api}/runs`, { token: '', headers: { origin: cors[0]! } })
    expect(listed.status).toBe(200)
    const link = 'host: localhost\r\nsec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\n\r\n'
    expect(await speak(address, `GET /openapi.json HTTP/1.1\r\n${link}`)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('with tokens a page needs the token, whatever its origin', async () => {
    const { call } = await serve(tea)
    const headers = { origin: 'https://evil.example' }
    expect((await call(`${api}/runs`, { method: 'POST', token: '', headers })).status).toBe(401)
    expect((await call(`${api}/runs`, { headers })).status).toBe(200)
  })
})

describe('compressed bodies', () => {
  it.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, identity'])(
    '%s is refused with 415 and a reason',
    async (encoding) => {
      const { address } = await serve(tea, { auth: { open: true } })
      const response = await fetch(`${address}${api}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        body: gzipSync(JSON.stringify(start())),
      })
      expect([response.status, await response.json()]).toMatchObject([
        415,
        { code: 'request/encoding', detail: expect.stringContaining(encoding.split(',')[0]!) },
      ])
    },
  )

  it('identity, and an encoding without a body, are accepted', async () => {
    const { call, app } = await serve({ capabilities: [local('write', () => new Promise(() => {}))] })
    const headers = { 'content-encoding': 'identity' }
    expect((await call(`${api}/runs`, { body: start(), headers })).status).toBe(202)
    const [run] = await app.store.runs({})
    const none = { method: 'POST', headers: { 'content-encoding': 'gzip' } }
    expect((await call(`${api}/runs/${run?.runId}/cancel`, none)).status).toBe(202)
  })
})

describe('slow requests', () => {
  // Node checks its connections every tenth of the limit; the rest is for a busy machine.
  const limits = { headersMs: 300, requestMs: 900 }

  it('headers that do not end are cut off at their limit, a body at its own', async () => {
    const { address } = await serve(tea, { auth: { open: true }, limits })
    const slow = (bytes: string, drip: string) => timed(() => speak(address, bytes, drip))
    const [headers, body] = await Promise.all([
      slow('GET /livez HTTP/1.1\r\nhost: localhost\r\n', 'x-a: 1\r\n'),
      slow(head(`${api}/runs`, { length: 900_000, type: 'application/json' }), ' '),
    ])
    for (const { said } of [headers, body]) expect(said).toMatch(/^HTTP\/1\.1 408 [\s\S]*request\/timeout/)
    expect(headers.ms).toBeGreaterThanOrEqual(300)
    expect(body.ms).toBeGreaterThanOrEqual(900)
    expect(headers.ms).toBeLessThan(5_000)
    expect(body.ms).toBeLessThan(5_000)
  })
})

/** Headers of a signature that is well-formed and fresh. */
const fresh = () => ({
  'proviso-timestamp': String(Math.floor(Date.now() / 1000)),
  'proviso-nonce': randomBytes(16).toString('hex'),
  'proviso-signature': `v1=${'a'.repeat(64)}`,
})

/** A call that an agent has accepted and not answered; `next` makes another one on the same server. */
async function waiting() {
  const calls: ((received: ReceivedCall) => void)[] = []
  const later = await agent((response, received) => {
    status(202)(response, received)
    calls.shift()?.(later.received.at(-1) as ReceivedCall)
  })
  const served = await serveAgents()
  const { signingKey: key = '' } = await served.register(writer(later.url), await served.agentToken())
  const next = async () => {
    const called = new Promise<ReceivedCall>((resolve) => void calls.push(resolve))
    await served.app.start(wanted(), { draft: writing({}) })
    return called
  }
  const received = await next()
  return { ...served, key, received, next, path: new URL(received.call.callbackUrl ?? '').pathname }
}

interface Head {
  readonly length: number
  readonly type?: string
  readonly headers?: { readonly [name: string]: string }
}

/** The head of a POST whose body is announced and never sent. */
function head(path: string, { length, type, headers = {} }: Head): string {
  const lines = Object.entries({
    host: 'localhost',
    'content-length': String(length),
    ...(length > 0 && { 'content-type': type ?? 'application/json' }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

/** Sends bytes, then `drip` again and again, and returns what is answered: until the connection ends, or the answer is whole. */
function speak(address: string, bytes: string, drip = ''): Promise<string> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const dripping = drip === '' ? undefined : setInterval(() => socket.write(drip), 20)
    let said = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      said += part
      const [top = '', ...rest] = said.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(top)?.[1] ?? Number.NaN)
      if (Buffer.byteLength(rest.join('\r\n\r\n')) >= length) socket.destroy()
    })
    socket.on('error', (cause) => (said === '' ? reject(cause) : resolve(said)))
    socket.on('close', () => {
      clearInterval(dripping)
      resolve(said)
    })
  })
}

async function timed(what: () => Promise<string>) {
  const begun = performance.now()
  const said = await what()
  return { said, ms: performance.now() - begun }
}
