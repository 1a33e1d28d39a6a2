/**
 * Resolves one level of a JSON Schema: follows local references and merges `allOf`. Called by `simplify.ts` and
 * for its summaries; never used to validate.
 */
import { isObject, own, setOwn } from '../../base/json.ts'
import { valueAt } from '../../base/pointer.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { decodeFragment } from '../../schema/local-reference.ts'

type Keywords = Readonly<Record<string, unknown>>

export interface Resolved {
  /** The applicable keywords, without `$ref` and `allOf`. */
  readonly schema: Keywords
  /** The references followed from the root, to detect recursion. */
  readonly refs: readonly string[]
  /** A reference is recursive, not local, or too deep, so the schema here is only partly known. */
  readonly open: boolean
}

/** Maximum number of references followed along one path. */
const MAX_REFS = 16

/** Resolves a schema; `false` allows no value. Outer keywords precede inner ones; each reference is followed once. */
export function resolveSchema(
  schema: unknown,
  root: JsonSchema,
  refs: readonly string[] = [],
): Resolved | false {
  const followed = new Set<string>()
  const parts = [schema]
  let merged: Keywords = {}
  let open = false
  for (const part of parts) {
    if (part === false) return false
    if (!isObject(part)) continue
    const { $ref, allOf, ...rest } = part
    merged = mergeKeywords(merged, rest)
    if (typeof $ref === 'string' && !followed.has($ref)) {
      const again = refs.includes($ref) || refs.length + followed.size >= MAX_REFS
      const target = again ? undefined : lookUp(root, $ref)
      if (target === undefined) open = true
      else {
        followed.add($ref)
        parts.push(target)
      }
    }
    if (Array.isArray(allOf)) parts.push(...allOf)
  }
  return { schema: merged, refs: [...refs, ...followed], open }
}

/** The types that a resolved schema names or that its other keywords imply; empty if it implies none. */
export function listTypes(schema: Keywords): readonly string[] {
  if (typeof schema.type === 'string') return [schema.type]
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === 'string')
  if (isObject(schema.properties) || isObject(schema.patternProperties)) return ['object']
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ['array']
  return []
}

/** The branches of a union; empty if the schema is not a union. */
export function listBranches(schema: Keywords): readonly unknown[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : []
}

/** The sub-schema that a local reference (`#`, `#/…`) points at; `undefined` if the reference is not local. */
function lookUp(root: JsonSchema, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined
  return valueAt(root, decodeFragment(ref))
}

/**
 * Conjunction of two schemas: properties and `required` are united, a shared property must satisfy both; for other
 * keywords the outer one wins.
 */
function mergeKeywords(outer: Keywords, inner: Keywords): Keywords {
  const merged: Record<string, unknown> = { ...inner, ...outer }
  if (isObject(outer.properties) && isObject(inner.properties)) {
    const properties: Record<string, unknown> = { ...outer.properties }
    for (const [name, schema] of Object.entries(inner.properties)) {
      const other = own(outer.properties, name)
      setOwn(properties, name, other === undefined ? schema : { allOf: [other, schema] })
    }
    merged.properties = properties
  }
  if (Array.isArray(outer.required) && Array.isArray(inner.required)) {
    merged.required = [...new Set([...outer.required, ...inner.required])]
  }
  const shared = listTypes(outer).filter((type) => listTypes(inner).includes(type))
  if (outer.type === 'number' && inner.type === 'integer') merged.type = 'integer'
  else if (shared.length > 0) merged.type = shared.length === 1 ? shared[0] : shared
  return merged
}
