/**
 * Escapes text for databases. PostgreSQL refuses NUL and lone surrogates; SQLite truncates at NUL and silently replaces lone
 * surrogates. Both are written as U+FFFF and four hex digits; a literal U+FFFF is doubled. Applied to every text in both
 * directions, so that no column is forgotten.
 */

const mark = '\uffff'
const eachTroublesome = /[\0\uffff\p{Surrogate}]/gu
const marks = /\uffff(\uffff|[0-9a-f]{4})/g

export function toColumn(text: string): string {
  if (!needsEscape(text)) return text
  return text.replace(eachTroublesome, (unit) =>
    unit === mark ? mark + mark : mark + unit.charCodeAt(0).toString(16).padStart(4, '0'),
  )
}

/** Most texts are short and plain: these three checks avoid a regular expression. */
function needsEscape(text: string): boolean {
  return text.includes('\0') || text.includes(mark) || !text.isWellFormed()
}

export function fromColumn(text: string): string {
  if (!text.includes(mark)) return text
  return text.replace(marks, (_, code: string) =>
    code === mark ? mark : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
