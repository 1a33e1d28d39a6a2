/**
 * The one evaluator of conditions: strict, without coercion, on a fixed allowance of fuel. The engine, policies and guards
 * ask it at run time; the prover's verdicts are about exactly what it does.
 */

import type { Issue } from '../../base/errors/issue.ts'
import { isObject } from '../../base/json.ts'
import { describe } from '../describe.ts'
import type { ConditionIssueCode } from '../issue-table.ts'
import { conditionLimits, type Expr, type Order, type ParsedCondition, type Var } from './expr.ts'
import { describeExpr } from './text.ts'

export interface Evaluation {
  readonly kind: 'true' | 'false' | 'error'
  /**
   * With `error`, why. With `true` or `false`, the first operand that was missing or had the wrong type: it explains a
   * failure to people and never changes the verdict.
   */
  readonly issue?: Issue<ConditionIssueCode>
}

/** What a path leads to when it leads nowhere; never null, which is a value. */
export const missing: unique symbol = Symbol('missing')

/**
 * Whether the condition holds for the value. On `error` (out of steps) callers fail closed: a constraint fails, a policy asks.
 *
 * @example
 * evaluate(condition, { qaFindings: { overallScore: 0.9 } }) // { kind: 'true' }
 */
export function evaluate(
  condition: ParsedCondition,
  value: unknown,
  options: { /** Default 10,000. */ readonly fuel?: number } = {},
): Evaluation {
  const run: Run = { root: value, fuel: options.fuel ?? conditionLimits.fuel, issue: undefined }
  const held = holds(condition.expr, value, run)
  if (run.fuel < 0) return { kind: 'error', issue: outOfFuel }
  const kind = held ? 'true' : 'false'
  return run.issue === undefined ? { kind } : { kind, issue: run.issue }
}

interface Run {
  readonly root: unknown
  /** Below zero nothing is evaluated any more, and the result is ignored. */
  fuel: number
  issue: Issue<ConditionIssueCode> | undefined
}

const outOfFuel: Issue<ConditionIssueCode> = {
  code: 'condition/fuel',
  at: { pointer: '' },
  message: 'The condition needs more steps than it is allowed',
  hint: 'Check fewer elements, or compare shorter values',
}

/** Only `true` is true: a text, a number or nothing at all in the place of a truth is false, and said. */
function holds(expr: Expr, item: unknown, run: Run): boolean {
  const value = valueIn(expr, item, run)
  if (typeof value !== 'boolean') note(run, expr, value, 'a boolean')
  return value === true
}

function valueIn(expr: Expr, item: unknown, run: Run): unknown {
  if (--run.fuel < 0) return false
  switch (expr.op) {
    case 'literal':
      return expr.value
    case 'var':
      return resolveVar(expr, item, run)
    case 'and':
      return expr.args.every((arg) => holds(arg, item, run))
    case 'or':
      return expr.args.some((arg) => holds(arg, item, run))
    case '!':
      return !holds(expr.arg, item, run)
    case '==':
      return same(valueIn(expr.left, item, run), valueIn(expr.right, item, run), run)
    case '!=':
      return !same(valueIn(expr.left, item, run), valueIn(expr.right, item, run), run)
    case 'between': {
      const value = getNumber(expr.value, item, run)
      const low = getNumber(expr.low, item, run)
      const high = getNumber(expr.high, item, run)
      return compare('<=', low, value) && compare('<=', value, high)
    }
    case 'in':
      return isIn(valueIn(expr.needle, item, run), valueIn(expr.list, item, run), { run, expr: expr.list })
    case 'missing':
      return expr.vars.some((each) => {
        run.fuel -= 1
        return resolveVar(each, item, run) === missing
      })
    case 'some':
      return quantify(expr, item, run) === 'some'
    case 'none':
      return quantify(expr, item, run) !== 'some'
    case 'all':
      return quantify(expr, item, run) === 'all'
    default:
      return compare(expr.op, getNumber(expr.left, item, run), getNumber(expr.right, item, run))
  }
}

type Quantified = Extract<Expr, { readonly op: 'some' | 'all' | 'none' }>

