/**
 * Schemas put together into one: facets into a contract, two contracts of one node. References keep their meaning: a part
 * that refers to itself moves into `$defs`, and its references with it.
 */
import { isObject, jsonEqual, own } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listSubschemas, type SchemaObject } from '../keywords.ts'
import { getList, getRecord } from '../values/schema-node.ts'

/** A schema to be written inside another: as it is, or as a reference to a definition that is added to `into`. */
export function addDefinition(
  schema: JsonSchema,
  name: string,
  into: Record<string, JsonSchema>,
): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const plain = withoutDialect(schema)
  if (!refers(plain)) return plain
  let key = name
  for (let n = 2; Object.hasOwn(into, key) && !jsonEqual(into[key], moved(plain, key)); n++)
    key = `${name}_${n}`
  into[key] = moved(plain, key)
  return { $ref: `#${child('/$defs', key)}` }
}

/** The same object where there is nothing to leave out: what is known of it is found again. */
function withoutDialect(schema: SchemaObject): SchemaObject {
  if (!Object.hasOwn(schema, '$schema')) return schema
  const { $schema: _, ...rest } = schema
  return rest
}

const reference = /"\$(ref|dynamicRef|recursiveRef)"/

const known = new WeakMap<object, boolean>()

export function refers(schema: JsonSchema): boolean {
  if (typeof schema === 'boolean') return false
  let found = known.get(schema)
  if (found === undefined) {
    found = reference.test(JSON.stringify(schema))
    known.set(schema, found)
  }
  return found
}

/** The schema with its references resolved from its future location. A part with an `$id` of its own is its own document. */
function moved(schema: SchemaObject, key: string): JsonSchema {
  const copy: SchemaObject = structuredClone(schema)
  const id = typeof copy['$id'] === 'string' ? copy['$id'].replace(/#$/, '') : undefined
  delete copy['$id']
  const home = `#${child('/$defs', key)}`
  const stack = [copy]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const ref = own(node, '$ref')
    if (typeof ref === 'string') {
      const local = id !== undefined && ref.startsWith(id) ? ref.slice(id.length) || '#' : ref
      if (local === '#') node['$ref'] = home
      else if (local.startsWith('#/')) node['$ref'] = home + local.slice(1)
    }
    for (const part of listSubschemas(node, ''))
      if (!Object.hasOwn(part.schema, '$id')) stack.push(part.schema)
  }
  return copy
}

/** A schema that a value satisfies when it satisfies both. Plain objects are merged member by member, to stay readable. */
export function both(a: JsonSchema, b: JsonSchema): JsonSchema {
  if (isOpen(a) || jsonEqual(a, b)) return b
  if (isOpen(b)) return a
  if (isPlain(a) && isPlain(b)) return merged(a, b)
  const $defs: Record<string, JsonSchema> = {}
  const parts = [addDefinition(a, 'first', $defs), addDefinition(b, 'second', $defs)]
  return { allOf: parts, ...(Object.keys($defs).length > 0 && { $defs }) }
}

/** Says nothing. */
export function isOpen(schema: JsonSchema): boolean {
  return schema === true || (typeof schema === 'object' && Object.keys(schema).length === 0)
}

const plainKeywords = new Set(['type', 'properties', 'required', 'title', 'description'])

function isPlain(schema: JsonSchema): schema is SchemaObject {
  if (!isObject(schema) || schema['type'] !== 'object' || refers(schema)) return false
  return Object.keys(schema).every((keyword) => plainKeywords.has(keyword))
}

function merged(a: SchemaObject, b: SchemaObject): JsonSchema {
  const properties: SchemaObject = { ...getRecord(a, 'properties') }
  for (const [name, schema] of Object.entries(getRecord(b, 'properties'))) {
    properties[name] = Object.hasOwn(properties, name)
      ? both(properties[name] as JsonSchema, schema as JsonSchema)
      : schema
  }
  const required = [...new Set([...getList(a, 'required'), ...getList(b, 'required')])]
  return { ...b, ...a, properties, ...(required.length > 0 && { required }) }
}
