/**
 * Flattens a complex schema to one closed object of string fields, with an inverse mapping (FSD-31, FSD-36). Called by
 * the generation fallback steps when validation keeps failing and simplifying is enabled.
 */
import { isObject, jsonType, own, setOwn } from '../../base/json.ts'
import { child, type Pointer, tokens } from '../../base/pointer.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { toLatest } from '../../schema/dialects/read-schema.ts'
import { listBranches, listTypes, type Resolved, resolveSchema } from './resolve-schema.ts'

export interface Simplified {
  /** The flat schema: one closed object whose fields are all strings. */
  readonly schema: JsonSchema
  /** Restores a flat answer to the shape of the original schema. */
  restore(flat: unknown): Restored
}

export interface Restored {
  /**
   * The nested value. Strings stay strings; the reader converts them toward the original schema. `undefined` for an
   * empty answer.
   */
  readonly value: unknown
  /** Locations that the original requires and the flat answer lacks. */
  readonly missing: readonly Pointer[]
}

/**
 * @example
 * const flat = simplifySchema({ type: 'object', properties: { customer: { properties: { name: { type: 'string' } } } } })
 * flat.restore({ customer_name: 'Ada' }).value // { customer: { name: 'Ada' } }
 */
export function simplifySchema(given: JsonSchema): Simplified {
  const schema = toLatest(given)
  const plan: Plan = { root: schema, fields: [], required: [] }
  const root = resolveSchema(schema, schema)
  if (root && isFlattened(root)) flatten(root, { plan, at: '', required: true })
  else addField(root || { schema: {}, refs: [], open: false }, { plan, at: '', required: true })
  const fields = nameFields(plan.fields)
  return { schema: flatSchema(fields), restore: (flat) => restore(fields, plan.required, flat) }
}

/** A part of the original schema that becomes one string field. */
interface Field {
  readonly at: Pointer
  readonly required: boolean
  readonly nullable: boolean
  readonly json: boolean
  readonly description: string
}

interface NamedField extends Field {
  readonly name: string
}

interface Plan {
  readonly root: JsonSchema
  readonly fields: Field[]
  /** Every location that is required all the way from the root. */
  readonly required: Pointer[]
}

interface Position {
  readonly plan: Plan
  readonly at: Pointer
  readonly required: boolean
}

/** Objects nested deeper, or beyond this number of fields, are requested as JSON text. */
const MAX_DEPTH = 6
const MAX_FIELDS = 200

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'null'])

/** Whether this is a plain object with declared properties, not a union or an open-ended object. */
function isFlattened({ schema, open }: Resolved): boolean {
  const types = listTypes(schema)
  const plain = types.length === 1 && types[0] === 'object' && !open
  if (!plain || listBranches(schema).length > 0 || getValues(schema).length > 0) return false
  return isObject(schema.properties) && Object.values(schema.properties).some((part) => part !== false)
}

function flatten({ schema, refs }: Resolved, { plan, at, required }: Position): void {
  const names = Array.isArray(schema.required) ? schema.required : []
  for (const [name, part] of Object.entries(schema.properties as Record<string, unknown>)) {
    const resolved = resolveSchema(part, plan.root, refs)
    if (resolved === false) continue
    const position = { plan, at: child(at, name), required: required && names.includes(name) }
    const nested = isFlattened(resolved) && tokens(at).length < MAX_DEPTH && plan.fields.length < MAX_FIELDS
    if (position.required) plan.required.push(position.at)
    if (nested) flatten(resolved, position)
    else addField(resolved, position)
  }
}

function addField(resolved: Resolved, { plan, at, required }: Position): void {
  if (at === '' && required) plan.required.push(at)
  const kinds = getKinds(resolved, plan.root)
  const text = kinds.size === 0 || kinds.has('string')
  const json = [...kinds].some((kind) => !SCALARS.has(kind))
  const shape = json
    ? summariseSchema(resolved.schema, plan.root, resolved.refs)
    : describeScalar(resolved.schema, kinds)
  const asked = !json ? shape : text ? `Text, or JSON text of: ${shape}` : `JSON text of: ${shape}`
  const words = typeof resolved.schema.description === 'string' ? ` ${resolved.schema.description}` : ''
  const path = at === '' ? '' : ` (path: ${tokens(at).join(' > ')})`
  const description = `${asked}.${words}${path}`
  plan.fields.push({ at, required, nullable: kinds.has('null'), json: json && !text, description })
}

