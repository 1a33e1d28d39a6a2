/** Converts one value to a type that the schema requires: one function per target type, and the notations of numbers. */
import { type JsonType, jsonType } from '../../base/json.ts'
import type { Shape } from '../../schema/shape.ts'
import { isContainer, isSpecial, type Node } from '../decode/tree/tree.ts'
import { classify, exactNumber } from '../decode/unquoted.ts'
import { peelString } from '../scan/nested-json.ts'
import type { Coercing } from './coerce-context.ts'
import { matchNames } from './match-names.ts'

type Outcome = { readonly value: unknown } | undefined
type Convert = (run: Coercing, node: Node, shape: Shape) => Outcome

const BY_TYPE: Readonly<Record<JsonType, Convert>> = {
  integer: (run, node, shape) => toNumber(run, node, shape, 'integer'),
  number: (run, node, shape) => toNumber(run, node, shape, 'number'),
  boolean: toBoolean,
  null: toNull,
  string: toText,
  array: toList,
  object: toObject,
}

/** The converted value, or the value unchanged when no conversion is both allowed and unambiguous. */
export function convert(run: Coercing, node: Node, shape: Shape): unknown {
  const found = peel(run, node, shape) ?? toListed(run, node, shape)
  if (found !== undefined) return found.value
  if (shape.values === undefined || !shape.values.some((value) => jsonType(value) === jsonType(node.value))) {
    for (const type of shape.types) {
      const outcome = BY_TYPE[type](run, node, shape)
      if (outcome !== undefined) return outcome.value
    }
    const only = unwrapped(run, node, shape)
    if (only !== undefined) return only.value
  }
  if (node.kind === 'constant') {
    const word = run.getSource(node)
    run.issue('value/not-json', `${word} is not a JSON value, and null is not allowed here`, { actual: word })
  }
  return node.value
}

/** Decodes a JSON string inside a string where the schema expects no string: it was encoded once too often. */
function peel(run: Coercing, node: Node, shape: Shape): Outcome {
  if (node.kind !== 'string' || (shape.types.includes('string') && shape.values === undefined))
    return undefined
  const text = String(node.value).trim()
  const inner = peelString(text)
  if (inner === undefined || run.unfolded >= run.guide.settings.unescapeDepth) return undefined
  run.change('unescape', node.value, inner)
  const held = { value: inner, node: { ...node, value: inner } }
  return { value: run.unfold(text, held.node, () => run.byShape(held, shape)) }
}

/** enum and const: picks the only listed value with a similar spelling. */
function toListed(run: Coercing, node: Node, shape: Shape): Outcome {
  if (shape.values === undefined || node.kind !== 'string' || run.guide.settings.aop !== 'full')
    return undefined
  const [match, ...others] = matchNames(String(node.value), shape.values)
  if (match === undefined) return undefined
  if (others.length > 0) {
    const expected = [match, ...others]
    const values = expected.map((value) => JSON.stringify(value)).join(' and ')
    run.issue('value/ambiguous', `${JSON.stringify(node.value)} can mean ${values}`, { expected })
    return { value: node.value }
  }
  if (match !== node.value) run.change('enum', node.value, match)
  return { value: match }
}

function accepts(shape: Shape, value: unknown): boolean {
  return shape.values === undefined || shape.values.includes(value)
}

function took(
  run: Coercing,
  rule: Parameters<Coercing['change']>[0],
  before: unknown,
  after: unknown,
): Outcome {
  run.change(rule, before, after)
  return { value: after }
}

