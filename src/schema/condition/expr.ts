/**
 * What a condition is once it is read: a small tree over a closed set of operators. Evaluator, prover and printer all walk
 * this tree, so proof and run time cannot disagree about what was written.
 */
import type { Json } from '../../base/json.ts'

export type Order = '<' | '<=' | '>' | '>='
export type Quantifier = 'some' | 'all' | 'none'

export interface Var {
  readonly op: 'var'
  /** `item`: the path starts at the current element of the innermost quantifier. */
  readonly from: 'root' | 'item'
  readonly path: readonly string[]
}

export type Expr =
  | { readonly op: 'literal'; readonly value: Json }
  | Var
  | { readonly op: 'and' | 'or'; readonly args: readonly Expr[] }
  | { readonly op: '!'; readonly arg: Expr }
  | { readonly op: '==' | '!=' | Order; readonly left: Expr; readonly right: Expr }
  | { readonly op: 'between'; readonly value: Expr; readonly low: Expr; readonly high: Expr }
  | { readonly op: 'in'; readonly needle: Expr; readonly list: Expr }
  | { readonly op: 'missing'; readonly vars: readonly Var[] }
  | { readonly op: Quantifier; readonly list: Expr; readonly body: Expr }

/** A condition that was read: only `parseCondition` makes one. */
export interface ParsedCondition {
  readonly expr: Expr
}

/** Larger or deeper conditions are refused; an evaluation that needs more fuel is an error. */
export const conditionLimits = { depth: 64, bytes: 100_000, fuel: 10_000 } as const

export type Operator = Exclude<Expr['op'], 'literal'>

interface OperatorRow {
  /** How many operands: exactly, or at least one. */
  readonly arity: 1 | 2 | 3 | 'many'
  readonly sentence: string
}

export const operatorTable: { readonly [op in Operator]: OperatorRow } = {
  and: { arity: 'many', sentence: 'every operand is true' },
  or: { arity: 'many', sentence: 'some operand is true' },
  '!': { arity: 1, sentence: 'the operand is not true' },
  '==': { arity: 2, sentence: 'both are there and are the same JSON value' },
  '!=': { arity: 2, sentence: 'the negation of ==: also true when one is missing' },
  '<': { arity: 2, sentence: 'both are numbers, the first is less' },
  '<=': { arity: 2, sentence: 'both are numbers, the first is not more' },
  '>': { arity: 2, sentence: 'both are numbers, the first is more' },
  '>=': { arity: 2, sentence: 'both are numbers, the first is not less' },
  between: { arity: 3, sentence: 'three numbers: the first lies between the others, ends included' },
  in: { arity: 2, sentence: 'the list holds the value, or the text holds the text' },
  var: { arity: 1, sentence: 'the value at a path such as `a.b.0.c`; `.length` of a list is its length' },
  missing: { arity: 'many', sentence: 'at least one of the paths leads to nothing' },
  some: { arity: 2, sentence: 'an element (`item`) of the list makes the second operand true' },
  all: { arity: 2, sentence: 'the list is not empty and every element (`item`) makes it true' },
  none: { arity: 2, sentence: 'the negation of some: also true when the list is empty or missing' },
}

export const orders = new Set<string>(['<', '<=', '>', '>='])

/**
 * Gives a new path to every variable that starts at the root: post-conditions of a node become conditions on the answer
 * that holds its output.
 */
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
