/** The constraints of a schema on each location of a value: enough to decide whether the outcome of a damage is unambiguous. */
import { isObject, type Json, type JsonType, jsonType } from '../../base/json.ts'
import { child, type Pointer, tokens as pointerTokens } from '../../base/pointer.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'

type Schema = { readonly [keyword: string]: unknown }

export interface Site {
  readonly at: Pointer
  readonly value: Json
  /** The schema that applies to this location, with references resolved and the union branch chosen. */
  readonly schema: Schema
  /** Every type that any branch accepts here; `number` includes `integer`. */
  readonly types: ReadonlySet<JsonType>
  /** The location is a declared and required member. */
  readonly required: boolean
  /** The location is a member declared in `properties`. */
  readonly declared: boolean
  /** Inside a branch of a union, so that other branches could also match. */
  readonly contested: boolean
}

/** Returns every location of the value, the root first. Locations without a schema are omitted. */
export function sites(schema: JsonSchema, value: Json): Site[] {
  const out: Site[] = []
  const root = asSchema(schema)
  const walk = (node: Json, raw: Schema, site: Omit<Site, 'value' | 'schema' | 'types'>): void => {
    const branches = expand(root, raw)
    const fitting = branches.filter((branch) => fits(root, branch, node))
    const chosen = fitting[0]
    if (fitting.length !== 1 || chosen === undefined) return
    const contested = site.contested || branches.filter((branch) => !getTypes(branch).has('null')).length > 1
    out.push({
      ...site,
      value: node,
      schema: chosen,
      types: new Set(branches.flatMap((b) => [...getTypes(b)])),
      contested,
    })
    if (Array.isArray(node)) {
      if (!isObject(chosen['items'])) return
      node.forEach((item, index) => {
        walk(item, chosen['items'] as Schema, {
          at: child(site.at, index),
          required: false,
          declared: false,
          contested,
        })
      })
    } else if (isObject(node)) {
      const properties = isObject(chosen['properties']) ? chosen['properties'] : {}
      const required = Array.isArray(chosen['required']) ? chosen['required'] : []
      for (const [key, item] of Object.entries(node)) {
        const declared = Object.hasOwn(properties, key)
        const next = declared ? properties[key] : chosen['additionalProperties']
        if (!isObject(next)) continue
        walk(item as Json, next, {
          at: child(site.at, key),
          required: required.includes(key),
          declared,
          contested,
        })
      }
    }
  }
  walk(value, root, { at: '', required: true, declared: false, contested: false })
  return out
}

/** Returns whether the location accepts exactly this type, or this type and null. */
export function expectsType(site: Site, ...types: JsonType[]): boolean {
  const rest = [...site.types].filter((type) => type !== 'null')
  return rest.length === 1 && types.includes(rest[0] as JsonType)
}

/** Returns whether any string is accepted: no enum, const, format, pattern or length. */
export function isFreeText(site: Site): boolean {
  return (
    expectsType(site, 'string') &&
    !['enum', 'const', 'format', 'pattern', 'minLength', 'maxLength'].some((key) => key in site.schema)
  )
}

type RootForm = 'object' | 'list-of-objects' | 'list' | 'scalar' | 'text'

/** Returns the kind of document that the schema describes; `text` if any text is an answer. */
export function rootForm(schema: JsonSchema, value: Json): RootForm {
  const root = sites(schema, value)[0]
  if (Array.isArray(value)) return value.length > 0 && value.every(isObject) ? 'list-of-objects' : 'list'
  if (isObject(value)) return 'object'
  return root !== undefined && isFreeText(root) ? 'text' : 'scalar'
}

/** Returns the keys that the root object may have in any union branch. */
export function rootKeys(schema: JsonSchema): string[] {
  const root = asSchema(schema)
  return expand(root, root).flatMap((branch) =>
    Object.keys((branch['properties'] as object | undefined) ?? {}),
  )
}

/** Returns whether a key is required, so that other objects are distinguishable from the answer. */
export function isDistinctive(schema: JsonSchema): boolean {
  const root = asSchema(schema)
  return expand(root, root).every(
    (branch) => Array.isArray(branch['required']) && branch['required'].length > 0,
  )
}

/** Returns a copy of the value with one location replaced; `undefined` removes a member or an item. */
export function replaceAt(value: Json, at: Pointer, next: Json | undefined): Json {
  const [head, ...rest] = pointerTokens(at)
  if (head === undefined) return next as Json
  const inner = (item: Json | undefined): Json | undefined =>
    rest.length === 0 ? next : replaceAt(item as Json, rest.map((token) => child('', token)).join(''), next)
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      if (String(index) !== head) return [item as Json]
      const changed = inner(item as Json)
      return changed === undefined ? [] : [changed]
    })
  }
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>).flatMap(([key, item]) => {
      if (key !== head) return [[key, item]]
      const changed = inner(item)
      return changed === undefined ? [] : [[key, changed]]
    }),
  )
}

function asSchema(schema: JsonSchema): Schema {
  return typeof schema === 'boolean' ? {} : schema
}

function expand(root: Schema, raw: Schema): Schema[] {
  const ref = raw['$ref']
  if (typeof ref === 'string') {
    const target = pointerTokens(ref.slice(1)).reduce<unknown>(
      (node, key) => (isObject(node) ? node[key] : undefined),
      root,
    )
    return isObject(target) ? expand(root, target) : []
  }
  const union = raw['anyOf'] ?? raw['oneOf']
  if (Array.isArray(union)) return union.flatMap((branch) => (isObject(branch) ? expand(root, branch) : []))
  const type = raw['type']
  return Array.isArray(type) ? type.map((one) => ({ ...raw, type: one })) : [raw]
}

function getTypes(branch: Schema): Set<JsonType> {
  if (typeof branch['type'] === 'string') return new Set([branch['type'] as JsonType])
  const constants =
    'const' in branch ? [branch['const']] : Array.isArray(branch['enum']) ? branch['enum'] : []
  return new Set(constants.flatMap((value) => jsonType(value) ?? []))
}

function fits(root: Schema, branch: Schema, value: Json): boolean {
  const type = jsonType(value)
  const types = getTypes(branch)
  if (type === undefined || !(types.has(type) || (type === 'integer' && types.has('number')))) return false
  if ('const' in branch) return branch['const'] === value
  if (!isObject(value)) return true
  const properties = (branch['properties'] ?? {}) as Record<string, Schema>
  return Object.entries(properties).every(([key, sub]) => {
    const options = expand(root, sub)
    return !options.some((o) => 'const' in o) || options.some((o) => o['const'] === value[key])
  })
}
