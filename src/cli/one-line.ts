/** Renders untrusted text for a terminal: on one line, truncated, and without control sequences. */

/** Control, format and separator characters, and lone surrogates. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu

export function oneLine(text: string, maxLength = 120): string {
  const shown = text
    .slice(0, maxLength * 4)
    .replace(unseen, ' ')
    .trimEnd()
  return shown.length <= maxLength && text.length <= maxLength * 4
    ? shown
    : `${shown.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** `1 run`, `2 runs`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Formats a duration for people. */
export function spell(ms: number): string {
  if (ms < 1_000) return `${Math.max(Math.round(ms), 0)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const unit = units.find(({ from }) => ms >= from)
  return `${Math.round(ms / (unit?.length ?? 60_000))} ${unit?.name ?? 'min'}`
}

const units = [
  { name: 'd', from: 2 * 86_400_000, length: 86_400_000 },
  { name: 'h', from: 2 * 3_600_000, length: 3_600_000 },
] as const
