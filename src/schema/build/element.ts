/** What is known of any element of a list, and of any state of a loop, from the schema of the value that is bound. */
import { isObject, type Json } from '../../base/json.ts'
import type { JsonSchema } from '../json-schema.ts'
import { valuesOf } from '../values/schema-values.ts'
import type { Lengths } from '../values/value-set.ts'
import { anyOf } from './composite-schemas.ts'
import { project } from './project.ts'

export interface Known {
  readonly schema: JsonSchema
  /** False when it was generalised from known values. */
  readonly exact: boolean
}

/** The schema of any element of the list; `true` where nothing is known. */
export function elementOf(list: JsonSchema): Known {
  const values = listed(list)
  if (values !== undefined)
    return { schema: generalise(values.flatMap((each) => (Array.isArray(each) ? each : []))), exact: false }
  // Elements with a schema of their own by position, and after them all others.
  const positions = Array.from({ length: Math.min(prefixIn(list), mostPositions) + 1 }, (_, index) => index)
  const found = positions.map((index) => project(list, `/${index}`))
  return { schema: anyOf(found.map(({ schema }) => schema)), exact: found.every(({ exact }) => exact) }
}

/** How long the list may be. */
export function lengthsOf(list: JsonSchema): Lengths {
  const values = listed(list)
  if (values === undefined) return valuesOf(list)([]).lists ?? { min: 0, max: Number.POSITIVE_INFINITY }
  const lengths = values.flatMap((each) => (Array.isArray(each) ? [each.length] : []))
  return { min: Math.min(...lengths), max: Math.max(...lengths) }
}

/** A known value stands for its kind: rounds will change it. */
export function generalised(schema: JsonSchema): Known {
  const values = listed(schema)
  return values === undefined ? { schema, exact: true } : { schema: generalise(values), exact: false }
}

/** The values of a schema that says which they are. */
function listed(schema: JsonSchema): readonly Json[] | undefined {
  if (!isObject(schema)) return undefined
  if (Object.hasOwn(schema, 'const')) return [schema['const'] as Json]
  return Array.isArray(schema['enum']) ? (schema['enum'] as Json[]) : undefined
}

const mostPositions = 32

/** The longest `prefixItems` in a schema. */
function prefixIn(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 0
  const own = isObject(schema) && Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0
  return Math.max(own, 0, ...Object.values(schema).map(prefixIn))
}

// A schema that describes all of some known values without listing them: linear in the values, and never too narrow.

/** More different texts than this are "a string". */
const mostTexts = 20
/** Below this depth nothing is said. */
const deepest = 8

/**
 * @example
 * generalise([{ a: 1 }, { a: 2, b: 'x' }]) // an object with an integer `a` from 1 to 2 and perhaps a `b` that is "x"
 */
function generalise(values: readonly Json[], depth = 0): JsonSchema {
  if (depth > deepest) return true
  const texts = new Set<string>()
  const numbers: number[] = []
  const lists: (readonly Json[])[] = []
  const objects: { readonly [name: string]: Json }[] = []
  const rest = new Set<null | boolean>()
  for (const value of values) {
    if (typeof value === 'string') texts.add(value)
    else if (typeof value === 'number') numbers.push(value)
    else if (Array.isArray(value)) lists.push(value)
    else if (isObject(value)) objects.push(value as { readonly [name: string]: Json })
    else rest.add(value as null | boolean)
  }
  const kinds: JsonSchema[] = []
  if (texts.size > 0) kinds.push(texts.size > mostTexts ? { type: 'string' } : { enum: [...texts] })
  if (numbers.length > 0) kinds.push(numberSchema(numbers))
  if (lists.length > 0) kinds.push(listSchema(lists, depth))
  if (objects.length > 0) kinds.push(objectSchema(objects, depth))
  if (rest.size > 0) kinds.push({ enum: [...rest] })
  return kinds.length === 0 ? true : anyOf(kinds)
}

function numberSchema(numbers: readonly number[]): JsonSchema {
  const { least, most } = rangeOf(numbers)
  const type = numbers.every(Number.isInteger) ? 'integer' : 'number'
  return { type, minimum: least, maximum: most }
}

function listSchema(lists: readonly (readonly Json[])[], depth: number): JsonSchema {
  const { least, most } = rangeOf(lists.map(({ length }) => length))
  return { type: 'array', items: generalise(lists.flat(), depth + 1), minItems: least, maxItems: most }
}

function objectSchema(objects: readonly { readonly [name: string]: Json }[], depth: number): JsonSchema {
  const members = new Map<string, Json[]>()
  for (const object of objects)
    for (const [name, value] of Object.entries(object)) {
      const found = members.get(name)
      if (found === undefined) members.set(name, [value])
      else found.push(value)
    }
  const required = [...members].filter(([, found]) => found.length === objects.length).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries([...members].map(([name, found]) => [name, generalise(found, depth + 1)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

/** In one pass: spreading many thousand arguments would overflow the stack. */
function rangeOf(numbers: readonly number[]): { readonly least: number; readonly most: number } {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const each of numbers) {
    if (each < least) least = each
    if (each > most) most = each
  }
  return { least, most }
}
