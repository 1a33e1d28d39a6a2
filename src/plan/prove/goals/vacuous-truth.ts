/**
 * Detects verdicts that the caller did not intend. Vacuous truth: whether a proved constraint is true only because a value
 * may be missing, as `not (score < 0.6)` without a score.
 */
import type { Expr, Var } from '../../../schema/condition/expr.ts'
import { type Item, pathOfVariable, setAtPath, type World } from '../../../schema/values/known-values.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'

export function mayBeVacuous(expr: Expr, worlds: readonly World[]): boolean {
  const uses = denied(expr, { negated: false, item: undefined })
  return worlds.some((world) =>
    uses.some(({ variable, item }) => {
      const path = pathOfVariable(variable, item)
      return path !== undefined && setAtPath(world, path).missing
    }),
  )
}

interface VariableUse {
  readonly variable: Var
  readonly item: Item
}

interface Side {
  readonly negated: boolean
  readonly item: Item
}

/**
 * Returns the variables of comparisons that are true when their value is missing; an explicit `missing` test is
 * intended and not reported.
 */
function denied(expr: Expr, side: Side): VariableUse[] {
  const { negated, item } = side
  const vars = (...operands: readonly Expr[]) =>
    operands.flatMap((each) => (each.op === 'var' ? [{ variable: each, item }] : []))
  switch (expr.op) {
    case 'literal':
    case 'missing':
      return []
    case 'var':
      return negated ? vars(expr) : []
    case 'and':
    case 'or':
      return expr.args.flatMap((arg) => denied(arg, side))
    case '!':
      return denied(expr.arg, { negated: !negated, item })
    case 'some':
    case 'all':
    case 'none': {
      const flipped = expr.op === 'none' ? !negated : negated
      const list = expr.list.op === 'var' ? pathOfVariable(expr.list, item) : undefined
      const inside = denied(expr.body, { negated: flipped, item: list && { path: [...list, '*'] } })
      return flipped ? [...vars(expr.list), ...inside] : inside
    }
    case 'between':
      return negated ? vars(expr.value, expr.low, expr.high) : []
    case 'in':
      return negated ? vars(expr.needle, expr.list) : []
    case '!=':
      return negated ? [] : vars(expr.left, expr.right)
    default:
      return negated ? vars(expr.left, expr.right) : []
  }
}

// Finds orderings (`< <= > >= between`) of a value that is never a number: they are always false, which is rarely
// intended.

/** Returns the ordered paths that hold a value, but in no world a number. */
export function neverNumbers(expr: Expr, worlds: readonly World[]): readonly string[] {
  const paths = orderedPaths(expr, undefined).filter((path) => {
    const sets = worlds.map((world) => setAtPath(world, path))
    return sets.every(({ numbers }) => numbers === undefined) && sets.some((set) => !isAbsent(set))
  })
  return [...new Set(paths.map((path) => path.join('.')))]
}

export function neverNumber(paths: readonly string[]): string {
  return `${paths.join(' and ')} ${paths.length === 1 ? 'is' : 'are'} never a number, so every ordering of it is false: compare with ==, or declare a number`
}

function orderedPaths(expr: Expr, item: Item): readonly (readonly string[])[] {
  const inside = (...operands: readonly Expr[]) => operands.flatMap((each) => orderedPaths(each, item))
  const ordered = (...operands: readonly Expr[]) =>
    operands
      .flatMap((each) => (each.op === 'var' ? [pathOfVariable(each, item) ?? []] : []))
      .filter(({ length }) => length > 0)
  switch (expr.op) {
    case 'literal':
    case 'var':
    case 'missing':
      return []
    case 'and':
    case 'or':
      return inside(...expr.args)
    case '!':
      return inside(expr.arg)
    case 'in':
      return inside(expr.needle, expr.list)
    case '==':
    case '!=':
      return inside(expr.left, expr.right)
    case 'between':
      return ordered(expr.value, expr.low, expr.high)
    case 'some':
    case 'all':
    case 'none': {
      const list = expr.list.op === 'var' ? pathOfVariable(expr.list, item) : undefined
      return orderedPaths(expr.body, list && { path: [...list, '*'] })
    }
    default:
      return ordered(expr.left, expr.right)
  }
}
