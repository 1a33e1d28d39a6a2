/** The output contract: a schema, and conditions on the value that satisfies it. */
import type { Json } from '../base/json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

/** A boolean expression over a value: JSON-Logic with the closed operator set of `condition/condition.ts`. */
export type Condition = Json

/** `hard` must be proved or guarded, `soft` lowers the score, `informational` only informs. */
export type Level = 'hard' | 'soft' | 'informational'

export interface Constraint {
  readonly constraintId: string
  readonly expr: Condition
  readonly level: Level
  readonly rationale?: string
}

/** The caller's contract of the final answer. */
export interface OutputContract {
  readonly mode?: 'json_schema'
  readonly schema: JsonSchema
  /** Wishes about the form of the answer, such as the order of its members; never a reason to fail. */
  readonly hints?: { readonly [key: string]: Json }
  readonly constraints: readonly Constraint[]
}
