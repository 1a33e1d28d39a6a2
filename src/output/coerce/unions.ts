/**
 * Coercion toward a union: a value that is already valid is kept; otherwise the branches are tried in order. Unions
 * nest, and a branch that fails high up has converted everything below it. So the outcomes of inner unions are memoised:
 * the cost is values × branches instead of branches to the power of the depth.
 */
import type { Shape } from '../../schema/shape.ts'
import { VISIT } from '../step-budget.ts'
import type { Coercing, Held } from './coerce-context.ts'
import type { Part } from './record.ts'

/** More values are forgotten as soon as no union is being tried: outcomes would keep a long document in memory twice. */
const MOST_KEPT = 5_000

interface Best {
  readonly index: number
  readonly lost: number
  readonly value: unknown
  readonly recorded: Part
}

export class Unions {
  readonly #run: Coercing
  /** Number of enclosing unions being tried. */
  #trying = 0

  constructor(run: Coercing) {
    this.#run = run
  }

  convert(held: Held, shape: Shape): unknown {
    if (this.#trying === 0) return this.#choose(held, shape)
    const run = this.#run
    const key = typeof held.value === 'object' && held.value !== null ? held.value : run.origin()
    const { guide, text, unfolded, wraps } = run
    const pointer = run.pointer()
    const outcomes = guide.unions.get(key) ?? []
    guide.unions.set(key, outcomes)
    // The outcome is independent of the value's location in the result unless paths are closed, but it depends on how
    // many lists the value is already wrapped in, because wrapping has a limit. An origin is known to one run only.
    const known = outcomes.find(
      (outcome) =>
        outcome.shape === shape &&
        outcome.wraps === wraps &&
        outcome.unfolded === unfolded &&
        (key === held.value || outcome.run === run) &&
        Object.is(outcome.held, held.value) &&
        outcome.text === text &&
        (!guide.settings.hasClosed || outcome.pointer === pointer),
    )
    if (known !== undefined) {
      run.record.again(known.recorded, known.pointer, pointer)
      return known.value
    }
    const start = run.record.mark
    const value = this.#choose(held, shape)
    if (guide.allowance.exhausted) return value
    const recorded = run.record.since(start)
    outcomes.push({ recorded, pointer, shape, wraps, unfolded, run, held: held.value, text, value })
    return value
  }

  #choose(held: Held, shape: Shape): unknown {
    const run = this.#run
    const { guide } = run
    const union = shape.unions[0] as Shape['unions'][number]
    const settled = [...shape.settled, union.pointer]
    // Keep a value that is already valid (C61), if the rest of the schema accepts it too.
    for (let index = 0; index < union.branches; index++) {
      const branch = `${union.pointer}/${index}`
      if (!guide.accepts(branch, held.value)) continue
      run.record.branch(run.pointer(), index)
      if (shape.where.every((pointer) => guide.accepts(pointer, held.value))) return held.value
      return this.#into(held, guide.shapes.at([...shape.where, branch], settled))
    }
    this.#trying++
    const value = this.#firstBranch(held, shape, settled)
    if (--this.#trying === 0 && guide.unions.size > MOST_KEPT) guide.unions.clear()
    return value
  }

  #into(held: Held, shape: Shape): unknown {
    return shape.unions.length === 0 ? this.#run.byShape(held, shape) : this.convert(held, shape)
  }

  /** Tries the branches in order; returns the first that fully validates, unless a later one loses less data. */
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
    record.again(best.recorded, pointer(), pointer())
    record.branch(pointer(), best.index)
    return best.value
  }
}
