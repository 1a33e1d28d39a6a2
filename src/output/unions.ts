/**
 * Conversion toward a union: what is valid as it stands is kept; else the branches are tried in order. Unions nest, and
 * a branch that fails high up has converted everything below it; the outcome of each inner union is therefore kept while
 * an outer one is being tried (memoisation), so that trying costs values × branches and not branches to the power of the depth.
 */
import type { Issue } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import type { Shape } from '../schema/shape.ts'
import { VISIT } from './allowance.ts'
import type { Coercing, Held, Mark, ValueChange } from './coercing.ts'

/** What a union made of a value, ready to be recorded again. */
interface Outcome {
  readonly held: unknown
  readonly text: string
  readonly value: unknown
  readonly changes: readonly ValueChange[]
  readonly issues: readonly Issue[]
  readonly branches: readonly (readonly [Pointer, number])[]
  readonly cost: number
}

interface Best {
  readonly index: number
  readonly lost: number
  readonly outcome: Outcome
}

export class Unions {
  readonly #run: Coercing
  readonly #known = new Map<string, Outcome>()
  /** How many unions are being tried around the one at hand. */
  #trying = 0

  constructor(run: Coercing) {
    this.#run = run
  }

  convert(held: Held, shape: Shape): unknown {
    if (this.#trying === 0) return this.#choose(held, shape)
    const run = this.#run
    const key = `${run.pointer()}\n\n${shape.where.join('\n')}\n\n${shape.settled.join('\n')}`
    const known = this.#known.get(key)
    if (known !== undefined && Object.is(known.held, held.value) && known.text === run.text) {
      this.#record(known)
      return known.value
    }
    const start = run.mark()
    const cuts = run.cuts
    const value = this.#choose(held, shape)
    // Where a repeated wrapping was cut short, the outcome depends on what is being tried around it.
    if (run.cuts === cuts && !run.guide.allowance.exhausted)
      this.#known.set(key, this.#outcome(held, value, start))
    return value
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
      run.branches.push([run.pointer(), index])
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
    const run = this.#run
    const { guide } = run
    const union = shape.unions[0] as Shape['unions'][number]
    const start = run.mark()
    let best: Best | undefined
    for (let index = 0; index < union.branches && guide.allowance.spend(VISIT); index++) {
      const branch = `${union.pointer}/${index}`
      const value = this.#into(held, guide.shapes.at([...shape.where, branch], settled))
      const fine = run.issues.length === start.issues && guide.accepts(branch, value)
      const outcome = this.#outcome(held, value, start)
      const lost = lossOf(outcome.changes)
      if (fine && (best === undefined || lost < best.lost)) best = { index, lost, outcome }
      run.restore(start)
      if (best?.lost === 0) break
    }
    if (best === undefined) return held.value
    this.#record(best.outcome)
    run.branches.push([run.pointer(), best.index])
    return best.outcome.value
  }

  /** What was recorded since the mark. */
  #outcome(held: Held, value: unknown, start: Mark): Outcome {
    const run = this.#run
    return {
      held: held.value,
      text: run.text,
      value,
      changes: run.changes.slice(start.changes),
      issues: run.issues.slice(start.issues),
      branches: run.branches.slice(start.branches),
      cost: run.cost - start.cost,
    }
  }

  #record({ changes, issues, branches, cost }: Outcome): void {
    const run = this.#run
    run.guide.allowance.spend(1 + changes.length + issues.length + branches.length)
    for (const change of changes) run.changes.push(change)
    for (const issue of issues) run.issues.push(issue)
    for (const branch of branches) run.branches.push(branch)
    run.cost += cost
  }
}

/** What a branch throws away, and half of that for what it renames: a branch that has the key as written comes first. */
function lossOf(changes: readonly ValueChange[]): number {
  let lost = 0
  for (const { rule, after } of changes) lost += after === undefined ? 1 : rule === 'key' ? 0.5 : 0
  return lost
}
