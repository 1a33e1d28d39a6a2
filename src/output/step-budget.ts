/**
 * Step budget of one `parse` call. Every reading of a text range, every visited value and every branch tried is
 * charged, so the work is bounded by the text length for any text and any schema. One step is about the work of reading
 * one character.
 */
import type { Location } from '../base/errors/issue.ts'
import type { Node } from './decode/tree/tree.ts'
import type { Limits } from './types.ts'

/** Steps granted to every text, however short. */
const BASE = 2_000_000
/** Additional steps per character. Ordinary broken text needs few of them. */
const PER_CHARACTER = 100

/** Cost of trying one reading, excluding the checks of its value. */
export const ATTEMPT = 50

/** Cost of visiting one value, excluding the checks of it. */
export const VISIT = 10

export class Allowance {
  /** Steps used so far. */
  used = 0
  /** Location at which the budget ran out. */
  location: Location | undefined
  /** The string decoded last in this call. */
  decoded: { readonly text: string; readonly node: Node | undefined } | undefined
  declare readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /** Charges steps and returns false when they exceed the remaining budget. `offset` is the position in the text. */
  spend(steps: number, offset?: number): boolean {
    this.used += steps
    if (this.used <= this.most) return true
    if (offset !== undefined) this.location ??= { span: [offset, offset] }
    return false
  }

  get left(): number {
    return this.most - this.used
  }

  get exhausted(): boolean {
    return this.used > this.most
  }
}

/** Uses `limits.steps` if set; otherwise the budget grows with the text. */
export function createAllowance(text: string, limits: Limits): Allowance {
  return new Allowance(limits.steps ?? BASE + PER_CHARACTER * text.length)
}

/** Counts the values inside a value, itself included. Iterative, so no depth overflows the stack. */
export function countValues(value: unknown): number {
  const values = [value]
  for (const one of values)
    if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) values.push(inner)
  return values.length
}
