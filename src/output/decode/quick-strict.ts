/** Faster forms of the checks of strict reading; the light reader has short forms with the same results. */

import { BACKSLASH, DQUOTE, isDigit, isOpener, LF, RBRACE, RBRACKET } from './chars.ts'

export type Strict = { readonly value: unknown } | undefined

/**
 * Looks for the faults that are cheap to find, in short texts. `JSON.parse` finds them as well, but takes as long to
 * throw as a kilobyte takes to read.
 */
export function hasFault(text: string): boolean {
  if (text.length > 4096) return false
  // Comments and trailing commas are looked for in the beginning only: their author rarely waits longer with the first one.
  const start = text.slice(0, 128)
  if (ODD_KEY.test(start)) return true
  if (start.includes('/') && OUTER_SLASH.test(start)) return true
  if (TRAILING_COMMA.test(start) && OUTER_TRAILING_COMMA.test(start)) return true
  return isLeftOpen(text) || hasStrayQuote(text)
}

/** A first key without double quotes. */
const ODD_KEY = /^\s*\{\s*[^\s"}]/
/** A slash outside of strings. */
const OUTER_SLASH = /^(?:[^"/]|"(?:[^"\\]|\\.)*")*\//
const TRAILING_COMMA = /,\s*[}\]]/
/** The same outside of strings. */
const OUTER_TRAILING_COMMA = /^(?:[^",]|"(?:[^"\\]|\\.)*"|,(?!\s*[}\]]))*,\s*[}\]]/
const QUOTE_BEFORE_WORD = /" [a-z]/

/** Whether the first quote between words is not escaped: in JSON one side of a quote is punctuation. */
function hasStrayQuote(text: string): boolean {
  const at = text.search(QUOTE_BEFORE_WORD)
  if (at <= 0) return false
  const before = text.charCodeAt(at - 1)
  return before >= 97 && before <= 122
}

/**
 * Whether a line break follows the opening bracket and the last line closes no bracket of an earlier line: a string has no
 * line breaks in JSON, so the first bracket is still open.
 */
function isLeftOpen(text: string): boolean {
  if (text.charCodeAt(1) !== LF || !isOpener(text.charCodeAt(0))) return false
  let depth = 0
  for (let i = Math.max(1, text.trimEnd().lastIndexOf('\n')); i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === DQUOTE) i = stringEnd(text, i + 1)
    else if (isOpener(c)) depth++
    else if ((c === RBRACE || c === RBRACKET) && --depth < 0) return false
  }
  return true
}

/** Offset of the quote that ends the string whose content begins at `from`; behind the text if it never ends. */
function stringEnd(text: string, from: number): number {
  let i = from
  while (i < text.length && text.charCodeAt(i) !== DQUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1
  return i
}

/** `JSON.parse` without capturing a stack trace for the discarded error, which takes longer than reading a short text. */
export function parseQuietly(text: string): Strict {
  const limit = Error.stackTraceLimit
  // `Reflect.set` instead of an assignment, which throws where the intrinsics are frozen.
  const isQuiet = limit > 0 && Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  } finally {
    if (isQuiet) Error.stackTraceLimit = limit
  }
}

/** Number of digits a double always preserves. */
const SAFE_DIGITS = 15

/** Whether a run of 16 digits occurs anywhere except after a decimal point. Samples every sixteenth character only. */
export function hasLongInteger(text: string): boolean {
  const n = text.length
  let i = SAFE_DIGITS
  while (i < n) {
    if (!isDigit(text.charCodeAt(i))) {
      i += SAFE_DIGITS + 1
      continue
    }
    let start = i
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--
    let end = i + 1
    while (end < n && isDigit(text.charCodeAt(end))) end++
    if (end - start > SAFE_DIGITS && text.charCodeAt(start - 1) !== 46) return true
    i = end + SAFE_DIGITS
  }
  return false
}
