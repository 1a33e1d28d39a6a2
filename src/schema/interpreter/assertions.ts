/** Checks of keywords that apply to one value: its type, number, text or size. One row per keyword. */

import { isObject, jsonEqual, typeTests } from '../../base/json.ts'
import type { ViolatedKeyword } from '../issue-table.ts'
import type { SchemaObject } from '../keywords.ts'
import { formats } from '../patterns/formats.ts'
import type { RegexEngine } from '../patterns/regex.ts'
import type { Check, Run, Site } from './run.ts'

/** What checks are made from. */
export interface Holder {
  readonly site: Site
  readonly schema: SchemaObject
  readonly regex: RegexEngine
}

/** Makes the check of a keyword; `undefined` when there is nothing to check. */
export type Row<H = Holder> = (held: unknown, holder: H, keyword: ViolatedKeyword) => Check | undefined

export const assertions: Readonly<Record<string, Row>> = {
  type(held, { site }, keyword) {
    const types = [held].flat() as string[]
    const tests = types.map((type) => typeTests[type] as (value: unknown) => boolean)
    const [only] = tests
    const accepts = tests.length === 1 && only ? only : (value: unknown) => tests.some((test) => test(value))
    return (value, run) => accepts(value) || run.report(site, keyword)
  },
  minimum: bound((value, limit) => value >= limit),
  maximum: bound((value, limit) => value <= limit),
  exclusiveMinimum: bound((value, limit) => value > limit),
  exclusiveMaximum: bound((value, limit) => value < limit),
  multipleOf: bound(isMultiple),
  minLength: counted('string', (count, limit) => count >= limit),
  maxLength: counted('string', (count, limit) => count <= limit),
  minItems: counted('array', (count, limit) => count >= limit),
  maxItems: counted('array', (count, limit) => count <= limit),
  minProperties: counted('object', (count, limit) => count >= limit),
  maxProperties: counted('object', (count, limit) => count <= limit),
  pattern(held, { site, regex }, keyword) {
    const compiled = regex(held as string, 'u')
    return (value, run) => typeof value !== 'string' || compiled.test(value) || run.report(site, keyword)
  },
  format(held, { site }, keyword) {
    const accepts = formatTest(held as string)
    if (accepts === undefined) return undefined
    return (value, run) => accepts(value) || run.report(site, keyword)
  },
  const(held, { site }, keyword) {
    return (value, run) => jsonEqual(value, held) || run.report(site, keyword)
  },
  enum(held, { site }, keyword) {
    const allowed = held as readonly unknown[]
    const scalars = new Set(allowed.filter((item) => typeof item !== 'object' || item === null))
    const containers = allowed.filter((item) => typeof item === 'object' && item !== null)
    return (value, run) =>
      (typeof value === 'object' && value !== null
        ? containers.some((item) => jsonEqual(item, value))
        : scalars.has(value)) || run.report(site, keyword)
  },
  uniqueItems(held, { site }, keyword) {
    if (held !== true) return undefined
    return (value, run) => {
      const duplicates = Array.isArray(value) ? findEqualItems(value) : undefined
      return duplicates === undefined || run.report(site, keyword, duplicates)
    }
  },
  required(held, { site }, keyword) {
    const names = held as readonly string[]
    return (value, run) => !isObject(value) || requireNames(names, value, { site, run, keyword })
  },
  dependentRequired(held, { site }, keyword) {
    const needs = Object.entries(held as Record<string, readonly string[]>)
    return (value, run) => {
      if (!isObject(value)) return true
      let ok = true
      for (const [property, names] of needs) {
        if (!has(value, property)) continue
        if (!requireNames(names, value, { site, run, keyword, property })) ok = false
        if (!ok && !run.collecting) return false
      }
      return ok
    }
  },
}

/** A property is there when it has a value: callers also pass objects with `undefined` members. */
export function has(value: object, name: string): boolean {
  return Object.hasOwn(value, name) && Reflect.get(value, name) !== undefined
}

interface Missing {
  readonly site: Site
  readonly run: Run
  readonly keyword: ViolatedKeyword
  readonly property?: string
}

function requireNames(names: readonly string[], value: object, where: Missing): boolean {
  const { site, run, keyword, property } = where
  let ok = true
  for (const missing of names) {
    if (has(value, missing)) continue
    ok = run.report(site, keyword, { missing, property })
    if (!run.collecting) return false
  }
  return ok
}

function bound(holds: (value: number, limit: number) => boolean): Row {
  return (held, { site }, keyword) => {
    const limit = held as number
    return (value, run) => typeof value !== 'number' || holds(value, limit) || run.report(site, keyword)
  }
}

function counted(of: 'string' | 'array' | 'object', holds: (count: number, limit: number) => boolean): Row {
  return (held, { site }, keyword) => {
    const count = counts[of]
    const limit = held as number
    return (value, run) => {
      const found = count(value)
      return found === undefined || holds(found, limit) || run.report(site, keyword)
    }
  }
}

const counts = {
  string: (value: unknown) => (typeof value === 'string' ? codePoints(value) : undefined),
  array: (value: unknown) => (Array.isArray(value) ? value.length : undefined),
  object: (value: unknown) => (isObject(value) ? Object.keys(value).length : undefined),
}

/** Characters as JSON Schema counts them: a surrogate pair is one. */
export function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) !== 0xd800 || (text.charCodeAt(i + 1) & 0xfc00) !== 0xdc00) continue
    count--
    i++
  }
  return count
}

/** Division first, as it forgives what binary fractions lose; the remainder where the quotient is too large. */
export function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor
  return Number.isFinite(quotient) ? Number.isInteger(quotient) : value % divisor === 0
}

function formatTest(name: string): ((value: unknown) => boolean) | undefined {
  const format: unknown = Object.hasOwn(formats, name) ? Reflect.get(formats, name) : undefined
  if (format === undefined || format === true) return undefined
  const defined = isObject(format) && !(format instanceof RegExp) ? format : { validate: format }
  const type = Reflect.get(defined, 'type') === 'number' ? 'number' : 'string'
  const validate: unknown = Reflect.get(defined, 'validate')
  if (validate instanceof RegExp) return (value) => typeof value !== 'string' || validate.test(value)
  if (typeof validate !== 'function') return undefined
  // biome-ignore lint/suspicious/noDoubleEquals: `typeof` is compared with a name that is not a literal
  return (value) => typeof value != type || validate(value) === true
}

// Finds equal items of an array in linear time: each item is named by its canonical text.

/** The indices of the last item that equals an earlier one, and of that earlier one. */
function findEqualItems(items: readonly unknown[]): { readonly i: number; readonly j: number } | undefined {
  const seen = new Map<unknown, number>()
  for (let i = 0; i < items.length; i++) {
    const name = getName(items[i])
    const j = seen.get(name)
    if (j !== undefined) return { i, j }
    seen.set(name, i)
  }
  return undefined
}

/** Scalars name themselves; text of a container begins with a character that marks it as such. */
function getName(item: unknown): unknown {
  if (typeof item === 'string') return `"${item}`
  return typeof item === 'object' && item !== null ? toText(item) : item
}

function toText(item: unknown): string {
  if (typeof item !== 'object' || item === null)
    return Object.is(item, -0) ? '0' : (JSON.stringify(item) ?? 'undefined')
  if (Array.isArray(item)) return `[${item.map(toText).join(',')}]`
  const members = Object.keys(item)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${toText(Reflect.get(item, key))}`)
  return `{${members.join(',')}}`
}
