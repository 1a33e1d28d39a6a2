/** Values at compile time: their sources, and how they are seen inside a case. */
import { isObject, type Json, own } from '../../../base/json.ts'
import { child, tokens } from '../../../base/pointer.ts'
import type { Source } from '../../../domain/plan.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'

export interface Value {
  /** Schema of the value; `true` if unknown. */
  readonly schema: JsonSchema
  /** The first source that exists is used. Nodes that the value needs are added lazily, on the first read. */
  read(): readonly Source[]
}

/** A value, and the nodes to wait for until all its work is done; empty if all work is done. */
export interface Made {
  readonly value: Value
  readonly exits: readonly string[]
}

export function fixed(value: Json): Value {
  return { schema: { const: value }, read: () => [{ value }] }
}

/** The visible names: a template sees its parameters, a step also the output slots before it. */
export interface Scope {
  readonly names: readonly string[]
  get(name: string): Value | undefined
}

export function createScope(values: ReadonlyMap<string, Value>): Scope {
  return { names: [...values.keys()], get: (name) => values.get(name) }
}

export function extended(scope: Scope, more: ReadonlyMap<string, Value>): Scope {
  if (more.size === 0) return scope
  return {
    names: [...new Set([...scope.names, ...more.keys()])],
    get: (name) => more.get(name) ?? scope.get(name),
  }
}

/**
 * A scope seen through a routing node: outputs of other nodes pass through the router, so that no node behind
 * it can start when another case is taken.
 */
export function gated(scope: Scope, routerId: string, inputs: Map<string, readonly Source[]>): Scope {
  const seen = new Map<string, Value>()
  return {
    names: scope.names,
    get(name) {
      const known = seen.get(name)
      if (known) return known
      const value = scope.get(name)
      if (value === undefined) return undefined
      const sources = value.read()
      const through = isFixed(sources) ? value : passed(value, sources, { name, routerId, inputs })
      seen.set(name, through)
      return through
    },
  }
}

function passed(
  value: Value,
  sources: readonly Source[],
  { name, routerId, inputs }: { name: string; routerId: string; inputs: Map<string, readonly Source[]> },
): Value {
  inputs.set(name, sources)
  return { schema: value.schema, read: () => [{ node: routerId, pointer: child('', name) }] }
}

/** Is the value available without running a node? */
export function isFixed(sources: readonly Source[]): boolean {
  return sources.every((source) => !('node' in source))
}

/** The value of a source that is known before the run. */
export function knownAt(source: Source, inputs: { readonly [name: string]: Json }): Json | undefined {
  if ('node' in source || 'input' in source) return undefined
  if ('value' in source) return source.value
  const [, ...path] = tokens(source.envelope)
  return follow(inputs, path)
}

/** Follows own members and elements only. */
export function follow(from: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = from
  for (const token of path) {
    if (Array.isArray(value) && token === 'length') return path.at(-1) === token ? value.length : undefined
    if (!isObject(value) && !Array.isArray(value)) return undefined
    value = own(value, token) as Json | undefined
  }
  return value
}
