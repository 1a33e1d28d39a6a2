/** What keeps a dispatcher's result from being one: dispatchers come from outside, and what they say goes into the journal. */
import { isObject } from '../base/json.ts'
import { outcomeTable } from '../domain/event-table.ts'
import type { AttemptResult, Output, Usage } from '../domain/output.ts'
import { plainCopy } from '../domain/plain-copy.ts'

/** In words that follow "the dispatcher"; nothing if it can be used. The value is another's concern. */
export function resultFault(result: unknown): string | undefined {
  if (!isObject(result)) return 'brought no result'
  const { outcome, issues, output, ...more } = result
  if (typeof outcome !== 'string' || !Object.hasOwn(outcomeTable, outcome))
    return `brought an outcome that there is not: ${typeof outcome === 'string' ? outcome : typeof outcome}`
  if (!Array.isArray(issues)) return 'brought a result without a list of issues'
  if (!issues.every(isIssue)) return 'brought an issue without a code, a message and a place (`at`)'
  const spent = usageFault(more['usage'])
  if (spent !== undefined) return `brought a result that does not say ${spent}`
  if (!isAmount(more['retryAfterMs'])) return 'brought a retryAfterMs that is no number from 0 up'
  const { value: _, repairs = [], ...evidence } = isObject(output) ? output : {}
  if (!Array.isArray(repairs) || !repairs.every(isRepair))
    return 'brought repairs without a stage and a rule (output.repairs)'
  const odd = oddMember(more, resultTypes) ?? oddMember(evidence, outputTypes)
  if (odd !== undefined) return `brought a result in which ${odd}`
  // What nobody knows here is kept as well, if it can be.
  const plain = plainCopy([more, evidence])
  return plain.ok ? undefined : `brought a result that cannot be kept: ${plain.issue.message}`
}

export function isUsage(usage: unknown): usage is Usage {
  return usageFault(usage) === undefined
}

const resultTypes = {
  model: 'string',
  notApplied: 'boolean',
  final: 'boolean',
} as const satisfies Types<AttemptResult>

const outputTypes = {
  confidenceType: 'string',
  escalate: 'boolean',
  reasoning: 'string',
  degraded: 'boolean',
  raw: 'string',
} as const satisfies Types<Output>

type Types<T> = { readonly [K in keyof T]?: 'string' | 'boolean' }

function oddMember(
  given: { readonly [name: string]: unknown },
  types: { readonly [name: string]: string },
): string | undefined {
  for (const [name, type] of Object.entries(types))
    if (given[name] !== undefined && typeof given[name] !== type) return `${name} is no ${type}`
  return undefined
}

/** What it does not say of what was spent. */
function usageFault(usage: unknown): string | undefined {
  if (!isObject(usage) || usage['calls'] === undefined || !isAmount(usage['calls']))
    return 'how many calls were made (usage.calls)'
  const wrong = (['inputTokens', 'outputTokens', 'costUsd'] as const).find((name) => !isAmount(usage[name]))
  return wrong && `what was spent: usage.${wrong} is no number from 0 up`
}

/** Nothing, or so much. */
function isAmount(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)
}

function isIssue(issue: unknown): boolean {
  if (!isObject(issue)) return false
  const { code, message, at } = issue
  return typeof code === 'string' && typeof message === 'string' && isObject(at)
}

function isRepair(repair: unknown): boolean {
  if (!isObject(repair)) return false
  const { stage, rule, pointer = '' } = repair
  return [stage, rule, pointer].every((text) => typeof text === 'string') && plainCopy(repair).ok
}
