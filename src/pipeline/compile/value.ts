/** A value of a pipeline at compile time: its sources, its schema, and whether it is certain to exist. */
import { isObject, type Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Source } from '../../domain/plan.ts'
import { buildAnyOf } from '../../schema/build/composite-schemas.ts'
import { listMembers, project } from '../../schema/build/project.ts'
import { follow, missing } from '../../schema/condition/evaluate.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { getValueLookup } from '../../schema/values/schema-values.ts'
import { isAbsent } from '../../schema/values/value-set.ts'

export interface Value {
  /** The first source that exists is used. */
  readonly sources: readonly Source[]
  readonly schema: JsonSchema
  readonly certain: boolean
  /** The region whose nodes may be bound to it; absent: all nodes. */
  readonly home?: Region
  /** Value known before the run: the input and constants. */
  readonly known?: { readonly value: Json }
}

/** A set of nodes that run together or not at all. Outer values enter an inner region through its gate. */
export interface Region {
  readonly parent?: Region
  /** Brings a value of the parent region inside. */
  readonly rebind?: (value: Value) => Value
}

export function constant(value: Json): Value {
  return { sources: [{ value }], schema: { const: value }, certain: true, known: { value } }
}

/**
 * Replaces the output of a step that could not be compiled: its schema allows anything, so that no other step
 * is blamed.
 */
export const unknownValue: Value = { sources: [{ value: null }], schema: true, certain: true }

/** Rebinds a value for the nodes of a region. */
export function bring(value: Value, region: Region): Value {
  if (value.home === undefined || value.home === region) return value
  if (region.parent === undefined || region.rebind === undefined) return value
  return region.rebind(bring(value, region.parent))
}

/** Returns the member at a path, or `absent` if the schema or the known value rules it out. */
export function inside(
  value: Value,
  path: readonly string[],
): Value | { readonly absent: readonly string[] } {
  if (path.length === 0) return value
  const pointer = path.reduce<string>(child, '')
  const sources = value.sources.map((source): Source => {
    if ('node' in source) return { node: source.node, pointer: (source.pointer ?? '') + pointer }
    if ('envelope' in source) return { envelope: source.envelope + pointer }
    if ('input' in source) return { input: source.input + pointer }
    const found = follow(source.value, path)
    return { value: found === missing ? null : (found as Json) }
  })
  if (value.known) {
    const found = follow(value.known.value, path)
    if (found === missing) return { absent: [] }
    const known = found as Json
    return { ...value, sources, schema: { const: known }, known: { value: known } }
  }
  const set = getValueLookup(value.schema)(path)
  if (isAbsent(set)) return { absent: listMembers(value.schema).map(({ name }) => name) }
  return {
    ...value,
    sources,
    schema: project(value.schema, pointer).schema,
    certain: value.certain && !set.missing,
  }
}

/** Can the value be a map? True unless the schema rules it out (C17). */
export function mayBeObject({ schema, known }: Pick<Value, 'schema' | 'known'>): boolean {
  if (known) return isObject(known.value)
  if (schema === true) return true
  if (!isObject(schema)) return false
  const { type, anyOf } = schema
  if (Array.isArray(anyOf)) return anyOf.some((each) => mayBeObject({ schema: each as JsonSchema }))
  if (isObject(schema['const'])) return true
  return type === undefined
    ? schema['const'] === undefined && schema['enum'] === undefined
    : [type].flat().includes('object')
}

/** Combines alternatives: the first one that exists is used. */
export function either(values: readonly Value[], home: Region): Value {
  const [only] = values
  if (values.length === 1 && only) return only
  return {
    sources: values.flatMap(({ sources }) => sources),
    schema: buildAnyOf(values.map(({ schema }) => schema)),
    certain: values.some(({ certain }) => certain),
    home,
  }
}
