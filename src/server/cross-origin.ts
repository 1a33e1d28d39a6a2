/** What browsers may do with the answers: headers that close doors, and the list of origins for which one is opened. */
import { ProvisoError } from '../base/error.ts'

/** Nothing here is a page: no script, no frame, no guessing of types, nothing kept. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** An entry that no browser would ever send would keep its pages out without a word. */
export function requireOrigins(origins: readonly string[]): void {
  const wrong = origins.find((each) => !URL.canParse(each) || new URL(each).origin !== each)
  if (wrong !== undefined)
    throw new ProvisoError('option/invalid', `"${wrong}" is no origin whose pages could be let in`, {
      hint: 'Write scheme, host and port alone, such as https://console.example: no path, no slash at the end, no *',
    })
}

/** The headers for an origin that is on the list; none for others, so that browsers keep the answer from them. */
export function corsHeaders(
  origin: string | undefined,
  allowed: readonly string[],
): Readonly<Record<string, string>> {
  if (allowed.length === 0) return {}
  if (origin === undefined || !allowed.includes(origin)) return { vary: 'origin' }
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'location, retry-after, allow, proviso-run-id, idempotency-replayed, deprecation, warning, link',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'origin',
  }
}

/** The answer to the question that a browser asks first. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, accept, idempotency-key, last-event-id, traceparent',
  'access-control-max-age': '600',
}

/** Development mode is open, so a page that resolves its own name to loopback must not be served. */
export function isLoopbackName(host: string | undefined): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host ?? '')
}

export function isLoopbackAddress(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)
}
