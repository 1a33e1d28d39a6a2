/**
 * The keywords in one table, so that every walk over a schema agrees on what is schema and what is data: the form of each,
 * the draft that brought it, and what its sub-schemas speak about.
 */
import { isObject } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'

/** A sub-schema speaks about the same value (`here`), about a part of it (`inside`), or only when referred to (`never`). */
type Applies = 'here' | 'inside' | 'never'

export type Form =
  | 'schema'
  | 'schemas'
  | 'map'
  | 'items'
  | 'dependencies'
  | 'number'
  | 'positive'
  | 'count'
  | 'boolean'
  | 'exclusive'
  | 'string'
  | 'identifier'
  | 'anchor'
  | 'strings'
  | 'name lists'
  | 'type'
  | 'array'
  | 'any'

interface Row {
  readonly form: Form
  /** Year of the draft. */
  readonly from: number
  /** Only for keywords with sub-schemas that are walked. */
  readonly applies: Applies | undefined
}

/** In the order in which values are checked. */
export const keywords: ReadonlyMap<string, Row> = new Map([
  ...rows('type', 'type'),
  ...rows('number', 'maximum minimum'),
  ...rows('exclusive', 'exclusiveMaximum exclusiveMinimum'),
  ...rows('positive', 'multipleOf'),
  ...rows('count', 'maxLength minLength'),
  ...rows('string', 'pattern format'),
  ...rows('string', '$dynamicRef', 2020),
  ...rows('string', '$ref'),
  ...rows('any', 'const', 6),
  ...rows('array', 'enum'),
  ...rows('schema', 'not', 0, 'here'),
  ...rows('schemas', 'anyOf oneOf allOf', 0, 'here'),
  ...rows('schema', 'if then else', 7, 'here'),
  ...rows('count', 'maxItems minItems'),
  ...rows('boolean', 'uniqueItems'),
  ...rows('schemas', 'prefixItems', 2020, 'inside'),
  ...rows('items', 'items', 0, 'inside'),
  ...rows('schema', 'contains', 6, 'inside'),
  ...rows('count', 'maxProperties minProperties'),
  ...rows('strings', 'required'),
  ...rows('name lists', 'dependentRequired', 2019),
  ...rows('schema', 'propertyNames', 6, 'inside'),
  ...rows('schema', 'additionalProperties', 0, 'inside'),
  ...rows('map', 'properties patternProperties', 0, 'inside'),
  ...rows('map', 'dependentSchemas', 2019, 'here'),
  ...rows('schema', 'unevaluatedItems unevaluatedProperties', 2019, 'inside'),
  ...rows('schema', 'additionalItems', 0, 'inside'),
  ...rows('schema', 'contentSchema', 2019),
  ...rows('dependencies', 'dependencies', 0, 'here'),
  ...rows('map', 'definitions', 0, 'never'),
  ...rows('map', '$defs', 2019, 'never'),
  ...rows('count', 'minContains maxContains', 2019),
  ...rows('string', '$schema title description $comment'),
  ...rows('identifier', '$id', 6),
  ...rows('anchor', '$anchor', 2019),
  ...rows('anchor', '$dynamicAnchor', 2020),
])

function rows(form: Form, names: string, from = 0, applies?: Applies): [string, Row][] {
  return names.split(' ').map((name) => [name, { form, from, applies }])
}

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
    const { form, applies } = keywords.get(keyword) ?? {}
    if (applies === undefined) continue
    const at = child(pointer, keyword)
    // `items` of draft-07 may be a list; maps skip members that are lists of names.
    const isMap = form === 'map' || form === 'dependencies'
    if (!isMap && isObject(held)) parts.push({ schema: held, pointer: at, applies })
    else if (typeof held === 'object' && held !== null) {
      for (const [name, member] of Object.entries(held)) {
        if (isObject(member)) parts.push({ schema: member, pointer: child(at, name), applies })
      }
    }
  }
  return parts
}
