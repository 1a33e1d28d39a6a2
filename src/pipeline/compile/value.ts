/** A value that a pipeline will have: where it comes from, what its schema is, and whether it is certainly there. */
import type { Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Source } from '../../domain/plan.ts'
import { follow, missing } from '../../schema/condition-evaluate.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { anyOf } from '../../schema/made-schemas.ts'
import { membersOf } from '../../schema/members.ts'
import { project } from '../../schema/project.ts'
import { valuesOf } from '../../schema/schema-values.ts'
import { isAbsent } from '../../schema/value-set.ts'

export interface Value {
  /** The first that exists is taken. */
  readonly sources: readonly Source[]
  readonly schema: JsonSchema
  readonly certain: boolean
  /** The part of the plan whose nodes may be bound to it; absent: all of them. */
  readonly home?: Region
  /** Known before the run: the input, and constants. */
  readonly known?: { readonly value: Json }
}

/** Nodes that run together or not at all. What an inner region needs from outside comes in through its gate. */
export interface Region {
  readonly parent?: Region
  /** Brings a value of the parent inside. */
  readonly carry?: (value: Value) => Value
}

export function constant(value: Json): Value {
  return { sources: [{ value }], schema: { const: value }, certain: true, known: { value } }
}

/** Stands for the output of a step that could not be compiled: nothing is known of it, so that no one else is blamed. */
export const unknownValue: Value = { sources: [{ value: null }], schema: true, certain: true }

/** The same value as the nodes of a region can be bound to it. */
export function bring(value: Value, region: Region): Value {
  if (value.home === undefined || value.home === region) return value
  if (region.parent === undefined || region.carry === undefined) return value
  return region.carry(bring(value, region.parent))
}

/** A member inside; `absent`: the schema says that there is none. */
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
  const set = valuesOf(value.schema)(path)
  if (isAbsent(set)) return { absent: membersOf(value.schema).map(({ name }) => name) }
  return {
    ...value,
    sources,
    schema: project(value.schema, pointer).schema,
    certain: value.certain && !set.missing,
  }
}

/** One of several, the first that exists. */
export function either(values: readonly Value[], home: Region): Value {
  const [only] = values
  if (values.length === 1 && only) return only
  return {
    sources: values.flatMap(({ sources }) => sources),
    schema: anyOf(values.map(({ schema }) => schema)),
    certain: values.some(({ certain }) => certain),
    home,
  }
}
