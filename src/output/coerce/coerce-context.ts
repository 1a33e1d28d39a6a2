/**
 * Shared types of the conversions: the guide (schema, settings, step budget) and the record of changes. `coerce.ts` is
 * the traversal.
 */
import type { Issue } from '../../base/errors/issue.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { CompiledSchema } from '../../schema/compile/compile.ts'
import type { Shape, Shapes, Where } from '../../schema/shape.ts'
import type { Node } from '../decode/tree/tree.ts'
import type { RuleName } from '../rules.ts'
import type { Settings } from '../settings.ts'
import type { Allowance } from '../step-budget.ts'
import type { ConversionRecord, Recorded } from './record.ts'

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

/** A value being converted, and its source node where that is already known. */
export interface Held {
  readonly value: unknown
  readonly node: Node | undefined
}

/** One traversal of one candidate. */
export interface Coercing {
  readonly guide: Guide
  /** The text that the current nodes were read from; inside a decoded string, that string. */
  readonly text: string
  /** How many levels of strings were decoded on the way here. */
  readonly unfolded: number
  readonly record: ConversionRecord
  /** How many lists the current value is being wrapped in. */
  readonly wraps: number
  at(held: Held, where: Where): unknown
  byShape(held: Held, shape: Shape): unknown
  /** Converts the value as the only item of a list; undefined if that is already being tried or nested too deep. */
  asItem(held: Held, where: Where): { readonly value: unknown } | undefined
  /** Pointer of the current value in the result. */
  pointer(below?: string): Pointer
  /** Pointer of the current value in the text as read. */
  origin(): Pointer
  /** Decodes a string that consists of one object or list (`decodeInner`); memoised per string. */
  decode(text: string): Node | undefined
  /** Records a change of the current value, or of its member `below`. */
  change(rule: RuleName, before: unknown, after: unknown, below?: string): void
  issue(code: string, message: string, more?: Partial<Issue>, below?: string): void
  /** Runs `work` on the node decoded from a string, with that string as the text. */
  unfold(text: string, node: Node, work: () => unknown): unknown
  /** The source text of this node. */
  sourceOf(node: Node): string
}
