/** What is known of any element of a list, and of any state of a loop, from the schema of the value that is bound. */
import { isObject, type Json } from '../../base/json.ts'
import type { JsonSchema } from '../json-schema.ts'
import { valuesOf } from '../values/schema-values.ts'
import type { Lengths } from '../values/value-set.ts'
import { anyOf } from './composite-schemas.ts'
import { generalise } from './generalise.ts'
import { project } from './project.ts'

export interface Known {
  readonly schema: JsonSchema
  /** False when it was generalised from known values. */
  readonly exact: boolean
}

/** The schema of any element of the list; `true` where nothing is known. */
export function elementOf(list: JsonSchema): Known {
  const values = listed(list)
  if (values !== undefined)
    return { schema: generalise(values.flatMap((each) => (Array.isArray(each) ? each : []))), exact: false }
  // Elements with a schema of their own by position, and after them all others.
  const positions = Array.from({ length: Math.min(prefixIn(list), mostPositions) + 1 }, (_, index) => index)
  const found = positions.map((index) => project(list, `/${index}`))
  return { schema: anyOf(found.map(({ schema }) => schema)), exact: found.every(({ exact }) => exact) }
}

/** How long the list may be. */
export function lengthsOf(list: JsonSchema): Lengths {
  const values = listed(list)
  if (values === undefined) return valuesOf(list)([]).lists ?? { min: 0, max: Number.POSITIVE_INFINITY }
  const lengths = values.flatMap((each) => (Array.isArray(each) ? [each.length] : []))
  return { min: Math.min(...lengths), max: Math.max(...lengths) }
}

/** A known value stands for its kind: rounds will change it. */
export function generalised(schema: JsonSchema): Known {
  const values = listed(schema)
  return values === undefined ? { schema, exact: true } : { schema: generalise(values), exact: false }
}

/** The values of a schema that says which they are. */
function listed(schema: JsonSchema): readonly Json[] | undefined {
  if (!isObject(schema)) return undefined
  if (Object.hasOwn(schema, 'const')) return [schema['const'] as Json]
  return Array.isArray(schema['enum']) ? (schema['enum'] as Json[]) : undefined
}

const mostPositions = 32

/** The longest `prefixItems` in a schema. */
function prefixIn(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 0
  const own = isObject(schema) && Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0
  return Math.max(own, 0, ...Object.values(schema).map(prefixIn))
}