function toNumber(run: Coercing, node: Node, shape: Shape, type: 'integer' | 'number'): Outcome {
  const rule = type === 'integer' ? 'str->int' : 'str->float'
  const { settings } = run.guide
  const allowed = settings.allows(type, rule) || (type === 'number' && settings.allows('number', 'str->int'))
  if (node.kind !== 'string' || !(allowed || node.bare)) return undefined
  // As the only item of a list, it may be two items.
  if (run.wraps > 0 && DECIMAL_COMMA.test(String(node.value))) return undefined
  const reading = node.big ? { kind: 'unsafe' as const } : readNumber(String(node.value), shape)
  if (reading.kind === 'unsafe') {
    run.issue('number/unsafe', `${String(node.value).slice(0, 60)} cannot be held exactly as a number`, {
      hint: 'Declare it as a string to keep every digit',
      actual: node.value,
    })
    return { value: node.value }
  }
  if (reading.kind === 'none' || !accepts(shape, reading.value)) return undefined
  if (type === 'integer' && !Number.isInteger(reading.value)) return undefined
  return took(run, rule, node.value, reading.value)
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
const INVISIBLE = /[\u0000\u200b-\u200d\u2060]/g

function toBoolean(run: Coercing, node: Node, shape: Shape): Outcome {
  const { allows } = run.guide.settings
  if (node.kind === 'number') {
    if (!allows('boolean', 'num->bool') || (node.value !== 0 && node.value !== 1)) return undefined
    return took(run, 'num->bool', node.value, node.value === 1)
  }
  if (node.kind !== 'string') return undefined
  const word = String(node.value).replace(INVISIBLE, '').trim().toLowerCase()
  for (const [rule, table] of [['str->bool', TRUTH] as const, ['word->bool', WORDS] as const]) {
    const value = Object.hasOwn(table, word) ? table[word] : undefined
    if (value !== undefined && allows('boolean', rule) && accepts(shape, value))
      return took(run, rule, node.value, value)
  }
  return undefined
}

function toNull(run: Coercing, node: Node): Outcome {
  if (node.kind === 'constant') return { value: null }
  if (node.kind !== 'string' || !run.guide.settings.allows('null', 'str->null')) return undefined
  return /^\s*(?:null|none|nil)\s*$/i.test(String(node.value))
    ? took(run, 'str->null', node.value, null)
    : undefined
}

/** Numbers, literals, objects and lists where text is expected: uses the source text. */
function toText(run: Coercing, node: Node, shape: Shape): Outcome {
  if (node.kind === 'null' || node.kind === 'string' || node.kind === 'constant') return undefined
  const rule = node.kind === 'number' ? 'num->str' : 'json->str'
  if (!run.guide.settings.allows('string', rule)) return undefined
  if (typeof onlyItem(node) === 'string') return undefined
  const text = run.getSource(node)
  return accepts(shape, text) ? took(run, rule, node.value, text) : undefined
}

function toList(run: Coercing, node: Node, shape: Shape): Outcome {
  const { settings } = run.guide
  if (node.kind === 'string' && settings.allows('array', 'str->array')) {
    const inner = unfolded(run, node, shape, 'array')
    if (inner !== undefined) return inner
  }
  if (!settings.allows('array', 'wrap') || node.kind === 'null' || node.kind === 'constant') return undefined
  const before = run.record.mark
  run.change('wrap', node.value, [node.value])
  const where = shape.item(0)
  const item = run.asItem({ value: node.value, node }, where)
  // Reject an object turned into text and then wrapped in a list: that would match almost any schema.
  const forced = isContainer(node) && typeof item?.value === 'string'
  if (item !== undefined && !forced && where.every((pointer) => run.guide.accepts(pointer, item.value)))
    return { value: [item.value] }
  run.record.restore(before)
  return undefined
}

function toObject(run: Coercing, node: Node, shape: Shape): Outcome {
  if (node.kind !== 'string' || !run.guide.settings.allows('object', 'str->object')) return undefined
  return unfolded(run, node, shape, 'object')
}

/** Decodes a string that contains the expected container. */
function unfolded(run: Coercing, node: Node, shape: Shape, kind: 'array' | 'object'): Outcome {
  if (run.unfolded >= run.guide.settings.unescapeDepth) return undefined
  const text = String(node.value)
  const inner = run.decode(text)
  if (inner?.kind !== kind) return undefined
  run.change(kind === 'array' ? 'str->array' : 'str->object', node.value, inner.value)
  const held = { value: inner.value, node: isSpecial(inner) ? inner : undefined }
  return { value: run.unfold(text, inner, () => run.byShape(held, shape)) }
}

/** Replaces a list of one by its item where the item is expected. */
function unwrapped(run: Coercing, node: Node, shape: Shape): Outcome {
  const only = onlyItem(node)
  if (only === undefined) return undefined
  const type = shape.types.find((wanted) => run.guide.settings.allows(wanted, 'unwrap'))
  if (type === undefined) return undefined
  run.change('unwrap', node.value, only)
  return { value: run.itemByShape(node, shape) }
}

/** The item of a list of one. */
function onlyItem({ kind, value }: Node): unknown {
  return kind === 'array' && (value as unknown[]).length === 1 ? (value as unknown[])[0] : undefined
}

// Parses numbers as people and models write them, only when the meaning is unambiguous.

type NumberReading =
  | { readonly kind: 'number'; readonly value: number }
  /** The conversion would lose digits. */
  | { readonly kind: 'unsafe' }
  | { readonly kind: 'none' }

const NONE: NumberReading = { kind: 'none' }
const CURRENCY =
  /^(?:[$€£¥₹₩₽₺₫₪฿]|(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY)\b)\s*|\s*(?:[$€£¥₹₩₽₺₫₪฿]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY))$/g
