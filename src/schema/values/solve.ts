/**
 * Decides conditions without a value: must it be true, must it be false, or does it depend? Verdicts are sound for the
 * evaluator of `evaluate.ts`; where working one out would cost too much, the answer is "depends".
 */

import type { Expr, ParsedCondition } from '../condition/expr.ts'
import { assume, type Claim } from './assume.ts'
import { keyOf, type World, withinList } from './known-values.ts'
import { type Question, type Solver, truthOf } from './possible.ts'
import type { Truth } from './truth.ts'

/** `impossible`: no value can be there at all, so that nothing can be said of it. */
export type Verdict = 'true' | 'false' | 'depends' | 'impossible'

/** Steps of one decision; about a hundred times what a usual condition needs. */
const mostSteps = 20_000

export function decide(condition: ParsedCondition, world: World): Verdict {
  const { mayHold, mayFail } = decideIn({ expr: condition.expr, world, item: undefined }, createSolver())
  if (mayHold) return mayFail ? 'depends' : 'true'
  return mayFail ? 'false' : 'impossible'
}

/** The cases in which all conditions hold; none when they contradict each other or the world. */
export function assumeAll(conditions: readonly ParsedCondition[], world: World): readonly World[] {
  const expr: Expr = { op: 'and', args: conditions.map((condition) => condition.expr) }
  return conditions.length === 0
    ? [world]
    : assume([world], { expr, truth: true, item: undefined }, createSolver())
}

function createSolver(): Solver {
  const solver: Solver = {
    fuel: mostSteps,
    decide: (question) => decideIn(inElement(question, solver), solver),
  }
  return solver
}

/** First operator by operator; if that leaves it open, whether the condition or its negation leads to a contradiction. */
function decideIn(question: Question | undefined, solver: Solver): Truth {
  if (question === undefined) return { mayHold: false, mayFail: false }
  const first = truthOf(question, solver)
  if (!first.mayHold || !first.mayFail || simple(question.expr)) return first
  const { expr, world, item } = question
  const follows = (truth: boolean) => assume([world], { expr, truth, item }, solver).length > 0
  return { mayHold: follows(true), mayFail: follows(false) }
}

/** Comparisons of a place with a literal are exact already. */
function simple(expr: Expr): boolean {
  return expr.op === 'var' || expr.op === 'literal' || expr.op === 'missing'
}

/** Adds what is known of every element; undefined when there can be no element. */
function inElement(question: Question, solver: Solver): Question | undefined {
  const { item } = question
  if (item === undefined || !('path' in item)) return question
  const list = item.path.slice(0, -1)
  let worlds: readonly World[] = [withinList(question.world, list)]
  for (const { body, truth } of question.world.ofEach.get(keyOf(list)) ?? []) {
    const claim: Claim = { expr: body, truth, item }
    const narrowed = assume(worlds, claim, solver)
    if (narrowed.length === 0) return undefined
    if (narrowed.length === 1) worlds = narrowed
  }
  return { ...question, world: worlds[0] as World }
}