/** Stops at the first element that settles the question. */
function quantify(expr: Quantified, item: unknown, run: Run): 'some' | 'all' | 'neither' {
  const list = valueIn(expr.list, item, run)
  if (!Array.isArray(list)) {
    note(run, expr.list, list, 'a list')
    return 'neither'
  }
  const settledBy = expr.op !== 'all'
  for (const element of list) {
    if (run.fuel < 0) return 'neither'
    if (holds(expr.body, element, run) === settledBy) return settledBy ? 'some' : 'neither'
  }
  return !settledBy && list.length > 0 ? 'all' : 'neither'
}

function resolveVar(expr: Var, item: unknown, run: Run): unknown {
  run.fuel -= expr.path.length
  return follow(expr.from === 'item' ? item : run.root, expr.path)
}

/** Own members and elements only: `constructor` and `__proto__` are names like any other. */
export function follow(from: unknown, path: readonly string[]): unknown {
  let value = from
  for (const segment of path) {
    if (Array.isArray(value)) value = element(value, segment)
    else value = isObject(value) && Object.hasOwn(value, segment) ? value[segment] : missing
  }
  return value === undefined ? missing : value
}

export const indexPattern = /^(?:0|[1-9]\d{0,8})$/

function element(list: readonly unknown[], segment: string): unknown {
  if (segment === 'length') return list.length
  const index = indexPattern.test(segment) ? Number(segment) : -1
  return index >= 0 && index < list.length ? list[index] : missing
}

function getNumber(expr: Expr, item: unknown, run: Run): number | undefined {
  const value = valueIn(expr, item, run)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  note(run, expr, value, 'a number')
  return undefined
}

/** True only for two numbers. */
function compare(op: Order, left: number | undefined, right: number | undefined): boolean {
  if (left === undefined || right === undefined) return false
  switch (op) {
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
  }
}

function isIn(
  needle: unknown,
  list: unknown,
  { run, expr }: { readonly run: Run; readonly expr: Expr },
): boolean {
  if (needle === missing) return false
  if (Array.isArray(list)) return list.some((each) => run.fuel >= 0 && same(needle, each, run))
  if (typeof list === 'string' && typeof needle === 'string') {
    // The engine's search may compare every pair of characters.
    run.fuel -= Math.ceil((list.length * needle.length) / charactersPerFuel)
    return run.fuel >= 0 && list.includes(needle)
  }
  note(run, expr, list, 'a list')
  return false
}

const charactersPerFuel = 2_000

/** Strict equality of JSON values, without recursion; nothing equals what is missing. */
function same(left: unknown, right: unknown, run: Run): boolean {
  if (left === missing || right === missing) return false
  const stack: [unknown, unknown][] = [[left, right]]
  for (let pair = stack.pop(); pair !== undefined; pair = stack.pop()) {
    const [a, b] = pair
    if (--run.fuel < 0) return false
    if (typeof a === 'string' && typeof b === 'string') {
      if (a.length !== b.length) return false
      run.fuel -= Math.floor(a.length / charactersPerFuel)
    }
    if (a === b) continue
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length || a.length > run.fuel) return outOf(a, b, run)
      for (let i = 0; i < a.length; i++) stack.push([a[i], b[i]])
    } else {
      if (!isObject(a) || !isObject(b)) return false
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length || keys.length > run.fuel)
        return outOf(keys, Object.keys(b), run)
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false
        stack.push([a[key], b[key]])
      }
    }
  }
  return true
}

/** Lists of different lengths differ; two of one length that are longer than the fuel is cannot be compared. */
function outOf(a: readonly unknown[], b: unknown, run: Run): false {
  if (Array.isArray(b) && a.length === b.length) run.fuel = -1
  return false
}

function note(run: Run, expr: Expr, value: unknown, wanted: string): void {
  if (run.issue !== undefined || run.fuel < 0) return
  const what = value === missing ? 'missing' : describe(value)
  run.issue = {
    code: value === missing ? 'condition/missing' : 'condition/type',
    at: {
      pointer: expr.op === 'var' && expr.from === 'root' ? expr.path.map((each) => `/${each}`).join('') : '',
    },
    message: `${describeExpr(expr)} is ${what}; the condition needs ${wanted}`,
  }
}
