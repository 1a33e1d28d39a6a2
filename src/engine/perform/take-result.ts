/**
 * Validates the result of a dispatcher and copies it for the journal. Dispatchers are untrusted: every member is checked
 * once, and values are copied as plain JSON, so that nothing can change later or fail to be stored.
 */
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, joined } from '../../base/json.ts'
import { outcomeTable } from '../../domain/event/event-table.ts'
import {
  type AttemptResult,
  type Outcome,
  type Output,
  readQuestion,
  type Usage,
} from '../../domain/output.ts'
import { plainCopy } from '../../domain/parse/plain-copy.ts'
import type { Dispatcher } from '../../domain/ports/dispatcher.ts'

/** The result; or why it is not a result; or, if only the answer is invalid, the issue with it. */
type Taken =
  | { readonly result: AttemptResult }
  | { readonly fault: string }
  | { readonly issue: Issue; readonly usage: Usage }

type Members = { readonly [name: string]: unknown }

export function takeResult(brought: unknown, { plain }: Pick<Dispatcher, 'plain'>): Taken {
  if (!isObject(brought)) return { fault: 'returned no result' }
  const { outcome, issues, usage, output, ...rest } = brought as Members
  const fault = resultFault({ outcome, issues, usage })
  if (fault !== undefined) return { fault }
  // A dispatcher of this package creates valid results.
  if (plain) return { result: brought as unknown as AttemptResult }
  const list = takeIssues(issues as readonly unknown[])
  if (list === undefined) return { fault: 'returned invalid issues: each must have code, at and message' }
  const { question, ...others } = rest
  const more = takeMembers(others, resultForms)
  if (typeof more === 'string') return { fault: `returned a result whose ${more}` }
  const result: AttemptResult = {
    outcome: outcome as Outcome,
    issues: list,
    usage: takeUsage(usage as Usage),
    ...more,
  }
  if (outcome === 'unclear') {
    const asked = readQuestion(question)
    if (typeof asked === 'string') return { fault: `returned the outcome unclear, but ${asked}` }
    // A capability that asks first has had no effect.
    return { result: { ...result, question: asked, notApplied: true } }
  }
  if (output === undefined) return { result }
  if (!isObject(output)) return { fault: 'returned an output that is not an object with a value' }
  return takeOutput(output as Members, result)
}

function takeOutput({ value, ...rest }: Members, result: AttemptResult): Taken {
  const copy = plainCopy(value, { holes: 'refuse' })
  const hint = 'Return plain JSON data from the capability; undefined members of objects are left out'
  if (!copy.ok) return { issue: { ...copy.issue, hint }, usage: result.usage }
  const more = takeMembers(rest, outputForms)
  if (typeof more === 'string') return { fault: `returned an output whose ${more}` }
  const output: Output = { value: copy.value, ...more }
  return { result: joined(result, { output }) }
}

type Forms = { readonly [name: string]: (said: Json) => boolean }

/** Copies the known members; returns a message for the first one with a wrong type. Unknown members are dropped. */
function takeMembers(given: Members, forms: Forms): { readonly [name: string]: Json } | string {
  const taken: { [name: string]: Json } = {}
  for (const name of Object.keys(given)) {
    const said = given[name]
    if (said === undefined || !Object.hasOwn(forms, name)) continue
    const copy = plainCopy(said)
    if (!copy.ok) return `${name} is invalid: ${copy.issue.message}`
    if (!forms[name]?.(copy.value)) return `${name} is invalid: ${JSON.stringify(copy.value).slice(0, 100)}`
    taken[name] = copy.value
  }
  return taken
}

/** Types of the optional members of a result. */
const resultForms: Forms = {
  model: (said) => typeof said === 'string',
  raw: (said) => typeof said === 'string',
  retryAfterMs: isCount,
  notApplied: (said) => typeof said === 'boolean',
  final: (said) => said === true,
}

/** Types of the members of an output besides its value. Nothing is converted: a confidence of "high" is invalid. */
const outputForms: Forms = {
  confidence: (said) => typeof said === 'number' && said >= 0 && said <= 1,
  confidenceType: (said) => typeof said === 'string',
  escalate: (said) => typeof said === 'boolean',
  reasoning: (said) => typeof said === 'string',
  repairs: (said) => Array.isArray(said) && said.every(isObject),
  degraded: (said) => said === true,
  raw: (said) => typeof said === 'string',
}

function resultFault({ outcome, issues, usage }: Members): string | undefined {
  if (typeof outcome !== 'string' || !Object.hasOwn(outcomeTable, outcome))
    return `returned an unknown outcome: ${typeof outcome === 'string' ? outcome : typeof outcome}`
  if (!Array.isArray(issues)) return 'returned a result without a list of issues'
  if (!isObject(usage) || !isCount(usage['calls']))
    return 'returned a result without the number of calls (usage.calls)'
  for (const name of spendings)
    if (usage[name] !== undefined && !isCount(usage[name]))
      return `returned a result whose usage.${name} is not a number`
  return undefined
}

const spendings = ['inputTokens', 'outputTokens', 'costUsd'] as const

/** Copies usage that a call reports while it runs; undefined if it is invalid. */
export function takeSpent(reported: unknown): Usage | undefined {
  const fault = resultFault({ outcome: 'ok', issues: [], usage: reported })
  return fault === undefined ? takeUsage(reported as Usage) : undefined
}

function takeUsage(usage: Usage): Usage {
  const { calls, inputTokens, outputTokens, costUsd } = usage
  return {
    calls,
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(costUsd !== undefined && { costUsd }),
  }
}

function takeIssues(given: readonly unknown[]): readonly Issue[] | undefined {
  if (given.length === 0) return []
  const copy = plainCopy(given)
  return copy.ok && Array.isArray(copy.value) && copy.value.every(isIssue)
    ? (copy.value as unknown as Issue[])
    : undefined
}

function isIssue(said: Json): boolean {
  if (!isObject(said) || typeof said['code'] !== 'string' || typeof said['message'] !== 'string') return false
  return isObject(said['at'])
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
