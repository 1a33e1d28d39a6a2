/** Fast path: text that is strict JSON. */

import { DQUOTE, isDigit, isOpener, isSpace, LF, RBRACE } from './chars.ts'
import { classify } from './unquoted.ts'

export type Strict = { readonly value: unknown } | undefined

/** An exponent that may exceed the range of a double. */
const EXPONENT = /\d[eE]\+?\d{3}/

/** Parses strict JSON; undefined for other text and for text with numbers that would lose digits. */
export function parseStrict(text: string): Strict {
  if (!mayBeJson(text) || hasFault(text)) return undefined
  const parsed = parseQuietly(text)
  if (parsed === undefined) return undefined
  const suspect = hasLongInteger(text) || EXPONENT.test(text)
  return suspect && losesDigits(text) ? undefined : parsed
}

/**
 * Looks for the faults that are cheap to find, in short texts. `JSON.parse` finds them as well, but takes as long to
 * throw as a kilobyte takes to read.
 */
function hasFault(text: string): boolean {
  if (text.length > 4096) return false
  // Comments are looked for in the beginning only: their author rarely waits longer with the first one.
  const start = text.slice(0, 128)
  if (start.includes('/') && OUTER_SLASH.test(start)) return true
  return hasStrayQuote(text) || (hasOddEnd(text) && isUnbalanced(text))
}

/** A slash outside of strings. */
const OUTER_SLASH = /^(?:[^"/]|"(?:[^"\\]|\\.)*")*\//
const QUOTE_BEFORE_WORD = /" [a-z]/

/** Whether the first quote between words is not escaped: in JSON one side of a quote is punctuation. */
function hasStrayQuote(text: string): boolean {
  const at = text.search(QUOTE_BEFORE_WORD)
  if (at <= 0) return false
  const before = text.charCodeAt(at - 1)
  return before >= 97 && before <= 122
}

/** Whether a line break follows the opening bracket and the last line begins with no bracket: closing ones may be missing. */
function hasOddEnd(text: string): boolean {
  if (text.charCodeAt(1) !== LF) return false
  const last = text.trimEnd().lastIndexOf('\n')
  return !/^\s*[}\]]/.test(text.slice(last))
}

const BRACKETS = /"(?:[^"\\]|\\.)*"|[[\]{}]/g

/** Whether brackets outside of strings are left open, or closed too often. */
function isUnbalanced(text: string): boolean {
  let depth = 0
  for (BRACKETS.lastIndex = 0; BRACKETS.test(text); ) {
    const c = text.charCodeAt(BRACKETS.lastIndex - 1)
    if (isOpener(c)) depth++
    else if (c !== DQUOTE) depth--
  }
  return depth !== 0
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

/**
 * Cheap pre-check of the outer brackets and the first key. Rejects broken, cut and surrounded texts early: on unclosed
 * brackets `JSON.parse` takes more than twice the time for twice the text.
 */
function mayBeJson(text: string): boolean {
  let first = 0
  while (isSpace(text.charCodeAt(first))) first++
  let last = text.length - 1
  while (last > first && isSpace(text.charCodeAt(last))) last--
  const close = CLOSERS[text.charAt(first)]
  if (close === undefined) return /[-\dtfn]/.test(text.charAt(first))
  return last > first && text.charAt(last) === close && (close !== '}' || hasQuotedKey(text, first + 1))
}

/** An object begins with a key in double quotes, or is empty. */
function hasQuotedKey(text: string, from: number): boolean {
  let i = from
  while (isSpace(text.charCodeAt(i))) i++
  const c = text.charCodeAt(i)
  return c === DQUOTE || c === RBRACE
}

const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '"': '"' }

/** Number of digits a double always preserves. */
const SAFE_DIGITS = 15

/** Whether a run of 16 digits occurs anywhere except after a decimal point. Samples every sixteenth character only. */
function hasLongInteger(text: string): boolean {
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

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** Whether any number in valid JSON text exceeds what a double can hold. */
function losesDigits(text: string): boolean {
  TOKENS.lastIndex = 0
  for (let match = TOKENS.exec(text); match !== null; match = TOKENS.exec(text)) {
    if (match[0].length >= 5 && match[0][0] !== '"' && classify(match[0]).kind === 'big') return true
  }
  return false
}

/** Number of leading brackets that counts as an attack. */
const MOST_OPENERS = 100_000

/**
 * Checks the depth without parsing: `JSON.parse` is slow on such text, and recursive code that walks the value
 * overflows the stack.
 */
export function beginsTooDeep(text: string): boolean {
  let openers = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (isOpener(c)) openers++
    else if (!isSpace(c)) break
  }
  return openers >= MOST_OPENERS
}

/** Whether a value is nested deeper than `limit`. Iterative, so no depth overflows the stack. */
export function deeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  let level: unknown[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limit) return true
    const next: unknown[] = []
    for (const container of level) {
      for (const inner of Object.values(container as object)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner)
      }
    }
    level = next
  }
  return false
}
