/** Conditions as the engine asks them: what cannot be decided is an answer of its own, so that no gate opens by mistake. */
import type { Issue } from '../base/issue.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Condition } from '../domain/contract.ts'
import { conditionVars, describeCondition, evaluate, parseCondition } from '../schema/condition.ts'

export type Verdict = 'yes' | 'no' | 'undecided'

/** `undecided` for a condition that cannot be read, that runs out of fuel, or that meets a value of the wrong type; a missing one is just missing. */
export function holds(condition: Condition, value: Json): Verdict {
  const parsed = parseCondition(condition)
  if (!parsed.ok) return 'undecided'
  const { kind, issue } = evaluate(parsed.condition, value)
  if (kind === 'error' || issue?.code === 'condition/type') return 'undecided'
  return kind === 'true' ? 'yes' : 'no'
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
