/** Which keywords hold sub-schemas, as a table, so that every walk over a schema agrees on what is schema and what is data. */
import { isObject } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'

/** A sub-schema speaks about the same value (`here`), about a part of it (`inside`), or only when referred to (`never`). */
type Applies = 'here' | 'inside' | 'never'

interface Row {
  readonly applies: Applies
  /** `one` also covers keywords that may hold a list (`items` of draft-07); maps skip members that are lists of names. */
  readonly holds: 'one' | 'map'
}

const one = (applies: Applies): Row => ({ applies, holds: 'one' })
const map = (applies: Applies): Row => ({ applies, holds: 'map' })

const subschemaKeywords: ReadonlyMap<string, Row> = new Map([
  ['$defs', map('never')],
  ['definitions', map('never')],
  ['allOf', one('here')],
  ['anyOf', one('here')],
  ['oneOf', one('here')],
  ['not', one('here')],
  ['if', one('here')],
  ['then', one('here')],
  ['else', one('here')],
  ['dependentSchemas', map('here')],
  ['dependencies', map('here')],
  ['properties', map('inside')],
  ['patternProperties', map('inside')],
  ['additionalProperties', one('inside')],
  ['unevaluatedProperties', one('inside')],
  ['propertyNames', one('inside')],
  ['items', one('inside')],
  ['prefixItems', one('inside')],
  ['additionalItems', one('inside')],
  ['unevaluatedItems', one('inside')],
  ['contains', one('inside')],
])

/** Keywords that lead to another schema by name. */
export const referenceKeywords = ['$ref', '$dynamicRef'] as const

export type SchemaObject = Record<string, unknown>

export interface Part {
  readonly schema: SchemaObject
  readonly pointer: Pointer
  readonly applies: Applies
}

/** The direct sub-schemas of a schema. Boolean schemas are left out: nothing can be said about them. */
export function listSubschemas(schema: SchemaObject, pointer: Pointer): Part[] {
  const parts: Part[] = []
  for (const [keyword, held] of Object.entries(schema)) {
    const row = subschemaKeywords.get(keyword)
    if (row === undefined) continue
    const at = child(pointer, keyword)
    if (row.holds === 'one' && isObject(held)) {
      parts.push({ schema: held, pointer: at, applies: row.applies })
    } else if (typeof held === 'object' && held !== null) {
      for (const [name, member] of Object.entries(held)) {
        if (isObject(member)) parts.push({ schema: member, pointer: child(at, name), applies: row.applies })
      }
    }
  }
  return parts
}