const GROUPED = /^[+-]?\d{1,3}(?:([,.'’\u00a0\u202f _])\d{3})(?:\1\d{3})*(?:([.,])\d+)?$/
const LONGEST = 400

/** Parses a number; `bounds` decide the base of a percentage. */
export function readNumber(text: string, bounds: { readonly maximum: number | undefined }): NumberReading {
  let body = asciiDigits(text.trim())
  if (body === '' || body.length > LONGEST) return NONE
  let scale = 1
  if (/[%％]$/.test(body)) {
    body = body.slice(0, -1).trimEnd()
    if (bounds.maximum !== undefined && bounds.maximum <= 1) scale = 100
  }
  const sign = /^\((.+)\)$/.exec(body)
  if (sign === null) body = body.replace(CURRENCY, '').replace(/^([+-])\s*(?:[$€£¥₹])\s*/, '$1')
  const value = plain(body)
  if (value.kind !== 'number' || scale === 1) return value
  // Shift the exponent in the text: 12.5 % becomes exactly 0.125, without a rounding error.
  return { kind: 'number', value: Number(`${body}e-2`) }
}

function plain(body: string): NumberReading {
  const grouped = ungroup(body)
  if (/^[+-]?\d/.test(grouped) || /^[+-]?\.\d/.test(grouped)) {
    // Leading zeros: 007 is 7 where a number is expected.
    const bare = LEADING_ZEROS.test(grouped) ? exactNumber(grouped) : classify(grouped)
    if (bare.kind === 'number') return { kind: 'number', value: bare.value }
    return bare.kind === 'big' ? { kind: 'unsafe' } : arithmetic(grouped)
  }
  return NONE
}

const LEADING_ZEROS = /^[+-]?0+\d+(?:\.\d+)?$/

/** 12,50: a comma that separates no group of three digits is the mark of the decimals. */
const DECIMAL_COMMA = /^[+-]?\d+,\d\d?$/

/** 12,000 and 1.234,56 and 1'000: separators every three digits, and at most one other mark for the decimals. */
function ungroup(body: string): string {
  if (DECIMAL_COMMA.test(body)) return body.replace(',', '.')
  const match = GROUPED.exec(body)
  if (match === null) return body
  const [, separator, decimal] = match as unknown as [string, string, string | undefined]
  if (separator === decimal) return body
  // A single point before three digits is a decimal point: 1.234 is not 1234.
  if (separator === '.' && decimal === undefined && body.indexOf('.') === body.lastIndexOf('.')) return body
  const digits = body.replaceAll(separator, '')
  return decimal === ',' ? digits.replace(',', '.') : digits
}

/**
 * Evaluates a constant sum, difference or product with spaces around its operators. Leaves fractions, ranges and dates
 * alone.
 */
function arithmetic(text: string): NumberReading {
  if (!/^\d+(?:\.\d+)?(?:\s[+\-*]\s\d+(?:\.\d+)?){1,20}$/.test(text)) return NONE
  const terms = text.replace(/\s-\s/g, ' + -').split(/\s\+\s/)
  const value = terms.reduce(
    (sum, term) => sum + term.split(/\s\*\s/).reduce((product, factor) => product * Number(factor), 1),
    0,
  )
  return Number.isFinite(value) ? { kind: 'number', value } : NONE
}

/** Maps full-width, Arabic-Indic and Devanagari digits to ASCII. */
function asciiDigits(text: string): string {
  return text.replace(/[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/g, (digit) => {
    const c = digit.charCodeAt(0)
    const zero = c >= 0xff10 ? 0xff10 : c >= 0x966 ? 0x966 : c >= 0x6f0 ? 0x6f0 : 0x660
    return String(c - zero)
  })
}
