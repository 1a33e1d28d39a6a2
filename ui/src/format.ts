/** Numbers, times and values as people read them. */

// Made once: a formatter costs more than what it formats.
const ofToday = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const ofOtherDays = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

export function formatTime(iso: string | undefined): string {
  if (iso === undefined) return ''
  const date = new Date(iso)
  const now = new Date()
  const isToday =
    date.getDate() === now.getDate() &&
    date.getMonth() === now.getMonth() &&
    date.getFullYear() === now.getFullYear()
  return (isToday ? ofToday : ofOtherDays).format(date)
}

export function formatDuration(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return ''
  const ms = (to === undefined ? Date.now() : Date.parse(to)) - Date.parse(from)
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
  return `${(ms / 3_600_000).toFixed(1)} h`
}

/** The time until a moment, or since it. */
export function formatDistance(iso: string, now = Date.now()): string {
  const ms = Date.parse(iso) - now
  const size = Math.abs(ms)
  const text =
    size < 60_000
      ? `${Math.round(size / 1_000)} s`
      : size < 3_600_000
        ? `${Math.round(size / 60_000)} min`
        : size < 86_400_000
          ? `${Math.round(size / 3_600_000)} h`
          : `${Math.round(size / 86_400_000)} d`
  return ms >= 0 ? `in ${text}` : `${text} ago`
}

export function formatCost(usd: number | undefined): string {
  if (usd === undefined) return ''
  return usd === 0 ? '$0' : usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`
}

export function formatTokens(usage: {
  readonly inputTokens?: number
  readonly outputTokens?: number
}): string {
  const { inputTokens, outputTokens } = usage
  if (!inputTokens && !outputTokens) return ''
  return `${(inputTokens ?? 0).toLocaleString()} in, ${(outputTokens ?? 0).toLocaleString()} out`
}

export function toJson(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

/** One line of a value, for lists. */
export function toLine(value: unknown, most = 140): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > most ? `${text.slice(0, most)}…` : text
}

export function toWords(status: string): string {
  return status.replaceAll('_', ' ')
}

/** The words of an answer that has nothing else: a text, or an object whose one member is a text. */
export function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const members = Object.values(value)
  return members.length === 1 && typeof members[0] === 'string' ? members[0] : undefined
}
