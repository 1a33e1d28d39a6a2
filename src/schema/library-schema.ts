/** The JSON Schema of schemas whose library does not give it: Zod 3, Zod 4.0 and 4.1, Valibot. Called for Standard Schema values. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isObject, jsonType, setOwn } from '../base/json.ts'
import type { JsonSchema } from './json-schema.ts'

/**
 * Reads the schema's own objects, so that no library has to be imported. It guides only, and may say less than the library
 * checks; `undefined` when nothing is known of the library, or when the objects are not as expected.
 */
export function librarySchema(schema: StandardSchemaV1): JsonSchema | undefined {
  const { vendor } = schema['~standard']
  const describe = vendor === 'valibot' ? describeValibot : vendor === 'zod' ? describeZod : undefined
  try {
    return describe && buildJsonSchema(schema, describe)
  } catch {
    return undefined
  }
}

// Describes schema objects of Zod 3, and of Zod 4.0 and 4.1 with `zod/mini`. From 4.2 on, Zod gives its JSON Schema itself.

/** Zod 4 keeps its definition behind `_zod`, with the kind in `type`; Zod 3 calls kinds `ZodObject` and the like. */
function definition(node: unknown): { readonly kind: string; readonly def: Fields } {
  const { _zod, _def } = toFields(node)
  const def = toFields(_zod ? toFields(_zod)['def'] : _def)
  return { kind: _zod ? String(def['type']) : String(def['typeName']).slice(3).toLowerCase(), def }
}

const describeZod: Describe = (node, convert) => {
  const { kind, def } = definition(node)
  const { innerType, options, left, right, shape } = def
  switch (kind) {
    case 'number':
      return describeBounds(node, def)
    case 'object':
      return describeObject(
        { entries: typeof shape === 'function' ? shape() : shape, isOptional, rest: getRest(def) },
        convert,
      )
    case 'array':
      return { type: 'array', items: convert(def['element'] ?? def['type']) }
    case 'tuple':
      return describeTuple(def['items'], def['rest'] ?? false, convert)
    case 'record':
      return { type: 'object', additionalProperties: convert(def['valueType']) }
    case 'union':
    case 'discriminatedunion':
      return { anyOf: toList(options).map(convert) }
    case 'intersection':
      return { allOf: [convert(left), convert(right)] }
    case 'enum':
    case 'nativeenum':
      return describeValues(enumValues(def['entries'] ?? def['values']))
    case 'literal':
      return describeValues(def['values'] ?? [def['value']])
    case 'nullable':
      return describeNullable(innerType, convert)
    case 'lazy':
      return convert((def['getter'] as () => unknown)())
    default: {
      const inner = getInner(kind, def)
      return inner ? convert(inner) : (basicKinds[kind] ?? {})
    }
  }
}

/** What an optional, default, catch, brand, effect or pipe holds. */
function getInner(kind: string, def: Fields): unknown {
  const { in: first, out } = def
  // A pipe that begins with a function (`z.preprocess`) takes in anything; what it should become guides best.
  if (first) return definition(first).kind === 'transform' ? out : first
  return def['innerType'] ?? def['schema'] ?? (kind === 'branded' ? def['type'] : undefined)
}

/** Zod 3 marks objects without `catchall` by one that accepts nothing; in Zod 4 that is a strict object. */
function getRest({ catchall, unknownKeys }: Fields): unknown {
  if (!catchall || definition(catchall).kind !== 'never') return catchall
  return unknownKeys && unknownKeys !== 'strict' ? undefined : false
}

function describeBounds(node: Fields, { checks }: Fields) {
  if (node['_zod']) {
    const { format, maximum } = toFields(toFields(node['_zod'])['bag'])
    return describeNumber(/int/.test(String(format)), maximum)
  }
  const bounds = Object.fromEntries(toList(checks).map((check) => [toFields(check)['kind'], toFields(check)]))
  return describeNumber('int' in bounds, bounds['max']?.['value'])
}

/** Said by the objects alone: Zod 3 itself would run the caller's functions to find out. */
function isOptional(node: Fields): boolean {
  if (node['_zod']) return toFields(node['_zod'])['optin'] === 'optional'
  const { kind, def } = definition(node)
  if (/optional|default|catch|any|unknown|undefined|void/.test(kind)) return true
  const { effect, options } = def
  if (effect && toFields(effect)['type'] === 'preprocess') return true
  const inner = getInner(kind, def)
  return inner ? isOptional(toFields(inner)) : toList(options).some((option) => isOptional(toFields(option)))
}

// Describes schema objects of Valibot 1.

