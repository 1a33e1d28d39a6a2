/** Evaluates conditions for the engine. A condition that cannot be evaluated has its own verdict, so that no gate opens by mistake. */

import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json } from '../../../base/json.ts'
import type { Condition } from '../../../domain/contract.ts'
import {
  conditionVars,
  describeCondition,
  evaluate,
  parseCondition,
} from '../../../schema/condition/condition.ts'
import type { ConditionIssueCode } from '../../../schema/issue-table.ts'

export type Verdict = 'yes' | 'no' | 'undecided'

const verdicts = { true: 'yes', false: 'no', error: 'undecided' } as const

/**
 * Returns `undecided` only for a condition that cannot be parsed or that exceeds its steps. An operand of the wrong type
 * affects only its own operator: the prover relies on exactly this.
 */
export function holds(condition: Condition, value: Json): Verdict {
  const parsed = parseCondition(condition)
  return parsed.ok ? verdicts[evaluate(parsed.condition, value).kind] : 'undecided'
}

/** Returns why a condition may have failed: an operand that is missing or of the wrong type, or too many steps. */
export function reasonFor(condition: Condition, value: Json): string | undefined {
  const parsed = parseCondition(condition)
  return parsed.ok ? evaluate(parsed.condition, value).issue?.message : parsed.issues[0]?.message
}

export function conditionText(condition: Condition): string {
  const parsed = parseCondition(condition)
  return parsed.ok ? describeCondition(parsed.condition) : JSON.stringify(condition)
}

/** Whether all variables of the condition are present, judged by the first name of each path. */
export function isComplete(condition: Condition, value: Json): boolean {
  const parsed = parseCondition(condition)
  if (!parsed.ok) return true
  return conditionVars(parsed.condition).every((path) => {
    const [first = ''] = path.split('.')
    return first === '' || first === '*' || (isObject(value) && Object.hasOwn(value, first))
  })
}

/** Returns why a condition cannot be parsed; passed to the parsers of domain types as `checkCondition`. */
export function conditionIssues(condition: Condition): readonly Issue<ConditionIssueCode>[] {
  const parsed = parseCondition(condition)
  return parsed.ok ? [] : parsed.issues
}
