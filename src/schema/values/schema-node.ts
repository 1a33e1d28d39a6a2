/**
 * A schema at one location, taken apart for reasoning: all parts that apply together (`$ref` and `allOf` followed), the
 * unions among them, members and items. Leaving a part out only makes the set of values larger, so limits are harmless.
 */
import { isObject, own } from '../../base/json.ts'
import { toLatest } from '../dialects/read-schema.ts'
import type { JsonSchema } from '../json-schema.ts'
import type { SchemaObject } from '../keywords.ts'
import { referenceResolver } from '../references/references.ts'

/** The document of a part, in which its references are resolved. */
interface Scope {
  readonly root: JsonSchema
  resolve(schema: SchemaObject): SchemaObject | undefined
}

/** A schema, boolean or object, in its document. */
export interface Held {
  readonly schema: unknown
  readonly scope: Scope
}

export interface Part {
  readonly schema: SchemaObject
  readonly scope: Scope
}

/** All of the parts apply, and one branch of each union. */
interface SchemaNode {
  readonly parts: readonly Part[]
  readonly unions: readonly Union[]
  /** `false` is among the parts: there is no value. */
  readonly impossible: boolean
  /** Nothing was left out. */
  readonly complete: boolean
}

interface Union {
  readonly keyword: 'anyOf' | 'oneOf'
  readonly branches: readonly Held[]
}

const scopes = new WeakMap<object, Scope>()

/** The schema as a whole in 2020-12, ready to be taken apart. */
export function hold(given: JsonSchema): Held {
  const root = toLatest(given)
  if (typeof root === 'boolean') return { schema: root, scope: { root, resolve: () => undefined } }
  let scope = scopes.get(root)
  if (scope === undefined) {
    scope = { root, resolve: referenceResolver(root) }
    scopes.set(root, scope)
  }
  return { schema: root, scope }
}

/** How many parts and unions are inspected at one location. */
const mostParts = 64

/** Adds schemas to parts that are taken apart already. */
export function openNode(base: readonly Part[], fresh: readonly Held[]): SchemaNode {
  const parts = [...base]
  const unions: Union[] = []
  const seen = new Set<unknown>(base.map((part) => part.schema))
  const queue = [...fresh]
  for (const { schema, scope } of queue) {
    if (schema === false) return { parts: [], unions: [], impossible: true, complete: true }
    if (!isObject(schema) || seen.has(schema)) continue
    if (parts.length >= mostParts) return { parts, unions, impossible: false, complete: false }
    seen.add(schema)
    parts.push({ schema, scope })
    if (Object.hasOwn(schema, '$ref')) {
      const target = scope.resolve(schema)
      if (target !== undefined) queue.push({ schema: target, scope })
    }
    if (Object.hasOwn(schema, 'allOf'))
      for (const branch of getList(schema, 'allOf')) queue.push({ schema: branch, scope })
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (!Object.hasOwn(schema, keyword)) continue
      const branches = getList(schema, keyword).map((branch) => ({ schema: branch, scope }))
      if (branches.length > 0) unions.push({ keyword, branches })
    }
  }
  return { parts, unions, impossible: false, complete: true }
}

interface Member {
  /** All that is said about the member's value. */
  readonly held: readonly Held[]
  readonly required: boolean
  /** No such member may be there. */
  readonly forbidden: boolean
  /** Named in `properties`, not merely allowed. */
  readonly declared: boolean
}

export function getMember(parts: readonly Part[], name: string): Member {
  const held: Held[] = []
  let [required, forbidden, declared] = [false, false, false]
  for (const { schema, scope } of parts) {
    const properties = getRecord(schema, 'properties')
    const rest = own(schema, 'additionalProperties')
    required ||= getList(schema, 'required').includes(name)
    if (Object.hasOwn(properties, name)) {
      held.push({ schema: properties[name], scope })
      declared = true
      forbidden ||= properties[name] === false
    } else if (rest !== undefined && Object.keys(getRecord(schema, 'patternProperties')).length === 0) {
      held.push({ schema: rest, scope })
      forbidden ||= rest === false
    }
  }
  return { held, required, forbidden, declared }
}

/** What is said about the element at an index; `rest` asks about those after all that have a schema of their own. */
export function getItemSchemas(parts: readonly Part[], index: number | 'rest'): Held[] {
  return parts.flatMap(({ schema, scope }) => {
    const { prefix, rest } = getItemKeywords({ schema, scope })
    const held = index !== 'rest' && index < prefix.length ? prefix[index] : rest
    return held === undefined ? [] : [{ schema: held, scope }]
  })
}

/** The largest number of elements that have a schema of their own. */
export function prefixLength(parts: readonly Part[]): number {
  return Math.max(0, ...parts.map((part) => getItemKeywords(part).prefix.length))
}

export function getItemKeywords({ schema }: Part): {
  readonly prefix: readonly unknown[]
  readonly rest: unknown
} {
  return { prefix: getList(schema, 'prefixItems'), rest: own(schema, 'items') }
}

export function getRecord(schema: SchemaObject, keyword: string): SchemaObject {
  const held = own(schema, keyword)
  return isObject(held) ? held : {}
}

export function getList(schema: SchemaObject, keyword: string): readonly unknown[] {
  const held = own(schema, keyword)
  return Array.isArray(held) ? held : []
}

export function numberAt(schema: SchemaObject, keyword: string): number | undefined {
  const held = own(schema, keyword)
  return typeof held === 'number' ? held : undefined
}
