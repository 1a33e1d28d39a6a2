/**
 * Conditions: boolean expressions over a value, written as JSON-Logic with a closed operator set (DECISIONS 18). Contracts,
 * routes, policies and guards use what this file exports and nothing else of the files beside.
 */

import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { clip } from '../describe.ts'
import type { ConditionIssueCode } from '../issue-table.ts'
import {
  conditionLimits,
  type Expr,
  type Operator,
  operatorTable,
  orders,
  type ParsedCondition,
  type Quantifier,
  type Var,
} from './expr.ts'

export { type Evaluation, evaluate } from './evaluate.ts'
export { conditionLimits, operatorTable, type ParsedCondition } from './expr.ts'
export { conditionVars, describeCondition, testedForAbsence } from './text.ts'

// Reads JSON-Logic as far as the closed operator set goes. Everything else is an issue with a location, never an exception:
// a condition comes from callers and models. A parsed condition is bounded in depth and size for every later walk.

type ConditionResult =
  | { readonly ok: true; readonly condition: ParsedCondition }
  | { readonly ok: false; readonly issues: readonly Issue<ConditionIssueCode>[] }

const known = new WeakMap<object, ConditionResult>()

/**
 * The condition, or what is wrong with it. Conditions are plain data that never changes, so each object is read once.
 *
 * @example
 * parseCondition({ '>=': [{ var: 'qaFindings.overallScore' }, 0.8] }) // { ok: true, condition }
 */
export function parseCondition(json: unknown): ConditionResult {
  const key = typeof json === 'object' && json !== null ? json : undefined
  const found = key && known.get(key)
  if (found !== undefined) return found
  const result = read(json)
  if (key !== undefined) known.set(key, result)
  return result
}

interface Reading {
  readonly issues: Issue<ConditionIssueCode>[]
  bytes: number
  /** A limit was hit: continuing would cost what it forbids. */
  stopped: boolean
}

interface Spot {
  readonly pointer: Pointer
  readonly depth: number
  /** Inside the second operand of some, all or none. */
  readonly inItem: boolean
}

function read(json: unknown): ConditionResult {
  const reading: Reading = { issues: [], bytes: 0, stopped: false }
  const expr = readTruth(json, { pointer: '', depth: 0, inItem: false }, reading)
  if (reading.issues.length === 0) return { ok: true, condition: { expr } }
  return { ok: false, issues: reading.issues.slice(0, 20) }
}

const nothing: Expr = { op: 'literal', value: null }
const nowhere: Var = { op: 'var', from: 'root', path: [] }

/** Where a truth is wanted, a text or a number is a mistake of the author: it would always be false. */
function readTruth(json: unknown, spot: Spot, reading: Reading): Expr {
  const before = reading.issues.length
  const expr = readExpr(json, spot, reading)
  if (reading.issues.length === before && expr.op === 'literal' && typeof expr.value !== 'boolean') {
    fail(reading, spot, {
      code: 'condition/operand',
      message: `${clip(expr.value, 40)} is neither true nor false`,
      hint: 'Compare it, or write an operator',
    })
  }
  return expr
}

function readExpr(json: unknown, spot: Spot, reading: Reading): Expr {
  if (!spend(json, spot, reading)) return nothing
  if (!isObject(json)) return { op: 'literal', value: readLiteral(json, spot, reading) }
  const keys = Object.keys(json)
  const [name] = keys
  if (name === undefined || keys.length > 1) {
    return fail(reading, spot, {
      code: 'condition/operator',
      message: `A condition has one operator; this has ${keys.length === 0 ? 'none' : clip(keys, 60)}`,
      hint: 'Join several with "and": { "and": [ …, … ] }',
    })
  }
  const at = { ...spot, pointer: child(spot.pointer, name), depth: spot.depth + 1 }
  if (!Object.hasOwn(operatorTable, name)) {
    return fail(reading, at, {
      code: 'condition/operator',
      message: `Operator ${clip(name, 40)} not found`,
      hint: hintFor(name),
    })
  }
  reading.bytes += name.length
  return readOperator(name as Operator, json[name], { at, reading })
}

interface Context {
  readonly at: Spot
  readonly reading: Reading
}

function readOperator(op: Operator, held: unknown, context: Context): Expr {
  const { at, reading } = context
  const operands = Array.isArray(held) ? (held as unknown[]) : [held]
  const { arity } = operatorTable[op]
  if (arity === 'many' ? operands.length === 0 : operands.length !== arity) {
    return fail(reading, at, {
      code: 'condition/arity',
      message: `"${op}" takes ${arity === 'many' ? 'at least 1 operand' : `${arity} operand${arity === 1 ? '' : 's'}`}, not ${operands.length}`,
      ...(op === 'var' && { hint: 'There are no defaults: what is absent is missing' }),
    })
  }
  const locate = (index: number): Spot =>
    Array.isArray(held) ? { ...at, pointer: child(at.pointer, index) } : at
  const operand = (index: number): Expr => readExpr(operands[index], locate(index), reading)
  const truth = (index: number, inItem = at.inItem): Expr =>
    readTruth(operands[index], { ...locate(index), inItem }, reading)
  switch (op) {
    case 'var':
      return readVar(operands[0], locate(0), reading)
    case 'missing':
      return { op, vars: operands.map((each, index) => readMissing(each, locate(index), reading)) }
    case 'and':
    case 'or':
      return { op, args: operands.map((_, index) => truth(index)) }
    case '!':
      return { op, arg: truth(0) }
    case 'in':
      return { op, needle: operand(0), list: operand(1) }
    case 'between': {
      const [value, low, high] = [operand(0), operand(1), operand(2)]
      ;[value, low, high].forEach((each, index) => {
        requireNumber(op, each, { at: locate(index), reading })
      })
      return { op, value, low, high }
    }
    case 'some':
    case 'all':
    case 'none':
      return { op: op satisfies Quantifier, list: operand(0), body: truth(1, true) }
    default: {
      const [left, right] = [operand(0), operand(1)]
      if (orders.has(op)) {
        requireNumber(op, left, { at: locate(0), reading })
        requireNumber(op, right, { at: locate(1), reading })
      }
      return { op, left, right }
    }
  }
}

