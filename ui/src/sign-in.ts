/** Sign-in at an identity provider: authorization code with PKCE. The verifier and the place to return to are kept for this tab. */
import type { SignInChoice } from 'proviso/client'
import { getClient } from './session.ts'

const key = 'proviso.sign-in'
export const signInPath = '/sign-in'

interface Begun {
  readonly state: string
  readonly codeVerifier: string
  readonly returnTo: string
}

const redirectUri = () => `${location.origin}${signInPath}`

/** Whether this page can prove itself to a provider: browsers compute hashes in secure contexts only. */
export const canSignIn = globalThis.crypto?.subtle !== undefined

export async function beginSignIn({
  url,
  clientId,
  scope,
}: NonNullable<SignInChoice['oidc']>): Promise<void> {
  const codeVerifier = randomText()
  const state = randomText()
  const here = `${location.pathname}${location.search}`
  const returnTo = location.pathname === signInPath ? '/' : here
  sessionStorage.setItem(key, JSON.stringify({ state, codeVerifier, returnTo } satisfies Begun))
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))
  const target = new URL(url)
  const query = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri(),
    scope,
    state,
    code_challenge: toBase64Url(new Uint8Array(hash)),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value)
  location.assign(target)
}

export type Returned =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'signed-in'; readonly token: string; readonly returnTo: string }

/** Reads what the provider sent back. An answer to a question that this tab did not ask is refused. */
export async function finishSignIn(): Promise<Returned> {
  if (location.pathname !== signInPath) return { kind: 'none' }
  const query = new URLSearchParams(location.search)
  const text = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  // The code must not stay in the history of the browser.
  history.replaceState(history.state, '', signInPath)
  const begun = text === null ? undefined : (JSON.parse(text) as Begun)
  const code = query.get('code')
  if (query.has('error'))
    return { kind: 'refused', message: `The identity provider refused: ${query.get('error')}` }
  if (code === null || begun === undefined || begun.state !== query.get('state'))
    return { kind: 'refused', message: 'This sign-in was not started here. Sign in again.' }
  const { codeVerifier, returnTo } = begun
  const { token } = await getClient().signIn.exchange({ code, codeVerifier, redirectUri: redirectUri() })
  return {
    kind: 'signed-in',
    token,
    returnTo: returnTo.startsWith('/') && !returnTo.startsWith('//') ? returnTo : '/',
  }
}

function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
