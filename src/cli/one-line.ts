/** Texts of models and strangers for a terminal: on one line, cut, and without anything that a terminal would obey. */

/** Control, format and separator characters, and halves of pairs. */
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

/** A duration as people say it. */
export function spell(ms: number): string {
  if (ms < 1_000) return `${Math.max(Math.round(ms), 0)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  for (const [unit, length] of units) if (ms >= length) return `${Math.round(ms / length)} ${unit}`
  return ''
}

const units = [
  ['d', 2 * 86_400_000],
  ['h', 2 * 3_600_000],
  ['min', 60_000],
] as const
