/** Hard constraints that can each hold, but not together: one finding with the smallest set that shows it. */
import type { Diagnostic } from '../domain/diagnostic.ts'
import type { ParsedCondition } from '../schema/condition.ts'
import { assumeAll } from '../schema/solve.ts'
import { finding } from './findings.ts'
import type { Goal } from './goals.ts'
import type { Resolved } from './request.ts'
import { settingsFor } from './worlds.ts'

export interface Conflict {
  readonly members: readonly Goal[]
  readonly diagnostic: Diagnostic
}

/** What may be taken for granted: also the post-conditions of nodes, or the schemas alone. */
export type Given = 'assured' | 'schemas'

/** `goals` are those that can hold alone. */
export function conflictOf(
  goals: readonly Goal[],
  resolved: Resolved,
  given: Given = 'assured',
): Conflict | undefined {
  const canHold = (some: readonly Goal[]) => canHoldIn(some, resolved, given)
  // By id, so that the same set is found in whatever order the constraints are given.
  const hard = goals
    .filter(({ level, condition }) => level === 'hard' && condition !== undefined)
    .sort((a, b) => (a.constraint.constraintId < b.constraint.constraintId ? -1 : 1))
  if (hard.length < 2 || canHold(hard)) return undefined
  // Whoever can be left out without ending the conflict is no part of it.
  let members = hard
  for (const goal of hard) {
    const others = members.filter((each) => each !== goal)
    if (!canHold(others)) members = others
  }
  const ids = members.map(({ constraint }) => constraint.constraintId)
  const diagnostic = finding('plan/conflict', {
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
