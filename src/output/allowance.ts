/**
 * The allowance of steps of one call of `parse`. Every reading of a piece of text, every value visited and every branch
 * tried is charged to it, so that no text and no schema can make the reader slow: the work is bounded by the length of the
 * text. One step is about the work of reading one character.
 */
import type { Place } from '../base/issue.ts'
import type { Limits } from './types.ts'

/** Steps that every text gets, however short. */
const BASE = 2_000_000
/** Steps for each character on top. An ordinary broken text needs few of them. */
const PER_CHARACTER = 100

/** What trying one reading costs beside the checks of its value. */
export const ATTEMPT = 50

/** What visiting one value costs beside the checks that are made of it. */
export const VISIT = 10

export class Allowance {
  /** Steps used so far. */
  used = 0
  /** Where the steps ran out. */
  place: Place | undefined
  readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /** Charges the steps; false when they exceed what is left. `offset` is the position in the text. */
  spend(steps: number, offset?: number): boolean {
    this.used += steps
    if (this.used <= this.most) return true
    if (offset !== undefined) this.place ??= { span: [offset, offset] }
    return false
  }

  get left(): number {
    return this.most - this.used
  }

  get exhausted(): boolean {
    return this.used > this.most
  }
}

/** `limits.steps` where it is set, else an amount that grows with the text. */
export function createAllowance(text: string, limits: Limits): Allowance {
  return new Allowance(limits.steps ?? BASE + PER_CHARACTER * text.length)
}

/** How many values a value holds, itself included; each container is counted once. */
export class Sizes {
  readonly #known = new WeakMap<object, number>()

  of(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 1
    const known = this.#known.get(value)
    if (known !== undefined) return known
    // Iterative post-order: containers in the order they are met, summed from the last one back.
    const met: object[] = [value]
    for (let at = 0; at < met.length; at++) {
      for (const inner of Object.values(met[at] as object)) {
        if (typeof inner === 'object' && inner !== null && !this.#known.has(inner)) met.push(inner)
      }
    }
    for (let at = met.length - 1; at >= 0; at--)
      this.#known.set(met[at] as object, this.#sum(met[at] as object))
    return this.#known.get(value) as number
  }

  #sum(container: object): number {
    let size = 1
    for (const inner of Object.values(container)) {
      size += typeof inner === 'object' && inner !== null ? (this.#known.get(inner) ?? 1) : 1
    }
    return size
  }
}
