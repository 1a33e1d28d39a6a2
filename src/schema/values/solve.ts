/**
 * Decides conditions without a value: must it be true, must it be false, or does it depend? Verdicts are sound for the
 * evaluator of `evaluate.ts`; where working one out would cost too much, the answer is "depends".
 */
import type { Expr, Order, ParsedCondition, Quantifier } from '../condition/expr.ts'
import {
  type Item,
  pathOfVariable,
  setAtPath,
  toPathKey,
  type World,
  withFact,
  withinList,
  withOfEach,
} from './known-values.ts'
import { above, below } from './number-set.ts'
import { certainList, evaluateTruth, type Question, type Solver, setOfExpr } from './possible.ts'
import type { Truth } from './truth.ts'
import {
  isAbsent,
  isEmpty,
  isWithin,
  listed,
  meet,
  onlyMissing,
  onlyNumbers,
  toValueSet,
  type ValueSet,
  without,
} from './value-set.ts'

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
  const first = evaluateTruth(question, solver)
  if (!first.mayHold || !first.mayFail || simple(question.expr)) return first
  const { expr, world, item } = question
  const follows = (truth: boolean) => assume([world], { expr, truth, item }, solver).length > 0
  return { mayHold: follows(true), mayFail: follows(false) }
}

/** Comparisons of a location with a literal are exact already. */
function simple(expr: Expr): boolean {
  return expr.op === 'var' || expr.op === 'literal' || expr.op === 'missing'
}

/** Adds what is known of every element; undefined when there can be no element. */
function inElement(question: Question, solver: Solver): Question | undefined {
  const { item } = question
  if (item === undefined || !('path' in item)) return question
  const list = item.path.slice(0, -1)
  let worlds: readonly World[] = [withinList(question.world, list)]
  for (const { body, truth } of question.world.ofEach.get(toPathKey(list)) ?? []) {
    const claim: Claim = { expr: body, truth, item }
    const narrowed = assume(worlds, claim, solver)
    if (narrowed.length === 0) return undefined
    if (narrowed.length === 1) worlds = narrowed
  }
  return { ...question, world: worlds[0] as World }
}

// Narrows worlds by something that is taken to be true or false. A disjunction splits a world into cases; where there
// would be too many, the narrowing is left out, which is sound, and never cut short, which would not be.

interface Claim {
  readonly expr: Expr
  readonly truth: boolean
  readonly item: Item
}

/** Cases that are followed at one time. */
const mostCases = 64

/** The worlds in which the claim can be; none when it contradicts all of them. */
function assume(worlds: readonly World[], claim: Claim, solver: Solver): readonly World[] {
  if (--solver.fuel < 0) return worlds
  const { expr, truth, item } = claim
  switch (expr.op) {
    case '!':
      return assume(worlds, { expr: expr.arg, truth: !truth, item }, solver)
    case 'and':
    case 'or': {
      const claims = expr.args.map((arg) => ({ expr: arg, truth, item }))
      return (expr.op === 'and') === truth ? allOf(worlds, claims, solver) : oneOf(worlds, claims, solver)
    }
    case 'between': {
      const claims = [
        { expr: { op: '<=', left: expr.low, right: expr.value } as const, truth, item },
        { expr: { op: '<=', left: expr.value, right: expr.high } as const, truth, item },
      ]
      return truth ? allOf(worlds, claims, solver) : oneOf(worlds, claims, solver)
    }
    case 'missing': {
      if (expr.vars.length === 1) break
      const claims = expr.vars.map((each) => ({
        expr: { op: 'missing', vars: [each] } as const,
        truth,
        item,
      }))
      return truth ? oneOf(worlds, claims, solver) : allOf(worlds, claims, solver)
    }
  }
  return worlds.flatMap((world) => {
    const narrowed = narrow(world, claim, solver)
    return narrowed === undefined || !canBe(narrowed, claim, solver) ? [] : [narrowed]
  })
}

function canBe(world: World, { expr, truth, item }: Claim, solver: Solver): boolean {
  const { mayHold, mayFail } = evaluateTruth({ expr, world, item }, solver)
  return truth ? mayHold : mayFail
}

function allOf(worlds: readonly World[], claims: readonly Claim[], solver: Solver): readonly World[] {
  let left = worlds
  for (const claim of claims) left = assume(left, claim, solver)
  // What the first claims could not say, the later ones may have made plain.
  return claims.length < 2
    ? left
    : left.filter((world) => claims.every((claim) => canBe(world, claim, solver)))
}

function oneOf(worlds: readonly World[], claims: readonly Claim[], solver: Solver): readonly World[] {
  // A world in which one of them is certain anyway need not be split.
  const settled = worlds.filter((world) => claims.some((claim) => mustBe(world, claim, solver)))
  const open = settled.length === 0 ? worlds : worlds.filter((world) => !settled.includes(world))
  if (open.length === 0) return worlds
  const cases: World[] = [...settled]
  for (const claim of claims) {
    cases.push(...assume(open, claim, solver))
    if (cases.length > mostCases) return worlds
  }
  return cases
}

