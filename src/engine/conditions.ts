/** Evaluates conditions for the engine. A condition that cannot be evaluated has its own verdict, so that no gate opens by mistake. */
import type { Issue } from '../base/issue.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Condition } from '../domain/contract.ts'
import { conditionVars, describeCondition, evaluate, parseCondition } from '../schema/condition.ts'

export type Verdict = 'yes' | 'no' | 'undecided'

const verdicts = { true: 'yes', false: 'no', error: 'undecided' } as const

/**
 * `undecided` only for a condition that cannot be parsed or that runs out of steps. An operand of the wrong type decides
 * nothing beyond its own operator: the prover relies on exactly this.
 */
export function holds(condition: Condition, value: Json): Verdict {
  const parsed = parseCondition(condition)
  return parsed.ok ? verdicts[evaluate(parsed.condition, value).kind] : 'undecided'
}

/** Why a condition that does not hold may have failed: an operand that is missing or of the wrong type, or too many steps. */
export function reasonFor(condition: Condition, value: Json): string | undefined {
  const parsed = parseCondition(condition)
  return parsed.ok ? evaluate(parsed.condition, value).issue?.message : parsed.issues[0]?.message
}

export function conditionText(condition: Condition): string {
  const parsed = parseCondition(condition)
  return parsed.ok ? describeCondition(parsed.condition) : JSON.stringify(condition)
}

/** Whether everything that the condition looks at is there, as far as its first name says. */
export function isComplete(condition: Condition, value: Json): boolean {
  const parsed = parseCondition(condition)
  if (!parsed.ok) return true
  return conditionVars(parsed.condition).every((path) => {
    const [first = ''] = path.split('.')
    return first === '' || first === '*' || (isObject(value) && Object.hasOwn(value, first))
  })
}

/** Why a condition cannot be read; what the parsers of nouns want as `checkCondition`. */
export function conditionIssues(condition: Condition): readonly Issue[] {
  const parsed = parseCondition(condition)
  return parsed.ok ? [] : parsed.issues
}
