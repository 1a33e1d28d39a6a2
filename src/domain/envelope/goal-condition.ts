/**
 * Converts `goal_condition`, the older name of hard constraints on facets (C59). Its condition reads the value of a
 * facet, a constraint reads the whole answer, so every variable gets the facet's path as prefix. Called by
 * `parse-envelope.ts`.
 */

import { isObject, type Json } from '../../base/json.ts'
import { child, tokens } from '../../base/pointer.ts'
import type { Constraint } from '../contract.ts'
import { checkCondition } from '../parse/check-schema.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import type { ParseNounOptions } from '../parse/parsed.ts'
import { identified } from './parse-contract.ts'

export interface GoalCondition {
  readonly facet: string
  /** Where in the facet the condition looks. Default: at all of it. */
  readonly path?: string
  readonly condition: { readonly [operator: string]: Json }
}

interface Goals {
  readonly constraints: readonly Constraint[]
  readonly issues: readonly ParseIssue[]
}

/** The constraints that goal conditions stand for. Expects one or a list that satisfies the envelope's schema. */
export function goalConstraints(
  given: GoalCondition | readonly GoalCondition[],
  options: ParseNounOptions,
): Goals {
  const constraints: Constraint[] = []
  const issues: ParseIssue[] = []
  for (const [index, goal] of [given].flat().entries()) {
    const at = Array.isArray(given) ? child('', index) : ''
    const path = [goal.facet, ...tokens(goal.path ?? '')]
    const refusal = refuse(goal, path, at)
    issues.push(...(refusal ? [refusal] : checkCondition(goal.condition, child(at, 'condition'), options)))
    const expr = prefixed(goal.condition, path.join('.'))
    constraints.push(identified({ expr, level: 'hard', rationale: `Goal of ${goal.facet}` }))
  }
  return { constraints, issues }
}

function refuse(goal: GoalCondition, path: readonly string[], at: string): ParseIssue | undefined {
  if (Object.hasOwn(goal.condition, 'dsl')) {
    return {
      code: 'contract/goal',
      at: { pointer: child(at, 'condition') },
      message: 'a condition must be JSON-Logic, got text',
      hint: 'Write the condition as JSON-Logic',
    }
  }
  if (path.every((name) => name !== '' && !name.includes('.'))) return undefined
  return {
    code: 'contract/goal',
    at: { pointer: child(at, 'path') },
    message: 'conditions cannot name properties that are empty or have dots',
    hint: 'Express it in `outputContract.schema`',
  }
}

/** Operators whose second argument is evaluated on the items of a list. */
const quantifiers = new Set(['some', 'all', 'none'])

function prefixed(expression: Json, path: string): Json {
  if (Array.isArray(expression)) return expression.map((part: Json) => prefixed(part, path))
  if (!isObject(expression)) return expression
  return Object.fromEntries(
    Object.entries(expression).map(([operator, args]) => [
      operator,
      prefixedArguments(operator, args as Json, path),
    ]),
  )
}

function prefixedArguments(operator: string, args: Json, path: string): Json {
  if (operator === 'var' || operator === 'missing') return withPath(args, path)
  if (quantifiers.has(operator) && Array.isArray(args)) {
    return args.map((part: Json, index) => (index === 0 ? prefixed(part, path) : part))
  }
  return prefixed(args, path)
}

function withPath(names: Json, path: string): Json {
  if (Array.isArray(names)) return names.map((name: Json) => withPath(name, path))
  if (typeof names !== 'string') return names
  return names === '' ? path : `${path}.${names}`
}