const SAID: readonly string[] = ['format', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength']

function describeScalar(schema: Readonly<Record<string, unknown>>, kinds: ReadonlySet<string>): string {
  const values = getValues(schema)
  const type = kinds.size === 0 ? 'any' : [...kinds].join(' or ')
  const oneOf = values.length > 0 ? [`one of: ${values.map(String).join(' | ')}`] : []
  const said = SAID.filter((word) => schema[word] !== undefined).map((word) => `${word} ${schema[word]}`)
  return [type, ...said, ...oneOf].join(', ')
}

function getValues(schema: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.hasOwn(schema, 'const') ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : []
}

/** Limits for nested unions: the depth, and the number of branches inspected of each. */
const MAX_UNIONS = 3
const MAX_BRANCHES = 32

/** The types possible at a location, through unions; `json` if they are unknown. */
function getKinds({ schema, refs, open }: Resolved, root: JsonSchema, depth = 0): Set<string> {
  const branches = listBranches(schema)
  if (open || depth > MAX_UNIONS || branches.length > MAX_BRANCHES) return new Set(['json'])
  if (branches.length > 0) {
    const resolved = branches
      .map((branch) => resolveSchema(branch, root, refs))
      .filter((branch) => branch !== false)
    return new Set(resolved.flatMap((branch) => [...getKinds(branch, root, depth + 1)]))
  }
  const values = getValues(schema)
  if (values.length > 0) return new Set(values.map((value) => jsonType(value) ?? 'json'))
  return new Set(listTypes(schema))
}

/** Names are readable paths; duplicates are numbered in the order of declaration. */
function nameFields(fields: readonly Field[]): NamedField[] {
  const taken = new Set<string>()
  return fields.map((field) => {
    const stem = field.at === '' ? 'value' : tokens(field.at).map(legible).join('_').slice(0, 48)
    const base = field.json && field.at !== '' ? `${stem}_json` : stem
    let name = base
    for (let n = 2; taken.has(name); n++) name = `${base}_${n}`
    taken.add(name)
    return { ...field, name }
  })
}

/** Providers accept only ASCII letters, digits and `_` in field names. */
function legible(token: string): string {
  const ascii = token.normalize('NFKD').replace(/\p{M}/gu, '').replace(/\W+/g, '_')
  return /^_?$/.test(ascii) ? 'field' : ascii
}

function flatSchema(fields: readonly NamedField[]): JsonSchema {
  const properties = {}
  for (const { name, description } of fields) setOwn(properties, name, { type: 'string', description })
  const required = fields.filter((field) => field.required).map((field) => field.name)
  return { type: 'object', properties, required, additionalProperties: false }
}

function restore(fields: readonly NamedField[], required: readonly Pointer[], flat: unknown): Restored {
  const given = isObject(flat) ? flat : {}
  let value: unknown
  const present = new Set<Pointer>()
  for (const { name, at, nullable } of fields) {
    const part = own(given, name)
    if (part === undefined || (part === null && !nullable)) continue
    value = put(value, tokens(at), part)
    present.add(at)
  }
  const absent = required.filter(
    (at) => !present.has(at) && ![...present].some((p) => p.startsWith(`${at}/`)),
  )
  const missing = absent.filter((at) => !required.some((other) => other.startsWith(`${at}/`)))
  const emptyRoot = isObject(flat) && fields.every((field) => field.at !== '') ? {} : undefined
  return { value: value === undefined ? emptyRoot : value, missing }
}

function put(target: unknown, path: readonly string[], part: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return part
  const object = isObject(target) ? target : {}
  setOwn(object, name, put(own(object, name), rest, part))
  return object
}

// Summarises a schema in one short line, in a notation that models read well: `{ sku: string, qty?: integer }[]`.
// It describes each field of the flat schema.

interface Context {
  readonly root: JsonSchema
  readonly refs: readonly string[]
  readonly depth: number
  /** Remaining number of parts, shared by the whole summary: bounds its length and its cost. */
  readonly budget: { left: number }
}

/** Below this depth only the type is named; parts beyond the budget are replaced by `…`. */
const MAX_SUMMARY_DEPTH = 4
const MAX_PARTS = 100

export function summariseSchema(schema: unknown, root: JsonSchema, refs: readonly string[] = []): string {
  return draw(schema, { root, refs, depth: 0, budget: { left: MAX_PARTS } })
}

function draw(schema: unknown, context: Context): string {
  const resolved = resolveSchema(schema, context.root, context.refs)
  if (resolved === false) return 'nothing'
  const below = { ...context, refs: resolved.refs, depth: context.depth + 1 }
  const node = resolved.schema
  if (Object.hasOwn(node, 'const')) return JSON.stringify(node.const)
  if (Array.isArray(node.enum)) return drawAll(node.enum, below, (value) => JSON.stringify(value)).join(' | ')
  const branches = listBranches(node)
  if (branches.length > 0) {
    return below.depth > MAX_SUMMARY_DEPTH
      ? 'JSON'
      : drawAll(branches, below, (branch) => draw(branch, below)).join(' | ')
  }
  const types = listTypes(node)
  if (types.length === 0) return resolved.open ? 'JSON' : 'any'
  return types.map((type) => drawType(type, node, below)).join(' | ')
}

function drawType(type: string, node: Readonly<Record<string, unknown>>, below: Context): string {
  if (below.depth > MAX_SUMMARY_DEPTH) return type
  if (type === 'array') {
    if (!isObject(node.items)) return 'array'
    const item = draw(node.items, below)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (type !== 'object') return type
  if (isObject(node.properties) && Object.keys(node.properties).length > 0) {
    const required = Array.isArray(node.required) ? node.required : []
    const parts = drawAll(Object.entries(node.properties), below, ([name, schema]) => {
      const mark = required.includes(name) ? '' : '?'
      return `${drawName(name)}${mark}: ${draw(schema, below)}`
    })
    return `{ ${parts.join(', ')} }`
  }
  return isObject(node.additionalProperties)
    ? `{ [name]: ${draw(node.additionalProperties, below)} }`
    : 'object'
}

function drawName(name: string): string {
  return /^[\w$]+$/.test(name) ? name : JSON.stringify(name)
}

/** As many parts as the budget allows. */
function drawAll<T>(parts: readonly T[], { budget }: Context, drawOne: (part: T) => string): string[] {
  const drawn: string[] = []
  for (const part of parts) {
    if (budget.left <= 0) return [...drawn, '…']
    budget.left--
    drawn.push(drawOne(part))
  }
  return drawn
}