/** A comparison with a text would never be true; that is a mistake of the author and not a verdict. */
function requireNumber(op: Operator, expr: Expr, { at, reading }: Context): void {
  if (expr.op === 'var' || (expr.op === 'literal' && typeof expr.value === 'number')) return
  fail(reading, at, {
    code: 'condition/operand',
    message: `"${op}" compares numbers; ${expr.op === 'literal' ? clip(expr.value, 40) : `"${expr.op}"`} is not a number`,
    hint: 'Write a number, or { "var": … } that leads to one',
  })
}

function readVar(json: unknown, spot: Spot, reading: Reading): Var {
  const path = typeof json === 'number' && Number.isInteger(json) && json >= 0 ? String(json) : json
  if (typeof path !== 'string') {
    fail(reading, spot, {
      code: 'condition/path',
      message: `A path is a text such as "a.b.0.c", not ${clip(json, 40)}`,
    })
    return nowhere
  }
  reading.bytes += path.length
  const segments = path === '' ? [] : path.split('.')
  // `*` stands for every element wherever paths are shown (`conditionVars`); it cannot also be a name.
  const odd = segments.find((segment) => segment === '' || segment === '*')
  if (odd !== undefined) {
    fail(reading, spot, {
      code: 'condition/path',
      message: `The path ${clip(path, 40)} has ${odd === '' ? 'an empty part' : 'the part "*"'}`,
      ...(odd === '*' && { hint: 'Check the elements of a list with some, all or none' }),
    })
  }
  if (!spot.inItem) return { op: 'var', from: 'root', path: segments }
  if (path === '') return { op: 'var', from: 'item', path: [] }
  return segments[0] === 'item'
    ? { op: 'var', from: 'item', path: segments.slice(1) }
    : { op: 'var', from: 'root', path: segments }
}

function readMissing(json: unknown, spot: Spot, reading: Reading): Var {
  if (!spend(json, spot, reading)) return nowhere
  if (!isObject(json)) return readVar(json, spot, reading)
  const expr = readExpr(json, spot, reading)
  if (expr.op === 'var') return expr
  fail(reading, spot, { code: 'condition/path', message: '"missing" takes paths' })
  return nowhere
}

/** Texts, numbers, booleans, null, and lists of them; lists are copied, so that later changes have no effect. */
function readLiteral(json: unknown, spot: Spot, reading: Reading): Json {
  if (Array.isArray(json)) {
    return json.map((each, index) => {
      const at = { ...spot, pointer: child(spot.pointer, index), depth: spot.depth + 1 }
      return spend(each, at, reading) ? readLiteral(each, at, reading) : null
    })
  }
  if (json === null || typeof json === 'boolean' || typeof json === 'string') return json
  if (typeof json === 'number' && Number.isFinite(json)) return json
  fail(reading, spot, {
    code: 'condition/operand',
    message: isObject(json)
      ? 'An object cannot be in a list of values'
      : `${String(json).slice(0, 40)} is not JSON`,
  })
  return null
}

/** False once a limit is hit. */
function spend(json: unknown, spot: Spot, reading: Reading): boolean {
  if (reading.stopped) return false
  reading.bytes += typeof json === 'string' ? json.length + 2 : 2
  const { depth, bytes } = conditionLimits
  if (spot.depth <= depth && reading.bytes <= bytes) return true
  const message =
    spot.depth > depth
      ? `A condition may be nested ${depth} deep; this is deeper`
      : `A condition may have ${bytes} bytes; this has more`
  fail(reading, spot, { code: 'condition/limit', message })
  reading.stopped = true
  return false
}

function fail(reading: Reading, spot: Spot, said: Omit<Issue<ConditionIssueCode>, 'at'>): Expr {
  if (!reading.stopped) reading.issues.push({ ...said, at: { pointer: spot.pointer } })
  return nothing
}

/** What people write who know JSON-Logic or a programming language. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['===', 'Write "==": it is strict here'],
  ['!==', 'Write "!=": it is strict here'],
  ['=', 'Write "=="'],
  ['&&', 'Write "and"'],
  ['||', 'Write "or"'],
  ['not', 'Write "!"'],
  ['!!', 'Write the operand alone: only true is true'],
  ['if', 'Write it with "and", "or" and "!"'],
  ['missing_some', 'Write "missing" for each path, joined with "and" or "or"'],
  ['exists', 'Write { "!": { "missing": "path" } }'],
  ['length', 'Write { "var": "path.length" }'],
  ['any', 'Write "some"'],
  ['every', 'Write "all"'],
])

function hintFor(name: string): string {
  return otherWords.get(name) ?? `The operators are ${Object.keys(operatorTable).join(' ')}`
}
