/** The id of a constraint that came without one: made from what it says, so that two drafts speak of the same constraint. */
import { canonicalJson } from '../base/canonical.ts'
import { sha256Hex } from '../base/hash.ts'
import type { Constraint } from './contract.ts'

export type GivenConstraint = Pick<Constraint, 'expr'> & Partial<Constraint>

/** A constraint without a level is hard: what nobody relaxed must hold. */
export function identified({ constraintId, level = 'hard', ...rest }: GivenConstraint): Constraint {
  const id = constraintId ?? `constraint_${sha256Hex(canonicalJson({ expr: rest.expr, level })).slice(0, 16)}`
  return { constraintId: id, level, ...rest }
}