function mustBe(world: World, { expr, truth, item }: Claim, solver: Solver): boolean {
  const { mayHold, mayFail } = evaluateTruth({ expr, world, item }, solver)
  return truth ? mayHold && !mayFail : mayFail && !mayHold
}

/** One claim without a connective; undefined when it cannot be. */
function narrow(world: World, claim: Claim, solver: Solver): World | undefined {
  const { expr, truth, item } = claim
  const set = (each: Expr) => setOfExpr({ expr: each, world, item }, solver)
  switch (expr.op) {
    case 'var':
      return restrict(world, claim, (old) => (truth ? meet(old, toValueSet([true])) : without(old, true)))
    case 'missing':
      return restrict(world, { ...claim, expr: expr.vars[0] as Expr }, (old) =>
        truth ? meet(old, onlyMissing) : { ...old, missing: false },
      )
    case '==':
    case '!=': {
      const equal = (expr.op === '==') === truth
      const change = (other: Expr) => (old: ValueSet) =>
        equal ? meet(old, { ...set(other), missing: false }) : unlike(old, set(other))
      const first = restrict(world, { ...claim, expr: expr.left }, change(expr.right))
      return first && restrict(first, { ...claim, expr: expr.right }, change(expr.left))
    }
    case 'in': {
      const values = certainList(set(expr.list))
      if (values === undefined) return world
      return restrict(world, { ...claim, expr: expr.needle }, (old) =>
        truth ? meet(old, toValueSet(values)) : values.reduce(without, old),
      )
    }
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const [left, right] = [set(expr.left), set(expr.right)]
      const op = truth ? expr.op : opposite[expr.op]
      const first = restrict(world, { ...claim, expr: expr.left }, (old) =>
        ordered(old, { op, by: right, truth }),
      )
      return (
        first &&
        restrict(first, { ...claim, expr: expr.right }, (old) =>
          ordered(old, { op: mirror[op], by: left, truth }),
        )
      )
    }
    case 'some':
    case 'all':
    case 'none':
      return narrowList(world, { ...claim, expr })
    default:
      return world
  }
}

const opposite: Readonly<Record<Order, Order>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' }
const mirror: Readonly<Record<Order, Order>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

/** Narrows the location that a variable reads; anything else stays as it is. */
function restrict(
  world: World,
  { expr, item }: Claim,
  change: (old: ValueSet) => ValueSet,
): World | undefined {
  const path = expr.op === 'var' ? pathOfVariable(expr, item) : undefined
  if (path === undefined) return world
  const old = setAtPath(world, path)
  const set = change(old)
  if (isEmpty(set)) return undefined
  return isWithin(old, set) ? world : withFact(world, path, set)
}

/** Not equal to something: only known when that is a single value and certainly there. */
function unlike(old: ValueSet, other: ValueSet): ValueSet {
  const values = other.missing ? undefined : listed(other)
  return values?.length === 1 ? values.reduce(without, old) : old
}

interface Ordering {
  readonly op: Order
  readonly by: ValueSet
  readonly truth: boolean
}

/**
 * Compared with some number of `by`. A comparison that holds has two numbers; one that fails says something about the
 * numbers only if the other side certainly is one.
 */
function ordered(old: ValueSet, { op, by, truth }: Ordering): ValueSet {
  const certain = !by.missing && isAbsent({ ...by, numbers: undefined })
  if (by.numbers === undefined || !(truth || certain)) return truth ? { ...onlyMissing, missing: false } : old
  const { min, max, minOpen, maxOpen } = by.numbers
  const side =
    op === '<' || op === '<=' ? below(max, maxOpen || op === '<') : above(min, minOpen || op === '>')
  const numbers = meet(onlyNumbers(old), { ...onlyNumbers(old), numbers: side }).numbers
  return truth ? { ...onlyNumbers(old), numbers } : { ...old, numbers }
}

type QuantifiedClaim = Claim & { readonly expr: Extract<Expr, { readonly op: Quantifier }> }

/** some and all: the list is there and not empty. all, none and what is not some: something holds of each element. */
function narrowList(world: World, claim: QuantifiedClaim): World | undefined {
  const { expr, truth, item } = claim
  const list = expr.list.op === 'var' ? pathOfVariable(expr.list, item) : undefined
  if (list === undefined) return world
  const exists = expr.op === 'none' ? !truth : truth
  let next: World | undefined = world
  if (exists) {
    const filled = { ...onlyMissing, missing: false, lists: { min: 1, max: Number.POSITIVE_INFINITY } }
    next = restrict(world, { ...claim, expr: expr.list }, (old) => meet(old, filled))
  }
  const ofEach = expr.op === 'all' ? truth : !exists
  return next && ofEach ? withOfEach(next, list, { body: expr.body, truth: expr.op === 'all' }) : next
}
