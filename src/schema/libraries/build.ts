/** Builds a JSON Schema out of the schema objects of another library. One file beside this describes a single object of each library. */
import { isObject, jsonType, setOwn } from '../../base/json.ts'
import type { JsonSchema } from '../json-schema.ts'

type Keywords = Record<string, unknown>
/** A schema object of another library: its fields are inspected, not trusted. */
export type Fields = Readonly<Record<string, unknown>>
type Convert = (node: unknown) => Keywords
/** The keywords of one schema object; `convert` describes those inside of it. What has no JSON Schema is `{}`. */
export type Describe = (node: Fields, convert: Convert) => Keywords

const nothing: Readonly<Keywords> = { not: {} }

/** Kinds that every library has under the same name, and that hold no others. Dates and the like are open. */
export const basicKinds: Readonly<Record<string, Readonly<Keywords>>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  never: nothing,
  undefined: nothing,
  void: nothing,
}

/** Schemas that are made anew at every look are endless; so deep, nothing is said any more. */
const deepest = 64

/** An object that is used in several places, or inside of itself, becomes a definition that these places refer to. */
export function buildJsonSchema(root: unknown, describe: Describe): JsonSchema {
  const made = new Map<unknown, Keywords>()
  const shared = new Map<Keywords, string>()
  let depth = 0
  function convert(node: unknown): Keywords {
    const known = made.get(node)
    if (known !== undefined) {
      const name = shared.get(known) ?? String(shared.size)
      shared.set(known, name)
      return refer(name)
    }
    const keywords: Keywords = {}
    if (depth === deepest) return keywords
    made.set(node, keywords)
    depth++
    Object.assign(keywords, describe(toFields(node), convert))
    depth--
    return keywords
  }
  const top = { ...convert(root) }
  const $defs: Keywords = {}
  for (const [keywords, name] of shared) $defs[name] = { ...keywords }
  for (const [keywords, name] of shared) {
    for (const keyword of Object.keys(keywords)) delete keywords[keyword]
    Object.assign(keywords, refer(name))
  }
  return shared.size > 0 ? { ...top, $defs } : top
}

const refer = (name: string): Keywords => ({ $ref: `#/$defs/${name}` })

/** Throws for what is not an object: then nothing is known of the schema. */
export function toFields(node: unknown): Fields {
  if (!isObject(node)) throw new TypeError('not an object')
  return node
}

interface Members {
  readonly entries: unknown
  readonly isOptional: (node: Fields) => boolean
  /** What other members must be: a schema object, `false` for none, `undefined` where they may be anything. */
  readonly rest?: unknown
}

export function describeObject({ entries, isOptional, rest }: Members, convert: Convert): Keywords {
  const properties: Keywords = {}
  const required: string[] = []
  for (const [name, node] of Object.entries(toFields(entries))) {
    setOwn(properties, name, convert(node))
    if (!isOptional(toFields(node))) required.push(name)
  }
  return {
    type: 'object',
    properties,
    required,
    ...(rest !== undefined && { additionalProperties: rest && convert(rest) }),
  }
}

/** `rest` as for objects. */
export function describeTuple(items: unknown, rest: unknown, convert: Convert): Keywords {
  const prefixItems = toList(items).map(convert)
  return {
    type: 'array',
    minItems: prefixItems.length,
    ...(prefixItems.length > 0 && { prefixItems }),
    ...(rest !== undefined && { items: rest && convert(rest) }),
  }
}

/** Values that JSON cannot hold are left out; where none is left, nothing is known. */
export function describeValues(values: unknown): Keywords {
  const listed = new Set(toList(values).filter((value) => jsonType(value)))
  return listed.size > 0 ? { enum: [...listed] } : {}
}

/** The values of a list or of a TypeScript enum, whose numbers also map back to their names. */
export function enumValues(entries: unknown): readonly unknown[] {
  if (Array.isArray(entries)) return entries
  const members = Object.entries(toFields(entries))
  const names = new Set(members.map(([, value]) => (typeof value === 'number' ? String(value) : undefined)))
  return members.filter(([name]) => !names.has(name)).map(([, value]) => value)
}

export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const describeNullable = (node: unknown, convert: Convert): Keywords => ({
  anyOf: [convert(node), { type: 'null' }],
})

/** The greatest value distinguishes a share of one from a percentage; other checks are left to the library. */
export function describeNumber(isInteger: boolean, maximum: unknown): Keywords {
  return { type: isInteger ? 'integer' : 'number', ...(Number.isFinite(maximum) && { maximum }) }
}
