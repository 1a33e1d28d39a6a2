/** Schemas of values that are made of others: one of several, a list, a map. */
import { own } from '../../base/json.ts'
import type { JsonSchema } from '../json-schema.ts'
import { addDefinition } from './combine.ts'

interface Member {
  readonly schema: JsonSchema
  /** It is always there. */
  readonly certain: boolean
}

export function buildAnyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  if (distinct.length === 0) return true
  if (distinct.length === 1) return distinct[0] as JsonSchema
  if (distinct.includes(true)) return true
  return withDefs((embed) => ({ anyOf: distinct.map((schema, index) => embed(schema, `way${index + 1}`)) }))
}

export function buildListSchema(items: JsonSchema, maxItems: number): JsonSchema {
  return withDefs((embed) => ({ type: 'array', items: embed(items, 'item'), maxItems }))
}

/** A map of these members; the certain ones are required. */
export function buildMapSchema(members: Readonly<Record<string, Member>>): JsonSchema {
  const required = Object.keys(members).filter((name) => (own(members, name) as Member).certain)
  return withDefs((embed) => ({
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(members).map(([name, { schema }]) => [name, embed(schema, name)]),
    ),
    ...(required.length > 0 && { required }),
  }))
}

/** References inside the parts keep their meaning. */
function withDefs(
  make: (embed: (schema: JsonSchema, name: string) => JsonSchema) => { readonly [keyword: string]: unknown },
): JsonSchema {
  const $defs: Record<string, JsonSchema> = {}
  const made = make((schema, name) => addDefinition(schema, name, $defs))
  const whole = Object.keys($defs).length > 0 ? { ...made, $defs } : made
  return JSON.stringify(whole).length > longestSchema ? outline(made) : whole
}

/** Schemas of values that wrap each other in every round of a loop would grow without end. */
const longestSchema = 16_000

/** What is certain of the root; nothing is said about the parts. */
function outline({ type, required }: { readonly [keyword: string]: unknown }): JsonSchema {
  if (type === undefined) return true
  return { type, ...(required !== undefined && { required }) }
}
