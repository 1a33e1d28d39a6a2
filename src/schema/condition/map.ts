/** The same condition about another root: post-conditions of a node become conditions on the answer that holds its output. */
import type { Expr, Var } from './expr.ts'

/** Every variable that starts at the root gets a new path. */
export function mapPaths(expr: Expr, change: (path: readonly string[]) => readonly string[]): Expr {
  const map = (each: Expr) => mapPaths(each, change)
  switch (expr.op) {
    case 'literal':
      return expr
    case 'var':
      return changed(expr, change)
    case 'and':
    case 'or':
      return { ...expr, args: expr.args.map(map) }
    case '!':
      return { ...expr, arg: map(expr.arg) }
    case 'between':
      return { ...expr, value: map(expr.value), low: map(expr.low), high: map(expr.high) }
    case 'in':
      return { ...expr, needle: map(expr.needle), list: map(expr.list) }
    case 'missing':
      return { ...expr, vars: expr.vars.map((each) => changed(each, change)) }
    case 'some':
    case 'all':
    case 'none':
      return { ...expr, list: map(expr.list), body: map(expr.body) }
    default:
      return { ...expr, left: map(expr.left), right: map(expr.right) }
  }
}

function changed(variable: Var, change: (path: readonly string[]) => readonly string[]): Var {
  return variable.from === 'item' ? variable : { ...variable, path: change(variable.path) }
}
