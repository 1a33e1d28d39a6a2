/** A key goes to the server it was given for: redirects are not followed, because `fetch` takes headers such as `x-api-key` along. */

export function sameServer(fetch?: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => (fetch ?? globalThis.fetch)(input, { ...init, redirect: 'manual' })
}
