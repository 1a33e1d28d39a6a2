/** Sign-in of people by OpenID Connect: the code of the provider becomes a token that the API accepts, and nothing else does. */
import { createHash, randomBytes } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { openIdentityProvider } from './identity-provider.ts'
import { api, flexToken, serve, tea } from './support.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const redirectUri = 'http://console.example/sign-in'
const clientSecret = 'secret-of-the-client'

async function served() {
  const provider = await openIdentityProvider({ clientSecret })
  closers.push(provider.close)
  const jwt = { issuer: provider.issuer, audience: ['proviso', 'console'], allowLoopback: true }
  const { call } = await serve(tea, {
    auth: { token: flexToken, jwt, signIn: { clientId: 'console', clientSecret } },
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

it('answers 503 while the provider is down, and without a provider offers only tokens', async () => {
  const { provider, call } = await served()
  provider.close()
  expect((await call(`${api}/sign-in`, { token: '' })).status).toBe(503)
  const plain = await serve(tea, {})
  expect(await (await plain.call(`${api}/sign-in`, { token: '' })).json()).toEqual({})
})
