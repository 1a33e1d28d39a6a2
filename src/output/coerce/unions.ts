/**
 * Coercion toward a union: a value that is already valid is kept; otherwise the branches are tried in order. Unions
 * nest, and a branch that fails high up has converted everything below it. So the outcomes of inner unions are memoised:
 * the cost is values × branches instead of branches to the power of the depth.
 */
import { type JsonType, jsonType } from '../../base/json.ts'
import type { Shape } from '../../schema/shape.ts'
import { VISIT } from '../step-budget.ts'
import { allowsType, type Coercing, type Held, type UnionOutcomes } from './coerce-context.ts'
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
  /** Outcomes of strings and numbers by their origin, which is known to one run only; those of objects are shared by all. */
  readonly #own: UnionOutcomes = new Map()
  /** Number of enclosing unions being tried. */
  #trying = 0

  constructor(run: Coercing) {
    this.#run = run
  }

  get isTrying(): boolean {
    return this.#trying > 0
  }

  convert(held: Held, shape: Shape): unknown {
    if (this.#trying === 0) return this.#choose(held, shape)
    const run = this.#run
    const { guide, text, unfolded, wraps } = run
    const isShared = typeof held.value === 'object' && held.value !== null
    const memo = isShared ? guide.unions : this.#own
    const key = isShared ? held.value : run.origin()
    const pointer = run.pointer()
    const outcomes = memo.get(key) ?? []
    memo.set(key, outcomes)
    // Comparing them all takes longer than converting the value once they are many.
    guide.allowance.spend(outcomes.length >> 3)
    // The outcome is independent of the value's location in the result unless paths are closed, but it depends on how
    // many lists the value is already wrapped in, because wrapping has a limit.
    const known = outcomes.find(
      (outcome) =>
        outcome.shape === shape &&
        outcome.wraps === wraps &&
        outcome.unfolded === unfolded &&
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
    outcomes.push({ recorded, pointer, shape, wraps, unfolded, held: held.value, text, value })
    return value
  }

  #choose(held: Held, shape: Shape): unknown {
    const run = this.#run
    const { guide } = run
    // Keep a value that is already valid (C61), if the rest of the schema accepts it too.
    for (const [index, choice] of shape.choices.entries()) {
      if (!canMatch(choice.shape, held) || !guide.accepts(choice.pointer, held.value)) continue
      run.record.branch(run.pointer(), index)
      if (shape.where.every((pointer) => guide.accepts(pointer, held.value))) return held.value
      return this.#into(held, choice.shape)
    }
    this.#trying++
    const value = this.#firstBranch(held, shape)
    if (--this.#trying === 0)
      for (const memo of [guide.unions, this.#own]) if (memo.size > MOST_KEPT) memo.clear()
    return value
  }

  #into(held: Held, shape: Shape): unknown {
    return shape.unions.length === 0 ? this.#run.byShape(held, shape) : this.convert(held, shape)
  }

  /** Tries the branches in order; returns the first that fully validates, unless a later one loses less data. */
  #firstBranch(held: Held, shape: Shape): unknown {
    const { guide, record, pointer } = this.#run
    const start = record.mark
    let best: Best | undefined
    for (const [index, choice] of shape.choices.entries()) {
      if (!mayBecome(choice.shape, held)) continue
      if (!guide.allowance.spend(VISIT)) break
      const value = this.#into(held, choice.shape)
      const recorded = record.since(start)
      const fine = recorded.to.issues === start.issues && guide.accepts(choice.pointer, value)
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

/** Whether a branch allows the type of the value: the cheap test before the validator. */
function canMatch(shape: Shape, { value }: Held): boolean {
  const type = jsonType(value)
  return type === undefined || allowsType(shape, type)
}

/** Whether any conversion may lead from the value to a type that the branch allows. */
function mayBecome(shape: Shape, held: Held): boolean {
  const { value } = held
  // A string, or the only item of a list, may become anything; null nothing else.
  if (typeof value === 'string' || (Array.isArray(value) && value.length === 1)) return true
  return (
    canMatch(shape, held) || (value !== null && shape.types.some((type) => COMMON_TARGETS.includes(type)))
  )
}

/** Types that other types are converted to. */
const COMMON_TARGETS: readonly JsonType[] = ['string', 'array', 'boolean']
