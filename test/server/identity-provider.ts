/** An OpenID Connect provider on loopback for tests: discovery, keys, and the authorization code flow with PKCE, as RFC 7636 says. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

interface Pending {
  readonly challenge: string
  readonly redirectUri: string
}

export async function openIdentityProvider({ clientSecret }: { readonly clientSecret?: string } = {}) {
  const pair = await generateKeyPair('RS256')
  const key = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }
  const codes = new Map<string, Pending>()
  const state = {
    claims: {} as { [name: string]: unknown },
    refuses: false,
    asked: [] as URLSearchParams[],
    requests: [] as string[],
    /** Answers wait for it. */
    held: undefined as Promise<void> | undefined,
    /** The name that discovery confirms, if it is another one. */
    issuer: undefined as string | undefined,
  }
  const sign = (audience: string) =>
    new SignJWT({ sub: 'ann', roles: ['operator'], ...state.claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime('1h')
      .sign(pair.privateKey)

  /** The person agrees at once: the browser is sent back with a code. */
  const authorize = (query: URLSearchParams): string => {
    state.asked.push(query)
    const redirectUri = query.get('redirect_uri') ?? ''
    const back = new URL(redirectUri)
    back.searchParams.set('state', query.get('state') ?? '')
    if (state.refuses) {
      back.searchParams.set('error', 'access_denied')
      return back.href
    }
    if (query.get('code_challenge_method') !== 'S256') throw new Error('PKCE with S256 is required')
    const code = randomUUID()
    codes.set(code, { challenge: query.get('code_challenge') ?? '', redirectUri })
    back.searchParams.set('code', code)
    return back.href
  }
  const exchange = async (form: URLSearchParams): Promise<[status: number, body: object]> => {
    const code = form.get('code') ?? ''
    const pending = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      pending?.challenge === challenge &&
      pending.redirectUri === form.get('redirect_uri') &&
      form.get('client_id') === 'console' &&
      (form.get('client_secret') ?? undefined) === clientSecret
    if (!isRight) return [400, { error: 'invalid_grant' }]
    // The access token is for another service, as with many providers: the ID token is the one to use.
    return [200, { access_token: await sign('another-service'), id_token: await sign('console') }]
  }
  const answer = async (request: IncomingMessage): Promise<[status: number, body: object]> => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    state.requests.push(pathname)
    await state.held
    if (pathname === '/keys') return [200, { keys: [key] }]
    if (pathname === '/token') {
      let text = ''
      for await (const chunk of request) text += chunk
      return exchange(new URLSearchParams(text))
    }
    return [
      200,
      {
        issuer: state.issuer ?? issuer,
        jwks_uri: `${issuer}/keys`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
      },
    ]
  }
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', issuer)
    if (url.pathname === '/authorize')
      return void response.writeHead(302, { location: authorize(url.searchParams) }).end()
    const [status, body] = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    state,
    authorize,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
