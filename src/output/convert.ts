/** Conversions of one value to a type that the schema wants and the value is not: one function per target type. */
import { type JsonType, jsonType } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import type { Shape } from '../schema/shape.ts'
import type { Coercing } from './coercing.ts'
import { matchOne } from './names.ts'
import { readNumber } from './numbers.ts'
import type { Node } from './tree.ts'

type Outcome = { readonly value: unknown } | undefined
type Convert = (run: Coercing, node: Node, shape: Shape, pointer: Pointer) => Outcome

const BY_TYPE: Readonly<Record<JsonType, Convert>> = {
  integer: (run, node, shape, pointer) => toNumber(run, node, shape, pointer, 'integer'),
  number: (run, node, shape, pointer) => toNumber(run, node, shape, pointer, 'number'),
  boolean: toBoolean,
  null: toNull,
  string: toText,
  array: toList,
  object: toObject,
}

/** The converted value, or the value as it stands when no conversion is allowed and certain. */
export function convertScalar(run: Coercing, node: Node, shape: Shape, pointer: Pointer): unknown {
  const peeled = peel(run, node, shape, pointer)
  if (peeled !== undefined) return peeled.value
  const listed = toListed(run, node, shape, pointer)
  if (listed !== undefined) return listed.value
  if (shape.values === undefined || !shape.values.some((value) => jsonType(value) === jsonType(node.value))) {
    for (const type of shape.types) {
      const outcome = BY_TYPE[type](run, node, shape, pointer)
      if (outcome !== undefined) return outcome.value
    }
    const only = unwrapped(run, node, shape, pointer)
    if (only !== undefined) return only.value
  }
  if (node.kind === 'constant') {
    const word = run.text.slice(node.start, node.end)
    run.issue('value/not-json', pointer, `${word} is not a JSON value, and null is not allowed here`, {
      actual: word,
    })
  }
  return node.value
}

/** A JSON string inside a string where no string is wanted: encoded once too often. */
function peel(run: Coercing, node: Node, shape: Shape, pointer: Pointer): Outcome {
  if (node.kind !== 'string' || (shape.types.includes('string') && shape.values === undefined))
    return undefined
  const text = String(node.value).trim()
  const inner = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? innerString(text) : undefined
  if (inner === undefined || run.unfolded >= run.guide.settings.unescapeDepth) return undefined
  run.change('unescape', pointer, node.value, inner)
  run.unfolded++
  const value = run.byShape({ ...node, value: inner }, shape, pointer)
  run.unfolded--
  return { value }
}

/** enum and const: the one listed value that is spelled nearly so. */
function toListed(run: Coercing, node: Node, shape: Shape, pointer: Pointer): Outcome {
  if (shape.values === undefined || node.kind !== 'string' || run.guide.settings.aop !== 'full')
    return undefined
  const texts = shape.values.filter((value) => typeof value === 'string')
  const match = matchOne(String(node.value), texts, (value) => value)
  if (match === undefined) return undefined
  if (match.kind === 'many') {
    const values = match.values.map((value) => JSON.stringify(value)).join(' and ')
    run.issue('value/ambiguous', pointer, `${JSON.stringify(node.value)} can mean ${values}`, {
      expected: match.values,
    })
    return { value: node.value }
  }
  if (match.value !== node.value) run.change('enum', pointer, node.value, match.value)
  return { value: match.value }
}

function accepts(shape: Shape, value: unknown): boolean {
  return shape.values === undefined || shape.values.includes(value)
}

function toNumber(
  run: Coercing,
  node: Node,
  shape: Shape,
  pointer: Pointer,
  type: 'integer' | 'number',
): Outcome {
  const rule = type === 'integer' ? 'str->int' : 'str->float'
  const { settings } = run.guide
  const allowed = settings.allows(type, rule) || (type === 'number' && settings.allows('number', 'str->int'))
  if (node.kind !== 'string' || !(allowed || node.bare)) return undefined
  const reading = node.big ? { kind: 'unsafe' as const } : readNumber(String(node.value), shape)
  if (reading.kind === 'unsafe') {
    run.issue(
      'number/unsafe',
      pointer,
      `${String(node.value).slice(0, 60)} cannot be held exactly as a number`,
      {
        hint: 'Declare the property as a string to keep every digit',
        actual: node.value,
      },
    )
    return { value: node.value }
  }
  if (reading.kind === 'none' || !accepts(shape, reading.value)) return undefined
  if (type === 'integer' && !Number.isInteger(reading.value)) return undefined
  run.change(rule, pointer, node.value, reading.value)
  return { value: reading.value }
}

const TRUTH: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false }
const WORDS: Readonly<Record<string, boolean>> = {
  yes: true,
  no: false,
  on: true,
  off: false,
  y: true,
  n: false,
}

