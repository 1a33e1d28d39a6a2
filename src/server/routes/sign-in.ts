/**
 * Sign-in to the console by OpenID Connect: authorization code with PKCE. The browser goes to the identity provider and
 * returns with a code; the server exchanges the code, so that the client secret and the provider's addresses stay here and the
 * page needs no exception from its Content-Security-Policy. Nothing is stored: the token goes to the page that has the verifier.
 */
import { isObject } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { closed, text } from '../../domain/schemas/parts.ts'
import type { SignInOptions } from '../auth/authenticate.ts'
import type { VerifyJwt } from '../auth/jwt.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import type { GuardedFetch } from '../served.ts'
import { api, ok, refusals } from './parts.ts'

interface SignInParts {
  readonly issuer: string
  readonly fetch: GuardedFetch
  readonly verify: VerifyJwt
  readonly clock: Pick<Clock, 'now'>
  /** Called when the issuer cannot be asked. */
  readonly onError: (cause: unknown) => void
}

interface Endpoints {
  readonly authorization: string
  readonly token: string
}

const requestMs = 5_000
/** Exchanges under way at most: anyone may ask for one, and each is a request to the issuer. */
const mostExchanges = 20
/** Of one address, so that it does not turn everyone away. */
const mostOfAddress = 4
/** After a failed discovery the issuer is left alone for this time: every request would cause another one. */
const backOffMs = 5_000

const path = `${api}/sign-in`

/** Without options, the page learns that there is only the sign-in by token. */
export function signInRoutes(options: SignInOptions | undefined, parts: SignInParts | undefined): Route[] {
  const offered = options && parts ? { options, parts } : undefined
  const findEndpoints = offered && createDiscovery(offered.parts)
  const show: Route = {
    method: 'GET',
    path,
    operation: 'showSignIn',
    summary: 'Get where the console signs in; without a provider, only by a token',
    roles: 'anyone',
    replies: { 200: ok('The ways to sign in', shownSchema), ...refusals() },
    async handle() {
      if (!offered || !findEndpoints) return { status: 200, body: {} }
      const endpoints = await findEndpoints()
      if (endpoints === undefined) return unavailable
      const { clientId, scope = 'openid profile email' } = offered.options
      return { status: 200, body: { oidc: { url: endpoints.authorization, clientId, scope } } }
    },
  }
  const exchanges = createExchangeCounter()
  const exchange: Route = {
    method: 'POST',
    path,
    operation: 'signIn',
    summary: 'Exchange the code of the identity provider for a token of this session',
    roles: 'anyone',
    countsFailures: true,
    bodyLimit: 16_384,
    body: closed(
      { code: text, codeVerifier: { type: 'string', minLength: 43, maxLength: 128 }, redirectUri: text },
      ['code', 'codeVerifier', 'redirectUri'],
    ),
    replies: { 200: ok('The token, to be sent as a bearer token', signedInSchema), ...refusals() },
    async handle({ body, address }) {
      if (!offered || !findEndpoints) return notOffered
      const refused = exchanges.take(address)
      if (refused) return refused
      try {
        const endpoints = await findEndpoints()
        if (endpoints === undefined) return unavailable
        // Validated by the schema of the route.
        return await exchangeCode(body as unknown as CodeExchange, endpoints.token, offered)
      } finally {
        exchanges.release(address)
      }
    },
  }
  return [show, exchange]
}

/** Counts the exchanges under way, in all and by address. */
function createExchangeCounter() {
  const byAddress = new Map<string, number>()
  let all = 0
  return {
    take(address: string): Refusal | undefined {
      const own = byAddress.get(address) ?? 0
      if (own >= mostOfAddress) return tooMany
      if (all >= mostExchanges) return unavailable
      all++
      byAddress.set(address, own + 1)
      return undefined
    },
    release(address: string): void {
      all--
      const left = (byAddress.get(address) ?? 1) - 1
      if (left > 0) byAddress.set(address, left)
      else byAddress.delete(address)
    },
  }
}

const shownSchema = closed({
  oidc: closed({ url: text, clientId: text, scope: text }, ['url', 'clientId', 'scope']),
})
const signedInSchema = closed({ token: text }, ['token'])

const notOffered = refusal('auth/invalid', 'This server has no identity provider for people', {
  hint: 'Sign in with a token, or set `auth.client_id`',
})

const tooMany = refusal('rate/limit', `More than ${mostOfAddress} sign-ins of this address at once`, {
  hint: 'Retry in a second',
  headers: { 'retry-after': '1' },
})

const unavailable = refusal('auth/unavailable', 'The identity provider does not answer', {
  headers: { 'retry-after': '5' },
})

interface CodeExchange {
  readonly code: string
  readonly codeVerifier: string
  readonly redirectUri: string
}

/** Of the tokens that the provider returns, the first counts that this server accepts: access token, then ID token. */
async function exchangeCode(
  { code, codeVerifier, redirectUri }: CodeExchange,
  url: string,
  { options, parts }: { readonly options: SignInOptions; readonly parts: SignInParts },
): Promise<Refusal | { readonly status: number; readonly body: { readonly token: string } }> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    code_verifier: codeVerifier,
    redirect_uri: redirectUri,
    client_id: options.clientId,
    ...(options.clientSecret !== undefined && { client_secret: options.clientSecret }),
  })
  const answer = await askIssuer(parts, url, form)
  if (answer === undefined) return unavailable
  const { access_token: access, id_token: id } = answer.body
  if (answer.status !== 200)
    return refusal('auth/invalid', 'The identity provider refused the code', {
      hint: 'Sign in again; if it happens again, compare `auth.client_id` and the redirect URI with the provider',
    })
  let refused: Refusal | undefined
  for (const token of [access, id]) {
    if (typeof token !== 'string') continue
    const verified = await parts.verify(token)
    if (!('refused' in verified)) return { status: 200, body: { token } }
    refused = verified
  }
  return (
    refused ??
    refusal('auth/invalid', 'The identity provider returned no token', {
      hint: 'Let it issue JSON web tokens for one of `auth.audience`',
    })
  )
}

/**
 * Reads the addresses from the issuer, which must confirm its own name. They are kept once they are known, and a failure for 5
 * seconds; requests meanwhile share one question.
 */
function createDiscovery(parts: SignInParts): () => Promise<Endpoints | undefined> {
  let found: Promise<Endpoints | undefined> | undefined
  let failedUntil: number | undefined
  const ask = async (): Promise<Endpoints | undefined> => {
    const url = `${parts.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const answer = await askIssuer(parts, url)
    const { issuer, authorization_endpoint: authorization, token_endpoint: token } = answer?.body ?? {}
    if (issuer === parts.issuer && isUrl(authorization) && isUrl(token)) return { authorization, token }
    if (answer) parts.onError(new Error(`Cannot use ${url}: issuer or endpoints are missing or wrong`))
    failedUntil = parts.clock.now() + backOffMs
    return undefined
  }
  return () => {
    if (failedUntil !== undefined && parts.clock.now() >= failedUntil) {
      failedUntil = undefined
      found = undefined
    }
    found ??= ask()
    return found
  }
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value)
}

async function askIssuer(
  { fetch, onError }: SignInParts,
  url: string,
  form?: URLSearchParams,
): Promise<{ readonly status: number; readonly body: { readonly [name: string]: unknown } } | undefined> {
  try {
    const { status, text: said } = await fetch(url, AbortSignal.timeout(requestMs), form)
    const body: unknown = JSON.parse(said)
    return { status, body: isObject(body) ? body : {} }
  } catch (cause) {
    onError(cause)
    return undefined
  }
}
