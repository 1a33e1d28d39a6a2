/**
 * What a dispatcher brought, as the journal can keep it. Dispatchers come from outside: whatever they say is looked at once,
 * and their values are copied as plain JSON, so that nothing can change or fail to be stored afterwards.
 */
import type { Issue } from '../../base/errors/issue.ts'
import { joined } from '../../base/joined.ts'
import { isObject, type Json } from '../../base/json.ts'
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

/** The result; or what keeps it from being one; or, where only the answer is of no use, what is wrong with it. */
export type Taken =
  | { readonly result: AttemptResult }
  | { readonly fault: string }
  | { readonly issue: Issue; readonly usage: Usage }

type Members = { readonly [name: string]: unknown }

export function takeResult(brought: unknown, { plain }: Pick<Dispatcher, 'plain'>): Taken {
  if (!isObject(brought)) return { fault: 'brought no result' }
  const { outcome, issues, usage, output, ...rest } = brought as Members
  const fault = resultFault({ outcome, issues, usage })
  if (fault !== undefined) return { fault }
  // Made by ourselves, of parts that are as they should be.
  if (plain) return { result: brought as unknown as AttemptResult }
  const list = takeIssues(issues as readonly unknown[])
  if (list === undefined) return { fault: 'brought issues that are none: each has code, at and message' }
  const { question, ...others } = rest
  const more = takeMembers(others, resultForms)
  if (typeof more === 'string') return { fault: `brought a result whose ${more}` }
  const result: AttemptResult = {
    outcome: outcome as Outcome,
    issues: list,
    usage: takeUsage(usage as Usage),
    ...more,
  }
  if (outcome === 'unclear') {
    const asked = readQuestion(question)
    if (typeof asked === 'string') return { fault: `says that something is unclear, but ${asked}` }
    // Whoever asks first has done nothing.
    return { result: { ...result, question: asked, notApplied: true } }
  }
  if (output === undefined) return { result }
  if (!isObject(output)) return { fault: 'brought an output that is no object with a value' }
  return takeOutput(output as Members, result)
}

function takeOutput({ value, ...rest }: Members, result: AttemptResult): Taken {
  const copy = plainCopy(value, { holes: 'refuse' })
  const hint =
    'What a capability brings must be plain JSON data; members of objects that are undefined are left out'
  if (!copy.ok) return { issue: { ...copy.issue, hint }, usage: result.usage }
  const more = takeMembers(rest, outputForms)
  if (typeof more === 'string') return { fault: `brought an output whose ${more}` }
  const output: Output = { value: copy.value, ...more }
  return { result: joined(result, { output }) }
}

type Forms = { readonly [name: string]: (said: Json) => boolean }

/** The members that have a form, copied; or which of them has another. What nobody knows is left behind. */
function takeMembers(given: Members, forms: Forms): { readonly [name: string]: Json } | string {
  const taken: { [name: string]: Json } = {}
  for (const name of Object.keys(given)) {
    const said = given[name]
    if (said === undefined || !Object.hasOwn(forms, name)) continue
    const copy = plainCopy(said)
    if (!copy.ok) return `${name} cannot be one: ${copy.issue.message}`
    if (!forms[name]?.(copy.value))
      return `${name} cannot be one: ${JSON.stringify(copy.value).slice(0, 100)}`
    taken[name] = copy.value
  }
  return taken
}

/** What the parts must be that not every result has. */
const resultForms: Forms = {
  model: (said) => typeof said === 'string',
  retryAfterMs: isCount,
  notApplied: (said) => typeof said === 'boolean',
  final: (said) => said === true,
}

/** What the members of an output besides its value must be. Nothing is converted: a confidence of "high" is none. */
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
    return `brought an outcome that there is not: ${typeof outcome === 'string' ? outcome : typeof outcome}`
  if (!Array.isArray(issues)) return 'brought a result without a list of issues'
  if (!isObject(usage) || !isCount(usage['calls']))
    return 'brought a result that does not say how many calls were made (usage.calls)'
  for (const name of spendings)
    if (usage[name] !== undefined && !isCount(usage[name]))
      return `brought a result whose usage.${name} is no number`
  return undefined
}

const spendings = ['inputTokens', 'outputTokens', 'costUsd'] as const

/** What was spent so far, as told on the way; nothing where it cannot be counted. */
export function takeSpent(told: unknown): Usage | undefined {
  const fault = resultFault({ outcome: 'ok', issues: [], usage: told })
  return fault === undefined ? takeUsage(told as Usage) : undefined
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
