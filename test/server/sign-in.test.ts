/** Sign-in of people by OpenID Connect: the code of the provider becomes a token that the API accepts, and nothing else does. */
import { createHash, randomBytes } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/server/index.ts'
import { systemClock } from '../seams/base.ts'
import { openIdentityProvider } from './identity-provider.ts'
import { api, flexToken, serve, tea } from './support.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const redirectUri = 'http://console.example/sign-in'
const clientSecret = 'secret-of-the-client'

async function served(more: Partial<ServerOptions> = {}) {
  const provider = await openIdentityProvider({ clientSecret })
  closers.push(provider.close)
  const jwt = { issuer: provider.issuer, audience: ['proviso', 'console'], allowLoopback: true }
  const { call } = await serve(tea, {
    auth: { token: flexToken, jwt, signIn: { clientId: 'console', clientSecret } },
    ...more,
  })
  const codeVerifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(codeVerifier).digest('base64url')
  /** What the browser does at the provider. */
  const getCode = () => {
    const query = new URLSearchParams({
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: 's',
    })
    return new URL(provider.authorize(query)).searchParams.get('code') ?? ''
  }
  const exchange = async (code: string, more: object = {}) => {
    const response = await call(`${api}/sign-in`, {
      body: { code, codeVerifier, redirectUri, ...more },
      token: '',
    })
    const body = (await response.json()) as unknown as { readonly token: string; readonly code?: string }
    return { status: response.status, body }
  }
  return { provider, call, getCode, exchange }
}

it('names the provider, and exchanges a code once for a token with the role of the person', async () => {
  const { provider, call, getCode, exchange } = await served()
  const offered = await (await call(`${api}/sign-in`, { token: '' })).json()
  expect(offered).toEqual({
    oidc: { url: `${provider.issuer}/authorize`, clientId: 'console', scope: 'openid profile email' },
  })
  const code = getCode()
  const { status, body } = await exchange(code)
  expect(status).toBe(200)
  const me = await (await call(`${api}/me`, { token: body.token })).json()
  expect(me).toMatchObject({ name: 'ann', role: 'operator' })
  expect(JSON.stringify(body)).not.toContain(clientSecret)
  expect((await exchange(code)).status).toBe(401)
})

it('refuses another verifier, an unknown code, and a person without a role', async () => {
  const { provider, getCode, exchange } = await served()
  expect(await exchange(getCode(), { codeVerifier: 'x'.repeat(43) })).toMatchObject({
    status: 401,
    body: { code: 'auth/invalid' },
  })
  expect((await exchange('made-up')).status).toBe(401)
  provider.state.claims = { roles: ['guest'] }
  expect(await exchange(getCode())).toMatchObject({ status: 403, body: { code: 'auth/forbidden' } })
})

it('counts refused codes as refused tokens of the address, and asks the provider no more beyond that rate', async () => {
  const { provider, getCode, exchange } = await served({ limits: { failures: { requests: 3, seconds: 60 } } })
  const statuses = []
  for (let count = 0; count < 6; count++) statuses.push((await exchange('made-up')).status)
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429])
  expect((await exchange(getCode())).status).toBe(429)
  expect(provider.state.requests.filter((path) => path === '/token').length).toBe(3)
})

it('exchanges at most four codes of one address at once', async () => {
  const { provider, call, exchange } = await served()
  await call(`${api}/sign-in`, { token: '' })
  let release = () => {}
  provider.state.held = new Promise((resolve) => {
    release = resolve
  })
  const all = Array.from({ length: 10 }, async () => {
    const { status } = await exchange('made-up')
    // The first that is turned away comes after the ones that wait.
    if (status === 429) release()
    return status
  })
  const statuses = await Promise.all(all)
  expect(provider.state.requests.filter((path) => path === '/token').length).toBeLessThanOrEqual(10)
  expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(4)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1)
})

it('asks a provider for its addresses once for all, and again 5 seconds after a failure', async () => {
  let ahead = 0
  const clock = { ...systemClock, now: () => systemClock.now() + ahead }
  const { provider, call } = await served({ clock })
  provider.state.issuer = 'https://another.example'
  const show = async () => (await call(`${api}/sign-in`, { token: '' })).status
  expect(new Set(await Promise.all(Array.from({ length: 20 }, show)))).toEqual(new Set([503]))
  expect(provider.state.requests.length).toBe(1)
  provider.state.issuer = undefined
  expect(await show()).toBe(503)
  ahead = 5_001
  expect(await show()).toBe(200)
  expect(provider.state.requests.length).toBe(2)
})

it('answers 503 while the provider is down, and without a provider offers only tokens', async () => {
  const { provider, call } = await served()
  provider.close()
  expect((await call(`${api}/sign-in`, { token: '' })).status).toBe(503)
  const plain = await serve(tea, {})
  expect(await (await plain.call(`${api}/sign-in`, { token: '' })).json()).toEqual({})
})
