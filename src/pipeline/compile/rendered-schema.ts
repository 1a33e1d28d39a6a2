/** The schema of a rendered template: its literals, and the schemas of values inserted whole, behind their filters. */
import { isObject, type Json } from '../../base/json.ts'
import { both } from '../../schema/build/combine.ts'
import { buildAnyOf, buildMapSchema } from '../../schema/build/composite-schemas.ts'
import { getElementSchema } from '../../schema/build/project.ts'
import { checkFit } from '../../schema/fit/fit.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { getValueLookup, isVacant } from '../../schema/values/schema-values.ts'
import { isWithin, nothing } from '../../schema/values/value-set.ts'
import { applyFilters, type FilterName } from '../templates/filters.ts'
import { type Expression, expressionsIn, onlyExpression } from '../templates/templates.ts'
import type { Value } from './value.ts'

/** The values of the paths in a template. */
export type FoundValues = ReadonlyMap<string, Value>

export function renderedSchema(given: Json, found: FoundValues): JsonSchema {
  if (Array.isArray(given)) return { type: 'array' }
  if (isObject(given)) {
    const members = Object.entries(given as { [key: string]: Json }).map(
      ([name, part]) => [name, { schema: renderedSchema(part, found), certain: true }] as const,
    )
    return buildMapSchema(Object.fromEntries(members))
  }
  if (typeof given !== 'string' || expressionsIn(given).length === 0) return { const: given }
  const expression = onlyExpression(given)
  return expression === undefined ? text : expressionSchema(expression, found)
}

const text: JsonSchema = { type: 'string' }

/** Longer values are described by their type: the plan need not contain them twice. */
const longestConstant = 1_000

function expressionSchema({ path, constant, filters }: Expression, found: FoundValues): JsonSchema {
  const value = path && found.get(JSON.stringify(path))
  const start = path === undefined ? { const: constant ?? null } : (value?.schema ?? absent(filters))
  const known = path === undefined ? constant : value?.known?.value
  const made = known === undefined ? undefined : applyFilters(known, filters)
  if (made !== undefined && JSON.stringify(made).length <= longestConstant) return { const: made }
  return filters.reduce((schema, { name, args }) => filterSchemas[name](schema, args), start)
}

/** Only a path with a default may have no value; the default is what it yields. */
function absent([first]: Expression['filters']): JsonSchema {
  return first?.name !== 'default'
}

type FilterSchema = (schema: JsonSchema, args: readonly Json[]) => JsonSchema

const toText: FilterSchema = () => text
/** The filter changes lists only. */
const ofList =
  (make: (list: JsonSchema) => JsonSchema): FilterSchema =>
  (schema) => {
    const values = getValueLookup(schema)([])
    if (values.lists === undefined) return schema
    return isWithin(values, { ...nothing, lists: values.lists })
      ? make(schema)
      : buildAnyOf([make(schema), schema])
  }
const toElement = ofList((list) => getElementSchema(list).schema)

const filterSchemas: Readonly<Record<FilterName, FilterSchema>> = {
  default: (schema, [otherwise = '']) =>
    schema === false ? { const: otherwise } : buildAnyOf([schema, { const: otherwise }]),
  tojson: toText,
  upper: toText,
  lower: toText,
  trim: toText,
  truncate: toText,
  join: ofList(() => text),
  length: () => ({ type: 'integer', minimum: 0 }),
  first: toElement,
  last: toElement,
}

/**
 * What a rendered value is held to where a capability takes it: where its schema does not show that it fits, but it may, it
 * is checked when it is rendered.
 */
export function heldTo(rendered: JsonSchema, wanted: JsonSchema): JsonSchema {
  if (checkFit(rendered, wanted).kind === 'yes') return rendered
  const narrowed = both(rendered, wanted)
  // A value that never fits is left to the proof, which rejects it.
  return isVacant(narrowed) ? rendered : narrowed
}
