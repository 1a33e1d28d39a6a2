/**
 * Finds orderings (`< <= > >= between`) of a value that is never a number: they are always false, which is rarely
 * intended.
 */
import type { Expr } from '../../../schema/condition/expr.ts'
import { type Item, pathOfVariable, setAtPath, type World } from '../../../schema/values/known-values.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'

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
