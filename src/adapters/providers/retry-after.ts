/** How long a provider asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. */

/** Nobody is made to wait longer than this by a header. */
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
