/**
 * Parts of schemas: the members of an object schema, the elements of a list, and the schema of a part of its values as one
 * of its own.
 */
import { isObject, type Json } from '../../base/json.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'
import { indexPattern } from '../condition/evaluate.ts'
import type { JsonSchema } from '../json-schema.ts'
import {
  getItemSchemas,
  getList,
  getMember,
  getRecord,
  type Held,
  hold,
  openNode,
} from '../values/schema-node.ts'
import { getValueLookup } from '../values/schema-values.ts'
import type { Lengths } from '../values/value-set.ts'
import { addDefinition, both, isOpen } from './combine.ts'
import { buildAnyOf } from './composite-schemas.ts'

export interface Projection {
  readonly schema: JsonSchema
  /** False when the part may be narrower than the schema says, because other parts of the value bear on it. */
  readonly exact: boolean
}

export function project(schema: JsonSchema, pointer: Pointer): Projection {
  const path = tokens(pointer)
  return path.length === 0 ? { schema, exact: true } : walk([hold(schema)], path)
}

/** Keywords that describe a member independently of its neighbours. */
const local = new Set(
  'type properties required additionalProperties items prefixItems minItems maxItems allOf $ref $defs definitions $id $schema title description default examples'.split(
    ' ',
  ),
)

function walk(held: readonly Held[], path: readonly string[]): Projection {
  const [token, ...rest] = path
  if (token === undefined) return { schema: held.map(standalone).reduce(both, true), exact: true }
  const { parts, unions, impossible } = openNode([], held)
  if (impossible) return { schema: false, exact: true }
  const member = getMember(parts, token)
  const items = indexPattern.test(token) ? getItemSchemas(parts, Number(token)) : []
  const inside = member.forbidden ? { schema: false, exact: true } : walk([...member.held, ...items], rest)
  const schema = unions.reduce((all, { branches }) => {
    const each = branches.map((branch) => walk([branch], path).schema)
    return each.some(isOpen) ? all : both(all, { anyOf: each })
  }, inside.schema)
  const exact =
    inside.exact &&
    unions.length === 0 &&
    parts.every((part) => Object.keys(part.schema).every((keyword) => local.has(keyword)))
  return { schema, exact }
}

/** A part with what it refers to: the whole document goes along under a name of its own. */
function standalone({ schema, scope }: Held): JsonSchema {
  if (typeof schema !== 'object' || schema === null) return schema === true
  const $defs: Record<string, JsonSchema> = {}
  const part = addDefinition(schema as JsonSchema, 'part', $defs)
  if (Object.keys($defs).length === 0 || schema === scope.root) {
    return Object.keys($defs).length === 0 ? part : (schema as JsonSchema)
  }
  const location = pointerTo(scope.root, schema)
  const root: Record<string, JsonSchema> = {}
  const whole = addDefinition(scope.root, 'whole', root) as { readonly $ref: string }
  return location === undefined ? true : { $ref: whole.$ref + location, $defs: root }
}

/** The location of an object in a document. */
function pointerTo(root: unknown, wanted: unknown): string | undefined {
  const queue: { readonly value: unknown; readonly at: string }[] = [{ value: root, at: '' }]
  for (const { value, at } of queue) {
    if (value === wanted) return at
    if (typeof value !== 'object' || value === null) continue
    for (const [key, held] of Object.entries(value)) {
      queue.push({
        value: held,
        at: `${at}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
      })
    }
  }
  return undefined
}

interface NamedMember {
  readonly name: string
  readonly required: boolean
}

/** In the order in which they are declared; those of union branches are named, but not required. */
export function listMembers(schema: JsonSchema): readonly NamedMember[] {
  const found = new Map<string, boolean>()
  const visit = (held: Held, certain: boolean, depth: number) => {
    const { parts, unions } = openNode([], [held])
    for (const { schema: part } of parts) {
      for (const name of Object.keys(getRecord(part, 'properties'))) found.set(name, found.get(name) ?? false)
      if (certain) for (const name of getList(part, 'required')) found.set(String(name), true)
    }
    if (depth > 3) return
    for (const { branches } of unions) for (const branch of branches) visit(branch, false, depth + 1)
  }
  visit(hold(schema), true, 0)
  return [...found].map(([name, required]) => ({ name, required }))
}

/** Returns the properties that a schema requires at its root without describing them by name or by pattern. */
export function undescribedFields(schema: JsonSchema): readonly string[] {
  const described = new Set<string>()
  let describesAll = false
  const visit = (held: Held, depth: number) => {
    const { parts, unions } = openNode([], [held])
    for (const { schema: part } of parts) {
      for (const name of Object.keys(getRecord(part, 'properties'))) described.add(name)
      const hasPatterns = Object.keys(getRecord(part, 'patternProperties')).length > 0
      if (hasPatterns || isObject(part['additionalProperties'])) describesAll = true
    }
    if (depth > 3) return
    for (const { branches } of unions) for (const branch of branches) visit(branch, depth + 1)
  }
  visit(hold(schema), 0)
  if (describesAll) return []
  return listMembers(schema).flatMap(({ name, required }) => (required && !described.has(name) ? [name] : []))
}

/** What is known of any element of a list, and of any state of a loop, from the schema of the value that is bound. */
export interface Known {
  readonly schema: JsonSchema
  /** False when it was generalised from known values. */
  readonly exact: boolean
}

/** The schema of any element of the list; `true` where nothing is known. */
export function getElementSchema(list: JsonSchema): Known {
  const values = listed(list)
  if (values !== undefined)
    return { schema: generalise(values.flatMap((each) => (Array.isArray(each) ? each : []))), exact: false }
  // Elements with a schema of their own by position, and after them all others.
  const positions = Array.from({ length: Math.min(prefixIn(list), mostPositions) + 1 }, (_, index) => index)
  const found = positions.map((index) => project(list, `/${index}`))
  return { schema: buildAnyOf(found.map(({ schema }) => schema)), exact: found.every(({ exact }) => exact) }
}

/** How long the list may be. */
export function getLengths(list: JsonSchema): Lengths {
  const values = listed(list)
  if (values === undefined) return getValueLookup(list)([]).lists ?? { min: 0, max: Number.POSITIVE_INFINITY }
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
  return kinds.length === 0 ? true : buildAnyOf(kinds)
}

function numberSchema(numbers: readonly number[]): JsonSchema {
  const { least, most } = getRange(numbers)
  const type = numbers.every(Number.isInteger) ? 'integer' : 'number'
  return { type, minimum: least, maximum: most }
}

function listSchema(lists: readonly (readonly Json[])[], depth: number): JsonSchema {
  const { least, most } = getRange(lists.map(({ length }) => length))
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
function getRange(numbers: readonly number[]): { readonly least: number; readonly most: number } {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const each of numbers) {
    if (each < least) least = each
    if (each > most) most = each
  }
  return { least, most }
}
