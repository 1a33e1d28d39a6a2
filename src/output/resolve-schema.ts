/** Reads one level of a JSON Schema with its local references followed and `allOf` merged. Called by `simplify.ts` and `sketch.ts`; never used to validate. */
import { isObject, own, setOwn } from '../base/json.ts'
import type { JsonSchema } from '../schema/compile.ts'
import { fragmentOf, schemaAt } from '../schema/reference.ts'

type Keywords = Readonly<Record<string, unknown>>

export interface Resolved {
  /** The keywords that apply here, without `$ref` and `allOf`. */
  readonly schema: Keywords
  /** The references that were followed on the way from the root, to notice recursion. */
  readonly refs: readonly string[]
  /** A reference leads back to itself, elsewhere, or too deep, so what stands here is not fully known. */
  readonly open: boolean
}

/** How many references are followed along one path. */
const MAX_REFS = 16

/** `false` means that nothing may stand here. Outer words come before inner ones; each reference is followed once. */
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

/** The types that a resolved schema names, or that its other keywords imply; empty when it does not say. */
export function typesOf(schema: Keywords): readonly string[] {
  if (typeof schema.type === 'string') return [schema.type]
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === 'string')
  if (isObject(schema.properties) || isObject(schema.patternProperties)) return ['object']
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ['array']
  return []
}

/** The branches of a union; empty when there is none. */
export function branchesOf(schema: Keywords): readonly unknown[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : []
}

/** The sub-schema that a local reference (`#`, `#/…`) points at; `undefined` when it leads elsewhere. */
function lookUp(root: JsonSchema, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined
  return schemaAt(root, fragmentOf(ref))
}

/** Both must hold: properties and `required` add up, a shared property must satisfy both, elsewhere the outer word wins. */
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
  const shared = typesOf(outer).filter((type) => typesOf(inner).includes(type))
  if (outer.type === 'number' && inner.type === 'integer') merged.type = 'integer'
  else if (shared.length > 0) merged.type = shared.length === 1 ? shared[0] : shared
  return merged
}
