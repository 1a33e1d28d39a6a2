/** Who uses the console: the token of this tab, the client that sends it, and the state of the connection. */
import { type CallerInfo, type Client, ClientError, createClient } from 'proviso/client'
import { shallowReactive } from 'vue'

/** Kept for this tab only, and never written to local storage. */
const tokenKey = 'proviso.token'

interface Session {
  state: 'loading' | 'signed-out' | 'ready' | 'unreachable'
  me: CallerInfo | undefined
  error: string
  /** Whether the last request reached the server. */
  isOnline: boolean
  /** When the server last answered. */
  lastAnswer: Date | undefined
}

export const session: Session = shallowReactive({
  state: 'loading',
  me: undefined,
  error: '',
  isOnline: true,
  lastAnswer: undefined,
})

let token = sessionStorage.getItem(tokenKey) ?? undefined
let client = makeClient()

export function getClient(): Client {
  return client
}

/** Names the connection that tabs of the same user share; without a secure context tabs share nothing. */
export async function getShareKey(): Promise<string | undefined> {
  if (!('locks' in navigator) || !globalThis.crypto?.subtle) return undefined
  const bytes = new TextEncoder().encode(`proviso ${token ?? ''}`)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(hash.slice(0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function makeClient(): Client {
  return createClient({
    url: location.origin,
    ...(token !== undefined && { token }),
    retry: { attempts: 4, minMs: 300, maxMs: 3_000 },
    async fetch(url, init) {
      try {
        const response = await globalThis.fetch(url, init)
        setOnline(true)
        return response
      } catch (error) {
        if (!init.signal?.aborted) setOnline(false)
        throw error
      }
    },
  })
}

export function setOnline(isOnline: boolean): void {
  session.isOnline = isOnline
  if (isOnline) session.lastAnswer = new Date()
}

/** Asks the server who the token belongs to. In development mode no token is needed. */
export async function openSession(given?: string): Promise<void> {
  if (given !== undefined) {
    token = given
    client = makeClient()
  }
  session.error = ''
  try {
    session.me = await client.me()
    session.state = 'ready'
    if (given !== undefined) sessionStorage.setItem(tokenKey, given)
  } catch (error) {
    if (error instanceof ClientError && (error.status === 401 || error.status === 403)) {
      session.state = 'signed-out'
      // The first visit without a token is not an error of the user.
      session.error = token === undefined ? '' : error.message
      forgetToken()
      return
    }
    session.state = 'unreachable'
    session.error = describeError(error)
  }
}

export function signOut(): void {
  forgetToken()
  session.me = undefined
  session.state = 'signed-out'
  session.error = ''
}

function forgetToken(): void {
  token = undefined
  sessionStorage.removeItem(tokenKey)
  client = makeClient()
}

export function hasRole(...roles: readonly CallerInfo['role'][]): boolean {
  const role = session.me?.role
  return role !== undefined && (role === 'admin' || roles.includes(role))
}

export function describeError(error: unknown): string {
  if (error instanceof ClientError)
    return error.hint ? `${error.message}. ${error.hint}.`.replaceAll('..', '.') : error.message
  return error instanceof Error ? error.message : String(error)
}
