/** Small words about schemas that lowering needs: which keywords ask nothing, which types are meant, and null beside them. */
import { isObject, jsonType } from '../../../base/json.ts'

type Keywords = Record<string, unknown>

/** Words for people and machines that ask nothing of a value. */
export const annotations: ReadonlySet<string> = new Set(
  '$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly contentMediaType contentEncoding'.split(
    ' ',
  ),
)

/** Keywords that have a lowering of their own. */
export const structural: ReadonlySet<string> = new Set([
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'type',
])

/** The same schema, or null. */
export function nullable(schema: Keywords): Keywords {
  const { type } = schema
  if (Array.isArray(schema['enum']) || 'const' in schema || '$ref' in schema || type === undefined)
    return { anyOf: [schema, { type: 'null' }] }
  const types = Array.isArray(type) ? type : [type]
  return types.includes('null') ? schema : { ...schema, type: [...types, 'null'] }
}

export function impliedType(schema: Keywords): unknown {
  if (isObject(schema['properties'])) return 'object'
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array'
  const values = 'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : []
  const types = [...new Set(values.map(jsonType))]
  return types.length === 1 ? types[0] : types.length > 1 ? types : undefined
}

export function show(keyword: string, value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > 40 ? keyword : `${keyword} ${text}`
}
