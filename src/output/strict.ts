/** The happy path: text that is JSON as it stands. */
import { classify } from './bare.ts'

export type Strict = { readonly value: unknown } | undefined

/** Digits that a double might not hold; one cheap look at the text decides whether to look closer. */
const SUSPECT = /\d{16}|[eE]\+?\d{3}/

/** The value of strict JSON; undefined when the text is not, or when a number in it would lose digits. */
export function parseStrict(text: string): Strict {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return SUSPECT.test(text) && losesDigits(text) ? undefined : { value }
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
