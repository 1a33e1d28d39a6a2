/** What conversions share: the guide (schema, settings, fuel) and the record of changes. Types only; `coerce.ts` is the walk. */
import type { Issue } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import type { Shape, Shapes, Where } from '../schema/shape.ts'
import type { RuleName } from './rules.ts'
import type { Settings } from './settings.ts'
import type { Node } from './tree.ts'

/** A change of the value, in the order in which it was made. */
export interface ValueChange {
  readonly rule: RuleName
  readonly pointer: Pointer
  readonly before: unknown
  readonly after: unknown
}

export interface Coercion {
  readonly value: unknown
  readonly changes: readonly ValueChange[]
  readonly cost: number
  readonly branches: Readonly<Record<Pointer, number>>
  readonly issues: readonly Issue[]
}

export interface Guide {
  readonly shapes: Shapes
  readonly compiled: CompiledSchema
  readonly settings: Settings
  /** Counts the work; throws nothing, answers false when the fuel is used up. */
  spend(steps: number): boolean
}

/** One walk over one candidate. */
export interface Coercing {
  changes: ValueChange[]
  cost: number
  issues: Issue[]
  readonly guide: Guide
  /** The text that the nodes at hand were read from; another one inside unfolded strings. */
  text: string
  /** How often strings were unfolded on the way here. */
  unfolded: number
  at(node: Node, where: Where, pointer: Pointer): unknown
  byShape(node: Node, shape: Shape, pointer: Pointer): unknown
  /** Records a change. */
  change(rule: RuleName, pointer: Pointer, before: unknown, after: unknown): void
  issue(code: string, pointer: Pointer, message: string, more?: Partial<Issue>): void
  /** Reads the JSON inside a string, if there is some and the depth allows it. */
  unfold(
    node: Node,
    rule: RuleName,
    pointer: Pointer,
    then: (inner: Node) => unknown,
  ): { value: unknown } | undefined
}
