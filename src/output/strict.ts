/** The happy path: text that is JSON as it stands. */
import { classify } from './bare.ts'
import { isDigit, isOpener, isSpace } from './chars.ts'

export type Strict = { readonly value: unknown } | undefined

/** An exponent that may be too large for a double. */
const EXPONENT = /\d[eE]\+?\d{3}/

/** The value of strict JSON; undefined when the text is not, or when a number in it would lose digits. */
export function parseStrict(text: string): Strict {
  if (!endsAsItBegan(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const suspect = hasLongInteger(text) || EXPONENT.test(text)
  return suspect && losesDigits(text) ? undefined : { value }
}

/**
 * What was opened first is closed last. Spares cut and surrounded texts the run to their end: on brackets that are never
 * closed `JSON.parse` takes more than twice the time for twice the text.
 */
function endsAsItBegan(text: string): boolean {
  let first = 0
  while (isSpace(text.charCodeAt(first))) first++
  let last = text.length - 1
  while (last > first && isSpace(text.charCodeAt(last))) last--
  const close = CLOSERS[text.charAt(first)]
  return close === undefined || (last > first && text.charAt(last) === close)
}

const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '"': '"' }

/** How many digits a double holds for certain. */
const SAFE_DIGITS = 15

/** Whether a run of 16 digits stands anywhere but behind a point: looks at every sixteenth character only. */
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

/** Whether any number of a valid JSON text is too large for a double. */
function losesDigits(text: string): boolean {
  TOKENS.lastIndex = 0
  for (let match = TOKENS.exec(text); match !== null; match = TOKENS.exec(text)) {
    if (match[0].length >= 5 && match[0][0] !== '"' && classify(match[0]).kind === 'big') return true
  }
  return false
}

/** So many brackets at the very beginning are an attack, whatever follows. */
const MOST_OPENERS = 100_000

/** Told without parsing: `JSON.parse` takes long for such a text, and hands out a value that ends the stack of whoever walks it. */
export function beginsTooDeep(text: string): boolean {
  let openers = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (isOpener(c)) openers++
    else if (!isSpace(c)) break
  }
  return openers >= MOST_OPENERS
}

/** Whether a value is nested deeper than `limit`; iterative, so that no depth can overflow the stack. */
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
