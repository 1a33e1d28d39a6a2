/**
 * Conversion toward a union: what is valid as it stands is kept; else the branches are tried in order. Unions nest, and
 * a branch that fails high up has converted everything below it; the outcome of each inner union is therefore kept while
 * an outer one is being tried (memoisation), so that trying costs values × branches and not branches to the power of the depth.
 */
import type { Pointer } from '../base/pointer.ts'
import type { Shape } from '../schema/shape.ts'
import { VISIT } from './allowance.ts'
import type { Coercing, Held } from './coercing.ts'
import type { Part } from './record.ts'

/** What a union made of a value, ready to be recorded again. */
interface Outcome {
  readonly held: unknown
  readonly pointer: Pointer
  readonly text: string
  readonly value: unknown
  readonly recorded: Part
}

interface Best {
  readonly index: number
  readonly lost: number
  readonly value: unknown
  readonly recorded: Part
}

export class Unions {
  readonly #run: Coercing
  /** By shape, and by object or list, or by the place of a scalar: equal scalars stand in many places. */
  readonly #known = new Map<Shape, Map<object | Pointer, Outcome>>()
  /** How many unions are being tried around the one at hand. */
  #trying = 0

  constructor(run: Coercing) {
    this.#run = run
  }

  convert(held: Held, shape: Shape): unknown {
    if (this.#trying === 0) return this.#choose(held, shape)
    const run = this.#run
    const pointer = run.pointer()
    const key = typeof held.value === 'object' && held.value !== null ? held.value : pointer
    const known = this.#known.get(shape)?.get(key)
    if (
      known !== undefined &&
      Object.is(known.held, held.value) &&
      known.pointer === pointer &&
      known.text === run.text
    ) {
      run.record.again(known.recorded)
      return known.value
    }
    const start = run.record.mark
    const cuts = run.cuts
    const value = this.#choose(held, shape)
    // Where a repeated wrapping was cut short, the outcome depends on what is being tried around it.
    if (run.cuts === cuts && !run.guide.allowance.exhausted)
      this.#remember(shape, key, {
        held: held.value,
        pointer,
        text: run.text,
        value,
        recorded: run.record.since(start),
      })
    return value
  }

  #remember(shape: Shape, key: object | Pointer, outcome: Outcome): void {
    const outcomes = this.#known.get(shape)
    if (outcomes === undefined) this.#known.set(shape, new Map([[key, outcome]]))
    else outcomes.set(key, outcome)
  }

  #choose(held: Held, shape: Shape): unknown {
    const run = this.#run
    const { guide } = run
    const union = shape.unions[0] as Shape['unions'][number]
    const settled = [...shape.settled, union.pointer]
    // What is valid is kept (C61), if the rest of the schema accepts it too.
    for (let index = 0; index < union.branches; index++) {
      const branch = `${union.pointer}/${index}`
      if (!guide.accepts(branch, held.value)) continue
      run.record.branch(run.pointer(), index)
      if (shape.where.every((place) => guide.accepts(place, held.value))) return held.value
      return this.#into(held, guide.shapes.at([...shape.where, branch], settled))
    }
    this.#trying++
    const value = this.#firstBranch(held, shape, settled)
    if (--this.#trying === 0) this.#known.clear()
    return value
  }

  #into(held: Held, shape: Shape): unknown {
    return shape.unions.length === 0 ? this.#run.byShape(held, shape) : this.convert(held, shape)
  }

  /** Branches in order; the first that fully validates, unless a later one throws less away. */
  #firstBranch(held: Held, shape: Shape, settled: readonly string[]): unknown {
    const { guide, record, pointer } = this.#run
    const union = shape.unions[0] as Shape['unions'][number]
    const start = record.mark
    let best: Best | undefined
    for (let index = 0; index < union.branches && guide.allowance.spend(VISIT); index++) {
      const branch = `${union.pointer}/${index}`
      const value = this.#into(held, guide.shapes.at([...shape.where, branch], settled))
      const recorded = record.since(start)
      const fine = recorded.to.issues === start.issues && guide.accepts(branch, value)
      const lost = recorded.to.lost - start.lost
      if (fine && (best === undefined || lost < best.lost)) best = { index, lost, value, recorded }
      record.restore(start)
      if (best?.lost === 0) break
    }
    if (best === undefined) return held.value
    record.again(best.recorded)
    record.branch(pointer(), best.index)
    return best.value
  }
}
