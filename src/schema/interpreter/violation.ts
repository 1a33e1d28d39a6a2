/** What an interpreter reports: one violated keyword at one location, with the violations of the branches of a union below it. */
import type { Pointer } from '../../base/pointer.ts'
import type { ViolatedKeyword } from '../issue-table.ts'

interface Violation {
  readonly keyword: ViolatedKeyword
  readonly instancePath: Pointer
  /** What the value of the keyword does not say. */
  // biome-ignore lint/suspicious/noExplicitAny: each keyword has parameters of its own, read by the row of its message
  readonly params: Readonly<Record<string, any>>
  /** The value of the keyword. */
  readonly schema: unknown
  /** The schema that holds the keyword. */
  readonly parentSchema: unknown
  /** The violation is of a property's name. */
  readonly propertyName?: string
}

/** A violation, with those of each branch of its union. */
export interface Kept {
  readonly error: Violation
  readonly branches: readonly (readonly Kept[])[]
}
