/** Fast path: text that is strict JSON. */

import { isOpener, isSpace } from './chars.ts'
import { hasFault, hasLongInteger, parseQuietly, type Strict } from './quick-strict.ts'
import { classify } from './unquoted.ts'

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
 * Cheap pre-check of the outer brackets and the first key. Rejects broken, cut and surrounded texts early: on unclosed
 * brackets `JSON.parse` takes more than twice the time for twice the text.
 */
function mayBeJson(text: string): boolean {
  const ink = text.trim()
  const close = CLOSERS[ink.charAt(0)]
  if (close === undefined) return /^[-\dtfn]/.test(ink)
  return ink.length > 1 && ink.endsWith(close) && (close !== '}' || KEY_OR_END.test(ink))
}

/** An object begins with a key in double quotes, or is empty. */
const KEY_OR_END = /^\{\s*["}]/
const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '"': '"' }

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
