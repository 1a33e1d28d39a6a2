/**
 * Detects vacuous truth: whether a proved constraint is true only because a value may be missing, as `not (score <
 * 0.6)` without a score.
 */
import type { Expr, Var } from '../../../schema/condition/expr.ts'
import { type Item, pathOfVariable, setAtPath, type World } from '../../../schema/values/known-values.ts'

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
