/**
 * A second evaluator of conditions, written from their specification alone and straight on the JSON: strict, an ordering
 * is true only for two present numbers, missing equals nothing, `all` and `some` of an empty list are false, a path that
 * leads nowhere is missing and never null, and only `true` is true. It shares no code with the real one.
 */
import type { Json } from '../../../src/base/json.ts'

const absent = Symbol('absent')
type Found = Json | typeof absent
type Node = { readonly [operator: string]: Json }

interface Scope {
  readonly root: Json
  /** The element, inside some, all and none. */
  readonly item?: { readonly value: Json }
}

export function oracle(condition: Json, root: Json): boolean {
  return truth(condition, { root })
}

function truth(expr: Json, scope: Scope): boolean {
  return operandOf(expr, scope) === true
}

function operandOf(expr: Json, scope: Scope): Found {
  if (typeof expr !== 'object' || expr === null || Array.isArray(expr)) return expr
  const [operator, held] = Object.entries(expr as Node)[0] as [string, Json]
  const operands = (Array.isArray(held) ? held : [held]) as Json[]
  const at = (index: number) => operandOf(operands[index] as Json, scope)
  switch (operator) {
    case 'var':
      return look(operands[0] as string, scope)
    case 'and':
      return operands.filter((each) => truth(each, scope)).length === operands.length
    case 'or':
      return operands.filter((each) => truth(each, scope)).length > 0
    case '!':
      return !truth(operands[0] as Json, scope)
    case '==':
      return equal(at(0), at(1))
    case '!=':
      return !equal(at(0), at(1))
    case 'between':
      return isBelow(at(1), at(0), true) && isBelow(at(0), at(2), true)
    case '<':
      return isBelow(at(0), at(1), false)
    case '<=':
      return isBelow(at(0), at(1), true)
    case '>':
      return isBelow(at(1), at(0), false)
    case '>=':
      return isBelow(at(1), at(0), true)
    case 'in':
      return within(at(0), at(1))
    case 'missing':
      return operands.some((each) => look(typeof each === 'string' ? each : pathIn(each), scope) === absent)
    case 'some':
      return matching(operands, scope).hits > 0
    case 'none':
      return matching(operands, scope).hits === 0
    case 'all': {
      const { hits, size } = matching(operands, scope)
      return size > 0 && hits === size
    }
    default:
      throw new Error(`The oracle does not know ${operator}`)
  }
}

const pathIn = (variable: Json) => (variable as Node)['var'] as string

function look(path: string, { root, item }: Scope): Found {
  const parts = path === '' ? [] : path.split('.')
  let found: Found = root
  if (item !== undefined && (path === '' || parts[0] === 'item')) {
    found = item.value
    parts.shift()
  }
  for (const part of parts) found = step(found, part)
  return found
}

function step(found: Found, part: string): Found {
  if (found === absent || typeof found !== 'object' || found === null) return absent
  if (!Array.isArray(found)) return Object.hasOwn(found, part) ? ((found as Node)[part] as Json) : absent
  if (part === 'length') return found.length
  const index = String(Number(part)) === part ? Number(part) : -1
  return Number.isInteger(index) && index >= 0 && index < found.length ? (found[index] as Json) : absent
}

function isBelow(left: Found, right: Found, orSame: boolean): boolean {
  if (typeof left !== 'number' || typeof right !== 'number') return false
  return left < right || (orSame && left === right)
}

function equal(left: Found, right: Found): boolean {
  if (left === absent || right === absent) return false
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null)
    return left === right
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const [a, b] = [left as Node, right as Node]
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && equal(a[name] as Json, b[name] as Json))
}

function within(needle: Found, list: Found): boolean {
  if (needle === absent) return false
  if (Array.isArray(list)) return list.some((each) => equal(needle, each as Json))
  return typeof list === 'string' && typeof needle === 'string' && list.indexOf(needle) >= 0
}

function matching(operands: readonly Json[], scope: Scope): { hits: number; size: number } {
  const list = operandOf(operands[0] as Json, scope)
  if (!Array.isArray(list)) return { hits: 0, size: 0 }
  const hits = list.filter((value) => truth(operands[1] as Json, { ...scope, item: { value } }))
  return { hits: hits.length, size: list.length }
}
