/** Reports in words: to people, what the reader changed and why (`explain`); to models, what to correct (`feedback`). */
import type { Issue, Location } from '../../base/errors/issue.ts'
import { tokens } from '../../base/pointer.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import type { ParseResult, Repair, Stage } from '../types.ts'
import { ruleSentence } from './rule-table.ts'

/**
 * Several lines of text: the outcome, the changes by stage and rule, the union branches, the issues with their hints.
 *
 * @example
 * console.log(explain(parse('```json\n{"n": "7"}\n```', schema)))
 */
export function explain(result: ParseResult): string {
  const locate = createLocator(result.raw)
  const lines = [headline(result)]
  if (result.truncated) lines.push('The text ended before the value did.')
  for (const stage of STAGES) lines.push(...explainStage(stage, result.repairs, locate))
  const unlisted = result.repairCount - result.repairs.length
  if (unlisted > 0) lines.push(`${count(unlisted, 'more change')} not listed (limits.repairs).`)
  lines.push(...explainBranches(result.branches))
  lines.push(...result.issues.flatMap((issue) => explainIssue(issue, locate)))
  if (result.shadow) {
    lines.push('Shadow mode: nothing was changed. The reader would have answered:')
    lines.push(...explain(result.shadow).split('\n').map(indent))
  }
  return lines.join('\n')
}

type Locator = (at: Location) => string

const STAGES: readonly Stage[] = ['extract', 'tolerant', 'syntactic', 'semantic', 'custom']

/** Maximum number of changes shown per rule. */
const MAX_SHOWN = 5

function headline({ ok, repairCount, issues }: ParseResult): string {
  const changed = repairCount === 0 ? 'without any change' : `after ${count(repairCount, 'change')}`
  return ok
    ? `The value was read ${changed}.`
    : `No valid value was found ${changed}: ${count(issues.length, 'issue')}.`
}

function explainStage(stage: Stage, repairs: readonly Repair[], locate: Locator): string[] {
  const rules = new Map<string, Repair[]>()
  for (const repair of repairs) {
    if (repair.stage !== stage) continue
    const same = rules.get(repair.rule)
    if (same) same.push(repair)
    else rules.set(repair.rule, [repair])
  }
  if (rules.size === 0) return []
  return [`${stage}:`, ...[...rules].flatMap(([rule, same]) => explainRule(rule, same, locate)).map(indent)]
}

function explainRule(rule: string, repairs: readonly Repair[], locate: Locator): string[] {
  const sentence = ruleSentence(rule)
  const lines = [`${rule} ×${repairs.length}${sentence === undefined ? '' : `: ${sentence}`}`]
  for (const { at, before, after } of repairs.slice(0, MAX_SHOWN)) {
    lines.push(`  ${locate(at)}  ${show(before, at)} → ${show(after, at)}`)
  }
  if (repairs.length > MAX_SHOWN) lines.push(`  … and ${repairs.length - MAX_SHOWN} more`)
  return lines
}

function show(part: unknown, at: Location): string {
  if (part === undefined || ('span' in at && part === '')) return '(nothing)'
  if (!('span' in at) || typeof part !== 'string') return excerptValue(part)
  // Quote excerpts that consist of spaces only, to make them visible.
  return part.trim() === '' ? `"${excerpt(part)}"` : excerpt(part)
}

function explainBranches(branches: ParseResult['branches']): string[] {
  const taken = Object.entries(branches)
  if (taken.length === 0) return []
  return [
    'union branches:',
    ...taken.map(([pointer, index]) => indent(`${showPointer(pointer)}  branch ${index}`)),
  ]
}

function explainIssue({ code, at, message, hint, expected, actual }: Issue, locate: Locator): string[] {
  const lines = [`✗ ${locate(at)}  ${visible(message)} [${code}]`]
  if (expected !== undefined) lines.push(`  expected: ${excerptValue(expected)}`)
  if (actual !== undefined) lines.push(`  actual: ${excerptValue(actual)}`)
  if (hint !== undefined) lines.push(`  hint: ${visible(hint)}`)
  return lines
}

/** Formats locations: ranges become line:column, counted from 1 in the raw text; pointers stay unchanged. */
function createLocator(raw: string): Locator {
  let starts: number[] | undefined
  return (at) => {
    if ('pointer' in at) return showPointer(at.pointer)
    starts ??= lineStarts(raw)
    const line = findLine(starts, at.span[0])
    return `${line + 1}:${at.span[0] - (starts[line] ?? 0) + 1}`
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** Binary search for the last line that starts at or before the offset. */
function findLine(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

function showPointer(pointer: string): string {
  return pointer === '' ? '(root)' : visible(pointer)
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

function indent(line: string): string {
  return `  ${line}`
}

// Turns issues into instructions for a model. Called by the generation fallback steps for model repair and stricter
// retries (FSD-14, FSD-38).

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

// Short excerpts of texts and values, with invisible characters shown.

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

function visible(text: string): string {
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
