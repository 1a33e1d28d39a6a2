/** Classifies failed connections by the error codes of Node and fetch. */

// Parses how long a provider asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

/** Maximum wait that a header can request. */
const longest = 60 * 60_000

/** `now` in milliseconds since 1970. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const find = (name: string) =>
    Object.entries(headers)
      .find(([key]) => key.toLowerCase() === name)?.[1]
      ?.trim()
  const ms = Number(find('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 0) return Math.min(ms, longest)
  const said = find('retry-after')
  if (said === undefined || said === '') return undefined
  const seconds = Number(said)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(said) - now
  return Number.isFinite(wait) ? Math.min(Math.max(Math.round(wait), 0), longest) : undefined
}

/** The connection was never established: nothing was sent. */
export const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The connection broke: it is unknown whether the call arrived. */
export const broken: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET'])

/** The peer timed out. */
export const silent: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** Returns the codes of an error and its causes; fetch nests them two levels deep. */
export function listErrorCodes(cause: unknown, depth = 0): string[] {
  if (!(cause instanceof Error) || depth > 5) return []
  const code = Reflect.get(cause, 'code')
  const inner: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause.cause]
  return [
    ...(typeof code === 'string' ? [code] : []),
    ...inner.flatMap((error) => listErrorCodes(error, depth + 1)),
  ]
}
