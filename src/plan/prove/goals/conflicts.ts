/**
 * Detects hard constraints that are satisfiable alone but not together, and reports a minimal unsatisfiable subset as
 * one diagnostic.
 */
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { ParsedCondition } from '../../../schema/condition/condition.ts'
import { assumeAll } from '../../../schema/values/solve.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved } from '../proof-request.ts'
import { settingsFor } from './answer-values.ts'
import type { Goal } from './goals.ts'

interface Conflict {
  readonly members: readonly Goal[]
  readonly diagnostic: Diagnostic
}

/** The assumptions: schemas with the post-conditions of nodes, or schemas alone. */
type Given = 'assured' | 'schemas'

/** `goals` are the constraints that are satisfiable alone. */
export function conflictOf(
  goals: readonly Goal[],
  resolved: Resolved,
  given: Given = 'assured',
): Conflict | undefined {
  const canHold = (some: readonly Goal[]) => canHoldIn(some, resolved, given)
  // Sort by id, so that the same set is found regardless of the order of the constraints.
  const hard = goals
    .filter(({ level, condition }) => level === 'hard' && condition !== undefined)
    .sort((a, b) => (a.constraint.constraintId < b.constraint.constraintId ? -1 : 1))
  if (hard.length < 2 || canHold(hard)) return undefined
  // Deletion filter: drop every constraint without which the conflict remains.
  let members = hard
  for (const goal of hard) {
    const others = members.filter((each) => each !== goal)
    if (!canHold(others)) members = others
  }
  const ids = members.map(({ constraint }) => constraint.constraintId)
  const diagnostic = createDiagnostic('plan/conflict', {
    constraint: members.map(({ text }) => `(${text})`).join(' and '),
    constraintId: ids.join(','),
    suggestion: `Change or soften one of ${ids.join(', ')}: no value satisfies all of them`,
    details: { conflict: ids },
  })
  return { members, diagnostic }
}

function canHoldIn(goals: readonly Goal[], resolved: Resolved, given: Given): boolean {
  if (goals.length === 0) return true
  const conditions = goals.map(({ condition }) => condition as ParsedCondition)
  const settings = settingsFor(
    goals.flatMap(({ paths }) => paths),
    resolved,
  )
  return settings.some(({ assured, world }) =>
    (given === 'assured' ? assured : [world]).some((each) => assumeAll(conditions, each).length > 0),
  )
}
