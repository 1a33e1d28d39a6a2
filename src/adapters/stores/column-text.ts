/**
 * Text as databases can keep it. PostgreSQL refuses NUL and lone surrogates, SQLite cuts a text at NUL and replaces lone
 * surrogates, without a word. Both are written as U+FFFF and four hex digits; a U+FFFF of the text itself is doubled.
 * Applied to every text on its way in and out, so that no column can be forgotten.
 */

const mark = '\uffff'
const eachTroublesome = /[\0\uffff\p{Surrogate}]/gu
const marks = /\uffff(\uffff|[0-9a-f]{4})/g

export function toColumn(text: string): string {
  if (!isTroublesome(text)) return text
  return text.replace(eachTroublesome, (unit) =>
    unit === mark ? mark + mark : mark + unit.charCodeAt(0).toString(16).padStart(4, '0'),
  )
}

/** Most texts are short and plain, and these three look at them without a regular expression. */
function isTroublesome(text: string): boolean {
  return text.includes('\0') || text.includes(mark) || !text.isWellFormed()
}

export function fromColumn(text: string): string {
  if (!text.includes(mark)) return text
  return text.replace(marks, (_, code: string) =>
    code === mark ? mark : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
