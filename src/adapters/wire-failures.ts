/** What a failed connection says of itself: codes and words, wherever Node and fetch have hidden them. */

/** The connection never stood: nothing was sent. */
export const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The connection broke: whether the call arrived is not known. */
export const broken: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET'])

/** The other side said nothing for too long. */
export const silent: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** Codes of the error and of what caused it; fetch hides them two levels down. */
export function codesOf(cause: unknown, depth = 0): string[] {
  if (!(cause instanceof Error) || depth > 5) return []
  const code = Reflect.get(cause, 'code')
  const inner: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause.cause]
  return [...(typeof code === 'string' ? [code] : []), ...inner.flatMap((error) => codesOf(error, depth + 1))]
}
