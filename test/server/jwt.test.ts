/** JSON web tokens of an identity provider on loopback: what gets in, as whom, and what does not. */
import { generateKeyPairSync } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportPKCS8, exportSPKI, generateKeyPair, importPKCS8, SignJWT } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import type { AppOptions } from '../../src/index.ts'
import { createServer, type JwtOptions, type ServerOptions } from '../../src/server/index.ts'
import { systemClock } from '../seams/base.ts'
import { api, flexToken, open, serve, start, tea, text } from './support.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

type Pair = Awaited<ReturnType<typeof generateKeyPair>>

/** An issuer with discovery and a key set that can be changed. */
async function openIssuer() {
  const keys = new Map<string, Pair>([['one', await generateKeyPair('RS256')]])
  const state = { requests: [] as string[], isDown: false, keySet: undefined as string | undefined }
  const server = createHttpServer(async (request, response) => {
    state.requests.push(request.url ?? '')
    if (state.isDown) return void response.writeHead(500).end()
    response.setHeader('content-type', 'application/json')
    if (request.url === '/.well-known/openid-configuration')
      return void response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }))
    if (state.keySet !== undefined) return void response.end(state.keySet)
    const jwks = [...keys].map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg: 'RS256',
    }))
    response.end(JSON.stringify({ keys: await Promise.all(jwks) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  /** A token of ann, a caller of acme, for an hour. */
  const sign = async (claims: { [name: string]: unknown } = {}, kid = 'one', pair = keys.get(kid)) => {
    const now = Math.floor(Date.now() / 1_000)
    const usual = {
      iss: issuer,
      aud: 'proviso',
      sub: 'ann',
      roles: ['caller'],
      org: 'acme',
      exp: now + 3_600,
    }
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign((pair ?? (await generateKeyPair('RS256'))).privateKey)
  }
  return { issuer, keys, state, sign }
}

const agents = { http: { allowLoopback: true, clearSecrets: true } }

async function served(
  more: Partial<JwtOptions> = {},
  options: AppOptions = tea,
  server: Partial<ServerOptions> = {},
) {
  const idp = await openIssuer()
  const jwt = { issuer: idp.issuer, audience: 'proviso', tenantClaim: 'org', allowLoopback: true, ...more }
  const { call, app } = await serve(options, { auth: { token: flexToken, jwt }, ...server })
  const ask = async (token: string, path = '/runs') => {
    const response = await call(`${api}${path}`, { token })
    const said = response.status === 200 ? undefined : await response.json()
    return { status: response.status, code: said?.code, detail: said?.detail, headers: response.headers }
  }
  return { ...idp, call, app, ask }
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

describe('a JSON web token', () => {
  it('is accepted with keys that are discovered at the issuer; the journal names its subject', async () => {
    const { sign, call, app, state } = await served()
    const token = await sign()
    const begun = await call(`${api}/runs?wait=20`, { body: start(), token })
    expect(begun.status).toBe(200)
    const { runId } = await begun.json()
    expect((await app.store.head(runId))?.tenant).toBe('acme')
    expect(state.requests).toEqual(['/.well-known/openid-configuration', '/keys'])
    // Tokens of the options and of the store are accepted besides.
    expect((await call(`${api}/runs`)).status).toBe(200)
  })

  it('shows each tenant its own runs only', async () => {
    const { sign, call, ask } = await served()
    const { runId } = await (await call(`${api}/runs`, { body: start(), token: await sign() })).json()
    expect((await ask(await sign(), `/runs/${runId}`)).status).toBe(200)
    expect((await ask(await sign({ org: 'other' }), `/runs/${runId}`)).status).toBe(404)
    expect((await ask(flexToken, `/runs/${runId}`)).status).toBe(404)
  })

  it.each([
    ['for another audience', { aud: 'billing' }, 'The claim "aud" of the token is missing or wrong'],
    [
      'of another issuer',
      { iss: 'https://evil.example' },
      'The claim "iss" of the token is missing or wrong',
    ],
    ['that has expired', { exp: 1_000 }, 'The token has expired'],
    ['that is not valid yet', { nbf: 9_999_999_999 }, 'The token is not valid yet'],
    ['that never expires', { exp: undefined }, 'The claim "exp" of the token is missing or wrong'],
    ['named like a token', { sub: 'ann (tok_1)' }, 'The claim "sub" of the token is missing or wrong'],
    ['without a name', { sub: undefined }, 'The claim "sub" of the token is missing or wrong'],
  ])('%s is refused with 401', async (_name, claims, detail) => {
    const { sign, ask } = await served()
    const refused = await ask(await sign(claims))
    expect([refused.status, refused.code, refused.detail]).toEqual([401, 'auth/invalid', detail])
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('within the clock tolerance is accepted', async () => {
    const { sign, ask } = await served({ clockToleranceSeconds: 60 })
    const now = Math.floor(Date.now() / 1_000)
    expect((await ask(await sign({ exp: now - 20, nbf: now + 20 }))).status).toBe(200)
  })

  it('signed with another key, with none, or with the public key as a secret is refused', async () => {
    const { sign, ask, issuer, keys } = await served()
    const forged = await sign({}, 'one', await generateKeyPair('RS256'))
    const claims = {
      iss: issuer,
      aud: 'proviso',
      sub: 'eve',
      roles: ['admin'],
      org: 'acme',
      exp: 9_999_999_999,
    }
    const none = `${encode({ alg: 'none' })}.${encode(claims)}.`
    const pem = new TextEncoder().encode(await exportSPKI(keys.get('one')!.publicKey))
    const confused = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(pem)
    const details = []
    for (const token of [forged, none, confused]) {
      const refused = await ask(token)
      expect(refused.status).toBe(401)
      details.push(refused.detail)
    }
    expect(details).toEqual([
      'The signature of the token is wrong',
      'The algorithm of the token is not allowed',
      'The algorithm of the token is not allowed',
    ])
  })

  it('with the public key of the options is not confused with a secret either', async () => {
    const pair = await generateKeyPair('ES256')
    const publicKey = await exportSPKI(pair.publicKey)
    const { ask, issuer } = await served({ publicKey, algorithms: ['ES256'] })
    const claims = {
      iss: issuer,
      aud: 'proviso',
      sub: 'ann',
      roles: ['caller'],
      org: 'acme',
      exp: 9_999_999_999,
    }
    const good = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(pair.privateKey)
    expect((await ask(good)).status).toBe(200)
    const confused = new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(publicKey))
    expect((await ask(await confused)).status).toBe(401)
  })

  it('with a shared secret is accepted where one is configured', async () => {
    const secret = 'a shared secret of more than 32 characters'
    const { ask, issuer } = await served({ secret })
    const claims = {
      iss: issuer,
      aud: 'proviso',
      sub: 'ann',
      roles: 'reader caller',
      org: 'acme',
      exp: 9_999_999_999,
    }
    const key = new TextEncoder().encode(secret)
    expect((await ask(await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key))).status).toBe(
      200,
    )
    expect((await ask(await new SignJWT(claims).setProtectedHeader({ alg: 'HS512' }).sign(key))).status).toBe(
      401,
    )
  })

  it('of a new key is accepted after a rotation; an unknown key asks the issuer once in a cooldown', async () => {
    const { sign, ask, keys, state } = await served({ cooldownSeconds: 0 })
    expect((await ask(await sign())).status).toBe(200)
    keys.set('two', await generateKeyPair('RS256'))
    keys.delete('one')
    expect((await ask(await sign({}, 'two'))).status).toBe(200)
    const calm = await served({ cooldownSeconds: 3_600 })
    expect((await calm.ask(await calm.sign())).status).toBe(200)
    for (let count = 0; count < 5; count++) {
      const refused = await calm.ask(await calm.sign({}, 'unknown'))
      expect([refused.status, refused.detail]).toEqual([
        401,
        'The issuer has no key with the key id of the token',
      ])
    }
    expect(calm.state.requests.filter((url) => url === '/keys').length).toBe(1)
    expect(state.requests.filter((url) => url === '/keys').length).toBe(2)
  })

  it('brings the roles of its person for tasks, as a list or a text', async () => {
    const { sign, call } = await served({ taskRolesClaim: 'org_access.duties' }, agents)
    const admin = await sign({ roles: ['admin'] })
    const review = {
      capabilityId: 'review',
      version: '1',
      displayName: 'Review',
      summary: 'A person writes the text',
      inputContract: { type: 'object' },
      outputContract: text,
      human: { role: 'legal' },
    }
    expect((await call(`${api}/capabilities/register`, { body: review, token: admin })).status).toBe(201)
    const draft = { nodes: [{ id: 'write', capabilityId: 'review' }] }
    await (await call(`${api}/runs?wait=20`, { body: start({}, draft), token: admin })).json()
    const countTasks = async (claims: { [name: string]: unknown }) => {
      const token = await sign({ roles: ['operator'], ...claims })
      const answer = await call(`${api}/tasks?filter=role`, { token })
      return ((await answer.json()) as unknown as { tasks: unknown[] }).tasks.length
    }
    expect(await countTasks({ org_access: { duties: ['legal'] } })).toBe(1)
    expect(await countTasks({ org_access: { duties: 'sales legal' } })).toBe(1)
    expect(await countTasks({ org_access: { duties: ['sales'] } })).toBe(0)
    expect(await countTasks({})).toBe(0)
  })

  it('gets the role that its claims are mapped to, the strongest of several, and 403 without one', async () => {
    const roles = { staff: 'caller', leads: 'operator' } as const
    const { sign, ask } = await served({ rolesClaim: 'realm_access.roles', roles })
    const of = (...names: string[]) => sign({ realm_access: { roles: names } })
    expect((await ask(await of('staff'), '/hitl')).status).toBe(403)
    expect((await ask(await of('staff', 'leads'), '/hitl')).status).toBe(200)
    // The names of roles themselves mean nothing once there is a mapping.
    for (const token of [await of('admin'), await sign({ realm_access: {} }), await sign()]) {
      const refused = await ask(token)
      expect([refused.status, refused.code]).toEqual([403, 'auth/forbidden'])
      expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    }
  })

  it('without the claim of the tenant is refused, not given the default tenant', async () => {
    const { sign, ask } = await served()
    for (const org of [undefined, '', 7]) expect((await ask(await sign({ org }))).status).toBe(403)
  })

  it('is refused with 503 while the issuer fails, which is not asked for every token', async () => {
    const { sign, ask, state } = await served()
    state.isDown = true
    const token = await sign()
    // More often than a caller with wrong tokens is heard: it has none.
    for (let count = 0; count < 70; count++) {
      const refused = await ask(token)
      expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([
        503,
        'auth/unavailable',
        '5',
      ])
    }
    expect(state.requests.length).toBe(1)
  })

  const shortKey = { kty: 'RSA', kid: 'one', n: 'AQ', e: 'AQAB' }
  it.each([
    ['a page', '<html>'],
    ['an object without keys', '{}'],
    ['a list of something else', '{"keys": [1]}'],
    ['a key that is too short', JSON.stringify({ keys: [shortKey] })],
    ['a key without its parts', '{"keys": [{"kty": "RSA", "kid": "one"}]}'],
  ])('is refused with 503 while the key set is %s, which is not read for every token', async (_name, set) => {
    const { sign, ask, state } = await served()
    state.keySet = set
    const token = await sign()
    for (let count = 0; count < 4; count++) {
      const { status, code } = await ask(token)
      expect([status, code]).toEqual([503, 'auth/unavailable'])
    }
    expect(state.requests.filter((url) => url === '/keys').length).toBe(1)
  })

  it('is accepted once the issuer has corrected its key, 5 seconds later', async () => {
    let ahead = 0
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    const { sign, ask, state, keys } = await served({}, tea, { clock })
    keys.set('two', await generateKeyPair('RS256'))
    const good = { ...(await exportJWK(keys.get('two')!.publicKey)), kid: 'two', alg: 'RS256' }
    state.keySet = JSON.stringify({ keys: [shortKey, good] })
    expect((await ask(await sign())).status).toBe(503)
    expect((await ask(await sign({}, 'two'))).status, 'other keys stay usable').toBe(200)
    state.keySet = undefined
    expect((await ask(await sign())).status).toBe(503)
    ahead = 5_001
    expect((await ask(await sign())).status).toBe(200)
  })

  it('of any algorithm is verified with the key of the options, or refused with 401', async () => {
    const pair = await generateKeyPair('RS256', { extractable: true })
    const publicKey = await exportSPKI(pair.publicKey)
    const failures = { requests: 4, seconds: 60 }
    const { ask, issuer } = await served({ publicKey, algorithms: ['RS256', 'RS512', 'PS256'] }, tea, {
      limits: { failures },
    })
    const claims = {
      iss: issuer,
      aud: 'proviso',
      sub: 'ann',
      roles: ['caller'],
      org: 'acme',
      exp: 9_999_999_999,
    }
    const pem = await exportPKCS8(pair.privateKey)
    for (const alg of ['RS256', 'RS512', 'PS256']) {
      const key = await importPKCS8(pem, alg)
      const token = await new SignJWT(claims).setProtectedHeader({ alg }).sign(key)
      expect((await ask(token)).status, alg).toBe(200)
    }
    const statuses = []
    for (const alg of ['RS512', 'PS256', 'ES256', 'none', 'RS256'])
      statuses.push((await ask(`${encode({ alg })}.${encode(claims)}.AAAA`)).status)
    expect(statuses, 'each one counts as a refused token').toEqual([401, 401, 401, 401, 429])
  })

  it('of an issuer on a private address is not verified unless that is allowed', async () => {
    const { sign, ask, state } = await served({ allowLoopback: false })
    expect((await ask(await sign())).status).toBe(503)
    expect(state.requests).toEqual([])
  })
})

const ecKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString()
const shortRsaKey = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString()

describe('auth.jwt', () => {
  it.each([
    [{ audience: [] }, 'audience'],
    [{ issuer: '' }, 'issuer'],
    [{ issuer: 'acme' }, 'discovery'],
    [{ secret: 'short' }, 'at least 32'],
    [{ algorithms: ['HS256'] }, 'algorithms'],
    [{ algorithms: ['none'] }, 'algorithms'],
    [{ algorithms: [] }, 'algorithms'],
    [{ jwksUrl: 'https://a.example', publicKey: 'x' }, 'at most one'],
    [{ roles: { a: 'boss' } }, 'roles'],
    [{ publicKey: 'x' }, 'must be a public key in PEM'],
    [{ publicKey: ecKey }, '`auth.jwt.algorithms` must be of ES256'],
    [{ publicKey: ecKey, algorithms: ['ES256', 'ES384'] }, 'got "ES384"'],
    [{ publicKey: shortRsaKey }, 'got rsa 1024'],
  ])('refuses %j', async (more, message) => {
    const app = await open(tea)
    const jwt = { issuer: 'https://login.example', audience: 'proviso', ...more } as JwtOptions
    expect(() => createServer({ app, auth: { jwt } })).toThrow(message)
  })
})
