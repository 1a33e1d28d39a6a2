/**
 * Detects plain text that is JSON (ADR-08, ADR-09, C22, C23). Called by `shorthand.ts` and by callers that bind free
 * text to native values.
 */
import { describeFault } from './json-error.ts'

export interface Detected {
  readonly isParsed: boolean
  /** The parsed value, or the content exactly as it came. */
  readonly value: unknown
}

/**
 * Strict detection: text that looks like JSON and parses becomes a value; any other text is returned unchanged. Text
 * with numbers that would lose digits as JavaScript numbers is returned unchanged too, so precision is never lost
 * silently.
 *
 * @example
 * detectJson(' [1, 2] ') // { isParsed: true, value: [1, 2] }
 * detectJson('{oops') // { isParsed: false, value: '{oops' }
 */
export function detectJson(content: unknown): Detected {
  const kept = { isParsed: false, value: content }
  if (typeof content !== 'string') return kept
  const trimmed = content.trim()
  if (!LOOKS_LIKE_JSON.test(trimmed)) return kept
  try {
    const value: unknown = JSON.parse(trimmed)
    return losesDigits(trimmed) ? kept : { isParsed: true, value }
  } catch {
    return kept
  }
}

/**
 * Why text that looks like JSON does not parse; undefined for parsed values and for text that does not look like JSON.
 */
export function jsonFault(content: unknown): string | undefined {
  if (typeof content !== 'string' || detectJson(content).isParsed) return undefined
  const trimmed = content.trim()
  if (!LOOKS_LIKE_JSON.test(trimmed)) return undefined
  try {
    JSON.parse(trimmed)
    return 'a number in it would lose digits'
  } catch {
    return describeFault(trimmed)
  }
}

const LOOKS_LIKE_JSON = /^(?:[{["\-\d]|true|false|null)/

/** Cheap pre-check: only text that matches is scanned number by number. */
const MAY_LOSE_DIGITS = /\d{16}|\de\+?\d{3}/i

/** Matches strings as a whole, so digits inside them never count as numbers. The text is valid JSON here. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

function losesDigits(json: string): boolean {
  if (!MAY_LOSE_DIGITS.test(json)) return false
  for (const [literal] of json.matchAll(STRING_OR_NUMBER)) {
    if (literal.startsWith('"')) continue
    const number = Number(literal)
    if (!Number.isFinite(number)) return true
    if (/^-?\d{16,}$/.test(literal) && BigInt(literal) !== BigInt(number)) return true
  }
  return false
}
