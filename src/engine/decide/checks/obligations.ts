/** Checks a value beyond its schema: conditions of the node that produces it, and of the whole answer. */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import type { Ask } from '../../../domain/ask.ts'
import type { Condition, Constraint } from '../../../domain/contract.ts'
import type { PlanNode } from '../../../domain/plan.ts'
import { assembleInputs } from '../../../domain/run/bound-values.ts'
import type { NodeState, RunState } from '../../../domain/run.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import { conditionText, holds, isComplete, reasonFor } from './conditions.ts'
import { answerValues, withAnswer } from './values.ts'

/**
 * Returns the violated post-conditions of the node and hard constraints that it guards; one that cannot be evaluated
 * counts as violated. An answer of a capability must satisfy that capability's own post-conditions, too.
 */
export function brokenConditions(
  state: RunState,
  node: NodeState,
  value: Json,
  capabilityId?: string,
): Issue[] {
  const issues: Issue[] = []
  const { postConditions, alternateContracts } = node.node
  const own = alternateContracts?.[capabilityId ?? '']?.postConditions ?? []
  for (const condition of [...postConditions, ...own]) {
    if (holds(condition, value) !== 'yes')
      issues.push(
        broken(
          'output/post-condition',
          `Post-condition does not hold: ${conditionText(condition)}`,
          reasonFor(condition, value),
        ),
      )
  }
  const guards = node.node.guards.filter(({ level }) => level === 'hard')
  if (guards.length === 0) return issues
  const values = answerValues(state, { node: node.node.id, value })
  for (const { constraintId, expr } of guards) {
    // Constraints with missing parts are checked at the end of the run.
    if (isComplete(expr, values) && holds(expr, values) !== 'yes')
      issues.push(brokenConstraint(constraintId, expr, values))
  }
  return issues
}

/** Returns the conditions that a value for the node must satisfy, for asks that accept one. */
export function shownConditions({ routing, postConditions, guards }: PlanNode): Pick<Ask, 'conditions'> {
  // The value of a routing node must choose a route: that is checked instead.
  if (routing) return {}
  return asConditions([...postConditions, ...hardConditions(guards)])
}

/** Returns the conditions that the answer must satisfy, for asks that accept one. */
export function answerConditions({ envelope }: RunState): Pick<Ask, 'conditions'> {
  return asConditions(hardConditions(envelope.outputContract.constraints))
}

function hardConditions(constraints: readonly Constraint[]): Condition[] {
  return constraints.filter(({ level }) => level === 'hard').map(({ expr }) => expr)
}

function asConditions(conditions: readonly Condition[]): Pick<Ask, 'conditions'> {
  return conditions.length > 0 ? { conditions } : {}
}

const weights = { hard: 1, soft: 0.5, informational: 0 }

/** Returns the nodes whose fallback text replaces an answer, and maps and loops with such an item or round. */
export function degradedNodes({ nodes }: RunState): string[] {
  return [...nodes.values()].flatMap((state) => (isDegraded(state) ? [state.node.id] : []))
}

function isDegraded({ output, degradedWithin }: NodeState): boolean {
  return output !== undefined && (output.degraded ?? degradedWithin ?? false)
}

/** Share of called nodes that completed with an answer of their own. */
function answeredShare(state: RunState): number {
  const degraded = degradedNodes(state).length
  if (degraded === 0) return 1
  const called = [...state.nodes.values()].filter(
    (node) => isDegraded(node) || (node.output && node.attempts > 0),
  )
  return 1 - degraded / called.length
}

/**
 * Checks the final answer against the caller's schema and every constraint. The satisfaction is the weighted share of
 * constraints that hold, reduced where fallback texts replace answers.
 */
export function checkAnswer(state: RunState, answer: Json): { issues: Issue[]; satisfaction: number } {
  const { schema, constraints } = state.envelope.outputContract
  const issues: Issue[] = compileSchema(schema, state.compileOptions).validate(answer)
  const share = answeredShare(state)
  if (constraints.length === 0) return { issues, satisfaction: share }
  const known = withAnswer(assembleInputs(state, state.plan?.aside ?? {}), answer)
  let held = 0
  let total = 0
  for (const { constraintId, expr, level } of constraints) {
    const kept = holds(expr, known) === 'yes'
    total += weights[level]
    if (kept) held += weights[level]
    else if (level === 'hard') issues.push(brokenConstraint(constraintId, expr, known))
  }
  return { issues, satisfaction: total === 0 ? share : (share * held) / total }
}

function brokenConstraint(constraintId: string, expr: Condition, value: Json): Issue {
  const message = `Constraint "${constraintId}" does not hold: ${conditionText(expr)}`
  return broken('output/constraint', message, reasonFor(expr, value))
}

function broken(code: string, message: string, reason: string | undefined): Issue {
  return { code, at: { pointer: '' }, message: reason === undefined ? message : `${message} (${reason})` }
}
