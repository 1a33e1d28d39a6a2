/** What a value has to satisfy besides its schema: conditions of the node that gives it, and of the whole answer. */
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import { assembleInputs } from '../domain/bound-values.ts'
import type { Condition } from '../domain/contract.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { compileSchema } from '../schema/compile.ts'
import { conditionText, holds, isComplete, reasonFor } from './conditions.ts'
import { answerValues, withAnswer } from './values.ts'

/** Post-conditions of the node and hard constraints that it guards, as far as they do not hold; one that cannot be evaluated does not hold. */
export function brokenConditions(state: RunState, node: NodeState, value: Json): Issue[] {
  const issues: Issue[] = []
  for (const condition of node.node.postConditions) {
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
    // Where a part of it is still to come, the end of the run decides.
    if (isComplete(expr, values) && holds(expr, values) !== 'yes')
      issues.push(brokenConstraint(constraintId, expr, values))
  }
  return issues
}

const weights = { hard: 1, soft: 0.5, informational: 0 }

/** Nodes whose text stands in for an answer, and maps and loops with such an item or round. */
export function degradedNodes({ nodes }: RunState): string[] {
  return [...nodes.values()].flatMap((state) => (isDegraded(state) ? [state.node.id] : []))
}

function isDegraded({ output, degradedWithin }: NodeState): boolean {
  return output !== undefined && (output.degraded ?? degradedWithin ?? false)
}

/** The part of the nodes that completed with an answer of their own, of all that were called. */
function answeredShare(state: RunState): number {
  const degraded = degradedNodes(state).length
  if (degraded === 0) return 1
  const called = [...state.nodes.values()].filter(
    (node) => isDegraded(node) || (node.output && node.attempts > 0),
  )
  return 1 - degraded / called.length
}

/**
 * The caller's schema and every constraint, on the real answer; the satisfaction counts what holds, and less where texts
 * stand in for answers.
 */
export function checkAnswer(state: RunState, answer: Json): { issues: Issue[]; satisfaction: number } {
  const { schema, constraints } = state.envelope.outputContract
  const issues = compileSchema(schema).validate(answer)
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
