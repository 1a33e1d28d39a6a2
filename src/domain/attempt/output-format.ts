/** What a node declared about its output (`data.outputFormat`), and what is said when it does not come (ADR-11, ADR-13). */
import { isObject, type Json, jsonType } from '../../base/json.ts'
import type { OutputFormat } from '../../output/index.ts'
import type { AttemptResult } from '../output.ts'

/** The declaration in a node's data; undefined if absent. */
export function readOutputFormat(
  data: { readonly [key: string]: Json } | undefined,
): OutputFormat | undefined {
  const format = data?.['outputFormat']
  if (!isObject(format)) return undefined
  const { type, schema } = format
  if (type !== 'json' && type !== 'text') return undefined
  return { type, ...(typeof schema === 'string' && { schema }) }
}

interface FormatFailure {
  readonly message: string
  readonly details: { readonly expectedType: string; readonly actualType: string }
}

/** Expected and actual type of an output that is not as declared. */
export function formatFailure(format: OutputFormat, { issues }: AttemptResult): FormatFailure {
  const expectedType = format.schema ?? (format.type === 'text' ? 'string' : 'json')
  const actualType = actualTypeIn(issues)
  return {
    message: `Expected output of type "${expectedType}" but got "${actualType}"`,
    details: { expectedType, actualType },
  }
}

/** What a node declares about its answer in words (`data.expectedAnswer`), such as the choice of a router. */
interface ExpectedAnswer {
  /** Completes "Expected …". */
  readonly answer: string
  /** What to change if another answer comes. */
  readonly change: string
}

/** The declaration in a node's data; undefined if absent. */
export function readExpectedAnswer(
  data: { readonly [key: string]: Json } | undefined,
): ExpectedAnswer | undefined {
  const expected = data?.['expectedAnswer']
  if (!isObject(expected)) return undefined
  const { answer, change } = expected
  return typeof answer === 'string' && typeof change === 'string' ? { answer, change } : undefined
}

/** The failure of an answer that is not as declared: what was expected, what came, and what to change. */
export function answerFailure(
  { answer, change }: ExpectedAnswer,
  { issues, output, raw: unparsed }: AttemptResult,
): { readonly message: string; readonly details: { readonly hint: string } } {
  const [first] = issues
  const raw = output?.raw ?? unparsed ?? first?.actual
  const got = raw === undefined ? 'a text without one' : shorten(JSON.stringify(raw))
  const why = first === undefined ? '' : ` (${first.message})`
  return { message: `Expected ${answer}, got ${got}${why}`, details: { hint: change } }
}

const longestShown = 120

function shorten(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown - 1)}…`
}

/** What is wrong inside is wrong inside a list, for short types have no other insides; where no value was found, there was text. */
function actualTypeIn(issues: AttemptResult['issues']): string {
  for (const issue of issues) {
    if (!('pointer' in issue.at) || !('actual' in issue)) continue
    const inner = issue.at.pointer.replace(/^\/value(?=\/|$)/, '')
    return inner === '' ? (jsonType(issue.actual) ?? typeof issue.actual) : 'array'
  }
  return 'string'
}
