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

/** `goals` are those that can hold alone. */
export function conflictOf(goals: readonly Goal[], resolved: Resolved): Conflict | undefined {
  // By id, so that the same set is found in whatever order the constraints are given.
  const hard = goals
    .filter(({ level, condition }) => level === 'hard' && condition !== undefined)
    .sort((a, b) => (a.constraint.constraintId < b.constraint.constraintId ? -1 : 1))
  if (hard.length < 2 || canHold(hard, resolved)) return undefined
  // Whoever can be left out without ending the conflict is no part of it.
  let members = hard
  for (const goal of hard) {
    const others = members.filter((each) => each !== goal)
    if (!canHold(others, resolved)) members = others
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

function canHold(goals: readonly Goal[], resolved: Resolved): boolean {
  if (goals.length === 0) return true
  const conditions = goals.map(({ condition }) => condition as ParsedCondition)
  const settings = settingsFor(
    goals.flatMap(({ paths }) => paths),
    resolved,
  )
  return settings.some(({ assured }) => assured.some((world) => assumeAll(conditions, world).length > 0))
}
