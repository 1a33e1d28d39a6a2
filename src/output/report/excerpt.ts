/** Short excerpts of texts and values, with invisible characters shown. Called by `explain.ts` and `feedback.ts`. */

/** Maximum length of an excerpt, in UTF-16 units. */
const MAX_LENGTH = 60

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Invisible characters: control, zero-width, direction and separator characters, and unpaired surrogates. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u00a0]/gu

/** The beginning of a text on one line, with invisible characters spelled out. */
export function excerpt(text: string, maxLength = MAX_LENGTH): string {
  const shown = visible(text.slice(0, maxLength + 1))
  if (text.length <= maxLength && shown.length <= maxLength) return shown
  const cut = shown.slice(0, maxLength - 1)
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** A value as JSON, cut like a text; a value that JSON cannot represent is shown by its type. */
export function excerptValue(value: unknown, maxLength = MAX_LENGTH): string {
  return excerpt(toJson(value), maxLength)
}

export function visible(text: string): string {
  return text.replace(INVISIBLE, (char) => NAMED[char] ?? spelled(char.codePointAt(0) ?? 0))
}

function spelled(code: number): string {
  const hex = code.toString(16)
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value
  } catch {
    return typeof value
  }
}
