/** What conversions share: the guide (schema, settings, allowance of steps) and the record of changes. Types only; `coerce.ts` is the walk. */
import type { Issue } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import type { Shape, Shapes, Where } from '../schema/shape.ts'
import type { Allowance } from './allowance.ts'
import type { ConversionRecord, Recorded } from './record.ts'
import type { RuleName } from './rules.ts'
import type { Settings } from './settings.ts'
import type { Node } from './tree.ts'

export interface Coercion extends Recorded {
  readonly value: unknown
}

export interface Guide {
  readonly shapes: Shapes
  readonly compiled: CompiledSchema
  readonly settings: Settings
  readonly allowance: Allowance
  /** Whether the sub-schema at a pointer accepts the value; charged by the size of the value. */
  accepts(pointer: string, value: unknown): boolean
}

/** A value on its way, and the node it was read from where that is known already. */
export interface Held {
  readonly value: unknown
  readonly node: Node | undefined
}

/** One walk over one candidate. */
export interface Coercing {
  readonly guide: Guide
  /** The text that the nodes at hand were read from; another one inside unfolded strings. */
  readonly text: string
  /** How often strings were unfolded on the way here. */
  readonly unfolded: number
  readonly record: ConversionRecord
  /** How often a repeated wrapping was cut short. */
  readonly cuts: number
  at(held: Held, where: Where): unknown
  byShape(held: Held, shape: Shape): unknown
  /** Converts the value as the only item of a list; undefined where that is being tried already. */
  asItem(held: Held, where: Where): { readonly value: unknown } | undefined
  /** Where the value at hand will stand. */
  pointer(below?: string): Pointer
  /** Records a change of the value at hand, or of its member `below`. */
  change(rule: RuleName, before: unknown, after: unknown, below?: string): void
  issue(code: string, message: string, more?: Partial<Issue>, below?: string): void
  /** Works on in the text of a string that was unfolded. */
  unfold(text: string, work: () => unknown): unknown
  /** What was written for this node. */
  sourceOf(node: Node): string
}