const isOptionalEntry = ({ type }: Fields) => /^(exact_)?optional|^nullish/.test(String(type))

const describeValibot: Describe = (node, convert) => {
  const type = String(node['type'])
  const rest = type.startsWith('strict_') ? false : node['rest']
  switch (type.replace(/^(loose|strict)_|_with_rest$/, '')) {
    case 'number': {
      const actions = getActions(node)
      const isInteger = actions.some((action) => /integer$/.test(String(action['type'])))
      return describeNumber(
        isInteger,
        actions.find((action) => action['type'] === 'max_value')?.['requirement'],
      )
    }
    case 'object':
      return describeObject({ entries: node['entries'], isOptional: isOptionalEntry, rest }, convert)
    case 'array':
      return { type: 'array', items: convert(node['item']) }
    case 'tuple':
      return describeTuple(node['items'], rest, convert)
    case 'record':
      return { type: 'object', additionalProperties: convert(node['value']) }
    case 'union':
    case 'variant':
      return { anyOf: toList(node['options']).map(convert) }
    case 'intersect':
      return { allOf: toList(node['options']).map(convert) }
    case 'enum':
    case 'picklist':
      return describeValues(node['options'])
    case 'literal':
      return describeValues([node['literal']])
    case 'nullable':
    case 'nullish':
      return describeNullable(node['wrapped'], convert)
    case 'lazy':
      // The getter is given the input in some schemas; without one it answers as for any.
      return convert((node['getter'] as () => unknown)())
    default:
      return node['wrapped'] ? convert(node['wrapped']) : (basicKinds[type] ?? {})
  }
}

/** The checks of a pipe up to its first transformation: what follows is about another value. */
function getActions(node: Fields): readonly Fields[] {
  const actions = toList(node['pipe']).map(toFields)
  const end = actions.findIndex(({ kind }) => kind === 'transformation')
  return end < 0 ? actions : actions.slice(0, end)
}

// Builds a JSON Schema out of the schema objects of another library.

type Keywords = Record<string, unknown>
/** A schema object of another library: its fields are inspected, not trusted. */
type Fields = Readonly<Record<string, unknown>>
type Convert = (node: unknown) => Keywords
/** The keywords of one schema object; `convert` describes those inside of it. What has no JSON Schema is `{}`. */
type Describe = (node: Fields, convert: Convert) => Keywords

const nothing: Readonly<Keywords> = { not: {} }

/** Kinds that every library has under the same name, and that hold no others. Dates and the like are open. */
const basicKinds: Readonly<Record<string, Readonly<Keywords>>> = {
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

/** An object that is used in several locations, or inside of itself, becomes a definition that these locations refer to. */
function buildJsonSchema(root: unknown, describe: Describe): JsonSchema {
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
function toFields(node: unknown): Fields {
  if (!isObject(node)) throw new TypeError('not an object')
  return node
}

interface Members {
  readonly entries: unknown
  readonly isOptional: (node: Fields) => boolean
  /** What other members must be: a schema object, `false` for none, `undefined` where they may be anything. */
  readonly rest?: unknown
}

function describeObject({ entries, isOptional, rest }: Members, convert: Convert): Keywords {
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
function describeTuple(items: unknown, rest: unknown, convert: Convert): Keywords {
  const prefixItems = toList(items).map(convert)
  return {
    type: 'array',
    minItems: prefixItems.length,
    ...(prefixItems.length > 0 && { prefixItems }),
    ...(rest !== undefined && { items: rest && convert(rest) }),
  }
}

/** Values that JSON cannot hold are left out; where none is left, nothing is known. */
function describeValues(values: unknown): Keywords {
  const listed = new Set(toList(values).filter((value) => jsonType(value)))
  return listed.size > 0 ? { enum: [...listed] } : {}
}

/** The values of a list or of a TypeScript enum, whose numbers also map back to their names. */
function enumValues(entries: unknown): readonly unknown[] {
  if (Array.isArray(entries)) return entries
  const members = Object.entries(toFields(entries))
  const names = new Set(members.map(([, value]) => (typeof value === 'number' ? String(value) : undefined)))
  return members.filter(([name]) => !names.has(name)).map(([, value]) => value)
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const describeNullable = (node: unknown, convert: Convert): Keywords => ({
  anyOf: [convert(node), { type: 'null' }],
})

/** The greatest value distinguishes a share of one from a percentage; other checks are left to the library. */
function describeNumber(isInteger: boolean, maximum: unknown): Keywords {
  return { type: isInteger ? 'integer' : 'number', ...(Number.isFinite(maximum) && { maximum }) }
}
