/**
 * Turns issues into instructions for a model. Called by the generation fallback steps for model repair and stricter
 * retries (FSD-14, FSD-38).
 */
import type { Issue, Location } from '../../base/errors/issue.ts'
import { tokens } from '../../base/pointer.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { excerpt, excerptValue, visible } from './excerpt.ts'

export interface FeedbackOptions {
  /** Appended in compact form if it fits. Default: omitted. */
  readonly schema?: JsonSchema
  /** Maximum length of the feedback, in UTF-16 units. Default 2000. */
  readonly maxLength?: number
}

const OPENING = 'The JSON is not valid yet. Correct this:'
const CLOSING = 'Return only the corrected JSON.'

/**
 * One line per issue, sorted by location, independent of the input order. Contains only what the issues contain.
 *
 * @example
 * feedback([{ code: 'schema/type', at: { pointer: '/qty' }, message: 'Wrong type', expected: 'integer', actual: 'two' }])
 * // The JSON is not valid yet. Correct this:
 * // - /qty: Wrong type. Expected "integer", got "two".
 * // Return only the corrected JSON.
 */
export function feedback(issues: readonly Issue[], options: FeedbackOptions = {}): string {
  const { schema, maxLength = 2000 } = options
  if (issues.length === 0) return CLOSING
  const lines = [...new Set([...issues].sort(byLocation).map(line))]
  const budget = maxLength - OPENING.length - CLOSING.length - 2
  const message = [OPENING, ...whatFits(lines, budget), CLOSING].join('\n')
  const wanted = schema === undefined ? '' : `The schema: ${JSON.stringify(schema)}`
  if (wanted && message.length + wanted.length + 1 <= maxLength) {
    return `${message.slice(0, -CLOSING.length)}${wanted}\n${CLOSING}`
  }
  return message.length <= maxLength ? message : CLOSING
}

/** The instruction of a stricter retry: only JSON, in the shape of the schema. */
export function strictInstruction(schema?: JsonSchema): string {
  const strict = 'Return only JSON. No extra text.'
  return schema === undefined || schema === true
    ? strict
    : `${strict}\nThe JSON must satisfy this JSON Schema:\n${JSON.stringify(schema)}`
}

/** As many whole lines as fit, and the number of omitted lines. */
function whatFits(lines: readonly string[], budget: number): string[] {
  const fitting: string[] = []
  let used = 0
  for (const [index, text] of lines.entries()) {
    const rest = `- and ${lines.length - index} more.`
    const isLast = index === lines.length - 1
    if (used + text.length + 1 + (isLast ? 0 : rest.length + 1) > budget) return [...fitting, rest]
    fitting.push(text)
    used += text.length + 1
  }
  return fitting
}

function line({ at, message, expected, actual }: Issue): string {
  const said = excerpt(message.trim(), 300).replace(/[.!]?$/, '.')
  const expectation = expected === undefined ? '' : `expected ${excerptValue(expected, 200)}`
  const got = actual === undefined ? '' : `got ${excerptValue(actual)}`
  const both = [expectation, got].filter(Boolean).join(', ')
  return `- ${describeLocation(at)}: ${said}${both && ` ${both.charAt(0).toUpperCase()}${both.slice(1)}.`}`
}

function describeLocation(at: Location): string {
  if ('span' in at) return `characters ${at.span[0]} to ${at.span[1]}`
  return at.pointer === '' ? 'whole value' : visible(at.pointer)
}

/** Sort order: locations in the text first, then locations in the value in document order; ties by code and message. */
function byLocation(a: Issue, b: Issue): number {
  return compareLocations(a.at, b.at) || compare(a.code, b.code) || compare(a.message, b.message)
}

function compareLocations(a: Location, b: Location): number {
  if ('span' in a) return 'span' in b ? a.span[0] - b.span[0] || a.span[1] - b.span[1] : -1
  if ('span' in b) return 1
  const [left, right] = [tokens(a.pointer), tokens(b.pointer)]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareTokens(left[i] ?? '', right[i] ?? '')
    if (order !== 0) return order
  }
  return left.length - right.length
}

const INDEX = /^\d+$/

function compareTokens(a: string, b: string): number {
  return INDEX.test(a) && INDEX.test(b) ? Number(a) - Number(b) : compare(a, b)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
