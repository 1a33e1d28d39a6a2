/** Conditions as one line of text, the way people say them: what diagnostics and prompts show (`constraint`). */

import { clip } from '../describe.ts'
import type { Expr, ParsedCondition, Var } from './expr.ts'

const longest = 300

/** `qaFindings.overallScore >= 0.8`, `all(copyVariants, item.score >= 0)`; cut short when it is very long. */
export function describeCondition(condition: ParsedCondition): string {
  return describeExpr(condition.expr)
}

export function describeExpr(expr: Expr): string {
  const text = render(expr, { left: longest })
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

/** The paths from the root that a condition reads; `*` stands for every element: `copyVariants.*.score`. */
export function conditionVars(condition: ParsedCondition): string[] {
  const found = new Set<string>()
  collect(condition.expr, undefined, (path) => found.add(path.join('.')))
  return [...found]
}

/** The paths from the root that a condition tests with `missing`. */
export function testedForAbsence(condition: ParsedCondition): string[] {
  const found = new Set<string>()
  const visit = (expr: Expr) => {
    if (expr.op === 'missing')
      for (const each of expr.vars) if (each.from === 'root') found.add(each.path.join('.'))
    for (const part of getParts(expr)) visit(part)
  }
  visit(condition.expr)
  return [...found]
}

/** The path of a variable from the root; undefined when it looks into the elements of a list written in the condition. */
function getPath(variable: Var, item: readonly string[] | undefined): readonly string[] | undefined {
  if (variable.from === 'root') return variable.path
  return item && [...item, ...variable.path]
}

function collect(
  expr: Expr,
  item: readonly string[] | undefined,
  found: (path: readonly string[]) => void,
): void {
  switch (expr.op) {
    case 'literal':
      return
    case 'var': {
      const path = getPath(expr, item)
      if (path !== undefined) found(path)
      return
    }
    case 'some':
    case 'all':
    case 'none': {
      collect(expr.list, item, found)
      const list = expr.list.op === 'var' ? getPath(expr.list, item) : undefined
      collect(expr.body, list && [...list, '*'], found)
      return
    }
    default:
      for (const part of getParts(expr)) collect(part, item, found)
  }
}

function getParts(expr: Expr): readonly Expr[] {
  switch (expr.op) {
    case 'and':
    case 'or':
      return expr.args
    case '!':
      return [expr.arg]
    case 'between':
      return [expr.value, expr.low, expr.high]
    case 'in':
      return [expr.needle, expr.list]
    case 'missing':
      return expr.vars
    case 'literal':
    case 'var':
      return []
    case 'some':
    case 'all':
    case 'none':
      return [expr.list, expr.body]
    default:
      return [expr.left, expr.right]
  }
}

interface Allowance {
  left: number
}

/** Stops writing when there is enough to cut: a condition may be much longer than its text. */
function render(expr: Expr, allowance: Allowance): string {
  if (allowance.left < 0) return ''
  const text = renderWhole(expr, allowance)
  if (expr.op === 'var' || expr.op === 'literal') allowance.left -= text.length
  return text
}

function renderWhole(expr: Expr, allowance: Allowance): string {
  const inner = (each: Expr) => {
    const text = render(each, allowance)
    return each.op === 'and' || each.op === 'or' ? `(${text})` : text
  }
  switch (expr.op) {
    case 'literal':
      return clip(expr.value, 80)
    case 'var':
      return getName(expr)
    case 'and':
    case 'or':
      return expr.args.map(inner).filter(Boolean).join(` ${expr.op} `)
    case '!':
      return `not ${simple(expr.arg) ? inner(expr.arg) : `(${render(expr.arg, allowance)})`}`
    case 'between':
      return `${inner(expr.value)} between ${inner(expr.low)} and ${inner(expr.high)}`
    case 'in':
      return `${inner(expr.needle)} in ${inner(expr.list)}`
    case 'missing':
      return `missing(${expr.vars.map((each) => render(each, allowance)).join(', ')})`
    case 'some':
    case 'all':
    case 'none':
      return `${expr.op}(${render(expr.list, allowance)}, ${render(expr.body, allowance)})`
    default:
      return `${inner(expr.left)} ${expr.op} ${inner(expr.right)}`
  }
}

function simple(expr: Expr): boolean {
  return ['var', 'literal', 'missing', 'some', 'all', 'none'].includes(expr.op)
}

function getName({ from, path }: Var): string {
  if (from === 'item') return ['item', ...path].join('.')
  return path.length === 0 ? 'value' : path.join('.')
}
