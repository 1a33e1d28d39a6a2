/** What a condition may come out as in a world, judging each operator by itself; `solve.ts` adds what follows from several. */
import type { Json } from '../../base/json.ts'
import type { Expr, Quantifier } from '../condition/expr.ts'
import { type Item, pathOfVariable, setIn, type World } from './known-values.ts'
import {
  always,
  any,
  depends,
  every,
  isAmong,
  isEqual,
  isMissing,
  isOrdered,
  isTrue,
  negate,
  never,
  type Truth,
} from './truth.ts'
import { isAbsent, nothing, toValueSet, type ValueSet } from './value-set.ts'

/** Decides a condition for elements of a list; given by `solve.ts`, which knows more than this file. */
export interface Solver {
  decide(question: Question): Truth
  /** Steps left; without them everything depends. */
  fuel: number
}

export interface Question {
  readonly expr: Expr
  readonly world: World
  readonly item: Item
}

export function evaluateTruth({ expr, world, item }: Question, solver: Solver): Truth {
  if (--solver.fuel < 0) return depends
  const ask = (each: Expr) => evaluateTruth({ expr: each, world, item }, solver)
  const set = (each: Expr) => setOfExpr({ expr: each, world, item }, solver)
  switch (expr.op) {
    case 'literal':
      return expr.value === true ? always : never
    case 'var':
      return isTrue(set(expr))
    case 'and':
      return every(expr.args.map(ask))
    case 'or':
      return any(expr.args.map(ask))
    case '!':
      return negate(ask(expr.arg))
    case '==':
    case '!=': {
      const equal = sameVar(expr.left, expr.right, item)
        ? negate(isMissing(set(expr.left)))
        : isEqual(set(expr.left), set(expr.right))
      return expr.op === '==' ? equal : negate(equal)
    }
    case 'between': {
      const value = set(expr.value)
      return every([isOrdered('<=', set(expr.low), value), isOrdered('<=', value, set(expr.high))])
    }
    case 'in':
      return mayBeIn(set(expr.needle), set(expr.list))
    case 'missing':
      return any(expr.vars.map((each) => isMissing(setIn(world, each, item))))
    case 'some':
    case 'all':
    case 'none':
      return mayQuantify({ expr, world, item }, solver)
    default:
      return isOrdered(expr.op, set(expr.left), set(expr.right))
  }
}

/** The values that an operand may have; an operator has a boolean. */
export function setOfExpr(question: Question, solver: Solver): ValueSet {
  const { expr, world, item } = question
  if (expr.op === 'literal') return toValueSet([expr.value])
  if (expr.op === 'var') return setIn(world, expr, item)
  const { mayHold, mayFail } = evaluateTruth(question, solver)
  return { ...nothing, booleans: (mayFail ? 1 : 0) | (mayHold ? 2 : 0) }
}

/** The list that an operand certainly is. */
export function certainList(set: ValueSet): readonly Json[] | undefined {
  if (set.missing || set.objects || !isAbsent({ ...set, lists: undefined, objects: false })) return undefined
  const list = set.known?.length === 1 ? set.known[0] : undefined
  return Array.isArray(list) ? (list as readonly Json[]) : undefined
}

function mayBeIn(needle: ValueSet, list: ValueSet): Truth {
  const values = certainList(list)
  if (values !== undefined) return isAmong(needle, values)
  const inList = list.lists !== undefined && list.lists.max > 0
  const inText =
    list.strings !== 'any' && list.strings.length === 0
      ? false
      : needle.strings === 'any' || needle.strings.length > 0
  return { mayHold: !isAbsent(needle) && (inList || inText), mayFail: true }
}

type Quantified = Question & { readonly expr: Extract<Expr, { readonly op: Quantifier }> }

/** Elements inspected one by one in a list that is known. */
const mostElements = 64

function mayQuantify({ expr, world, item }: Quantified, solver: Solver): Truth {
  const list = setOfExpr({ expr: expr.list, world, item }, solver)
  const values = certainList(list)
  if (values !== undefined) {
    if (values.length > mostElements) return depends
    const each = values.map((value) => solver.decide({ expr: expr.body, world, item: { value } }))
    return quantified(expr.op, values.length === 0 ? never : expr.op === 'all' ? every(each) : any(each))
  }
  const mayHaveAny = list.lists !== undefined && list.lists.max > 0
  if (!mayHaveAny) return quantified(expr.op, never)
  const mayHaveNone = list.missing || list.lists?.min === 0 || !isAbsent({ ...list, lists: undefined })
  const body = ofElement({ expr, world, item }, solver)
  return quantified(expr.op, { mayHold: body.mayHold, mayFail: mayHaveNone || body.mayFail })
}

function ofElement({ expr, world, item }: Quantified, solver: Solver): Truth {
  const list = expr.list.op === 'var' ? pathOfVariable(expr.list, item) : undefined
  return solver.decide({ expr: expr.body, world, item: list && { path: [...list, '*'] } })
}

const quantified = (op: Quantifier, truth: Truth): Truth => (op === 'none' ? negate(truth) : truth)

/** The same location on both sides: equal whenever it is there. */
function sameVar(left: Expr, right: Expr, item: Item): boolean {
  if (left.op !== 'var' || right.op !== 'var') return false
  if (left.from !== right.from || (left.from === 'item' && item === undefined)) return false
  return left.path.length === right.path.length && left.path.every((segment, i) => segment === right.path[i])
}
