/**
 * What the conversions share: the guide (schema, settings, step budget), the interface of the traversal in `coerce.ts`,
 * the path to the current value, and the test whether a value needs a conversion at all.
 */
import { type JsonType, jsonType } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import type { CompiledSchema } from '../../schema/compile/compile.ts'
import type { Shape, Shapes, Where } from '../../schema/shape.ts'
import type { Node } from '../decode/tree/tree.ts'
import type { ReaderIssue, ReaderIssueCode } from '../issue-table.ts'
import type { RuleName } from '../rules.ts'
import type { Settings } from '../settings.ts'
import type { Allowance } from '../step-budget.ts'
import type { ConversionRecord, Part, Recorded } from './record.ts'

export interface Coercion extends Recorded {
  readonly value: unknown
}

export interface Guide {
  readonly shapes: Shapes
  readonly compiled: CompiledSchema
  readonly settings: Settings
  readonly allowance: Allowance
  readonly unions: UnionOutcomes
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
  /** Converts the first item of a list in place of the list. */
  itemByShape(list: Node, shape: Shape): unknown
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
  issue(code: ReaderIssueCode, message: string, more?: Partial<ReaderIssue>, below?: string): void
  /** Runs `work` on the node decoded from a string, with that string as the text. */
  unfold(text: string, node: Node, work: () => unknown): unknown
  /** The source text of this node. */
  getSource(node: Node): string
}

/** The outcome of a union for a value, ready to be replayed, also at another location. */
interface UnionOutcome {
  readonly shape: Shape
  readonly held: unknown
  readonly pointer: Pointer
  readonly text: string
  readonly unfolded: number
  readonly wraps: number
  readonly value: unknown
  readonly recorded: Part
}

/**
 * Outcomes by object or list, or by the origin of a scalar: equal scalars occur at many locations. Those of objects and
 * lists are shared by all candidates of a `parse` call, which contain the same ones: a value inside a wrapper is tried
 * alone too.
 */
export type UnionOutcomes = Map<object | Pointer, UnionOutcome[]>

/** Path from the root to the current value. The JSON pointer of each level is built once and cached. */
export class Trail {
  readonly steps: (string | number)[] = []
  readonly #pointers: Pointer[] = []

  enter(step: string | number): void {
    this.steps.push(step)
  }

  leave(): void {
    this.steps.pop()
    if (this.#pointers.length > this.steps.length) this.#pointers.pop()
  }

  get pointer(): Pointer {
    const pointers = this.#pointers
    for (let depth = pointers.length; depth < this.steps.length; depth++)
      pointers.push(child(pointers[depth - 1] ?? '', this.steps[depth] as string | number))
    return pointers.at(-1) ?? ''
  }
}

/** Whether the shape allows values of this type: the cheap test before any conversion. */
export function allowsType(shape: Shape, type: JsonType): boolean {
  if (shape.types.length === 0) return true
  return shape.types.includes(type) || (type === 'integer' && shape.types.includes('number'))
}

/** Whether a scalar has an allowed type, is a listed value, and is exact (not `NaN` or digits kept as text). */
export function fits(value: unknown, node: Node | undefined, shape: Shape): boolean {
  if (node?.kind === 'constant')
    return shape.types.length > 0 ? shape.types.includes('null') : shape.values === undefined
  if (node?.big && (shape.types.includes('integer') || shape.types.includes('number')))
    return shape.types.includes('string')
  const type = jsonType(value)
  if (type === undefined || !allowsType(shape, type)) return false
  return shape.values === undefined || shape.values.includes(value)
}