function toBoolean(run: Coercing, node: Node, shape: Shape, pointer: Pointer): Outcome {
  const { allows } = run.guide.settings
  if (node.kind === 'number') {
    if (!allows('boolean', 'num->bool') || (node.value !== 0 && node.value !== 1)) return undefined
    return took(run, 'num->bool', pointer, node.value, node.value === 1)
  }
  if (node.kind !== 'string') return undefined
  const word = String(node.value)
    .replace(/[\u0000\u200b-\u200d\u2060]/g, '')
    .trim()
    .toLowerCase()
  for (const [rule, table] of [['str->bool', TRUTH] as const, ['word->bool', WORDS] as const]) {
    const value = Object.hasOwn(table, word) ? table[word] : undefined
    if (value !== undefined && allows('boolean', rule) && accepts(shape, value))
      return took(run, rule, pointer, node.value, value)
  }
  return undefined
}

function took(
  run: Coercing,
  rule: Parameters<Coercing['change']>[0],
  pointer: Pointer,
  before: unknown,
  after: unknown,
): Outcome {
  run.change(rule, pointer, before, after)
  return { value: after }
}

function toNull(run: Coercing, node: Node, _shape: Shape, pointer: Pointer): Outcome {
  if (node.kind === 'constant') return { value: null }
  if (node.kind !== 'string' || !run.guide.settings.allows('null', 'str->null')) return undefined
  return /^\s*(?:null|none|nil)\s*$/i.test(String(node.value))
    ? took(run, 'str->null', pointer, node.value, null)
    : undefined
}

/** Numbers, literals, objects and lists where text is wanted: what was written. */
function toText(run: Coercing, node: Node, shape: Shape, pointer: Pointer): Outcome {
  const { allows } = run.guide.settings
  if (node.kind === 'null' || node.kind === 'string' || node.kind === 'constant') return undefined
  const rule = node.kind === 'number' ? 'num->str' : 'json->str'
  if (!allows('string', rule)) return undefined
  if (node.kind === 'array' && node.items?.length === 1 && node.items[0]?.kind === 'string') return undefined
  const text = run.text.slice(node.start, node.end)
  return accepts(shape, text) ? took(run, rule, pointer, node.value, text) : undefined
}

function toList(run: Coercing, node: Node, shape: Shape, pointer: Pointer): Outcome {
  const { settings } = run.guide
  if (node.kind === 'string' && settings.allows('array', 'str->array')) {
    const inner = tryUnfold(run, node, shape, pointer, 'array')
    if (inner !== undefined) return inner
  }
  if (!settings.allows('array', 'wrap') || node.kind === 'null' || node.kind === 'constant') return undefined
  const marks = { changes: run.changes.length, cost: run.cost, issues: run.issues.length }
  run.change('wrap', pointer, node.value, [node.value])
  const item = run.at(node, shape.item(0), child(pointer, 0))
  // An object made into text and then into a list of it would fit anything.
  const forced = node.items !== undefined && typeof item === 'string'
  if (!forced && shape.item(0).every((place) => run.guide.compiled.acceptsAt(place, item)))
    return { value: [item] }
  run.changes.length = marks.changes
  run.issues.length = Math.min(run.issues.length, marks.issues)
  run.cost = marks.cost
  return undefined
}

function toObject(run: Coercing, node: Node, shape: Shape, pointer: Pointer): Outcome {
  if (node.kind !== 'string' || !run.guide.settings.allows('object', 'str->object')) return undefined
  return tryUnfold(run, node, shape, pointer, 'object')
}

/** A string that holds the wanted container. */
function tryUnfold(
  run: Coercing,
  node: Node,
  shape: Shape,
  pointer: Pointer,
  kind: 'array' | 'object',
): Outcome {
  let matched = false
  const outcome = run.unfold(node, kind === 'array' ? 'str->array' : 'str->object', pointer, (inner) => {
    matched = inner.kind === kind
    return matched ? run.byShape(inner, shape, pointer) : undefined
  })
  if (outcome === undefined) return undefined
  if (matched) return outcome
  run.changes.pop()
  return undefined
}

function innerString(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** A list of one where its item is wanted. */
function unwrapped(run: Coercing, node: Node, shape: Shape, pointer: Pointer): Outcome {
  const only = node.items?.length === 1 ? node.items[0] : undefined
  if (node.kind !== 'array' || only === undefined) return undefined
  const type = shape.types.find((wanted) => run.guide.settings.allows(wanted, 'unwrap'))
  if (type === undefined) return undefined
  run.change('unwrap', pointer, node.value, only.value)
  return { value: run.byShape(only, shape, pointer) }
}
