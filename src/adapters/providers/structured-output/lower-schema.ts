/**
 * Rewrites an author's schema into a provider's dialect: closed objects, nullable optionals, references, with a note for
 * everything that is changed, weakened or not supported there. Pure; the caller decides what to do with a refusal.
 */
import { isObject, jsonType, setOwn } from '../../../base/json.ts'
import { child, type Pointer } from '../../../base/pointer.ts'
import { lookUp, mergeAll } from '../../../schema/build/merge.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { type Dialect, type DialectName, dialects } from './dialects.ts'
import {
  type Here,
  type Keywords,
  type LoweringNote,
  mostParts,
  note,
  startWalk,
  type Walk,
} from './lowering-walk.ts'

interface Lowered {
  /** Absent when a part was refused. */
  readonly schema?: { readonly [keyword: string]: unknown }
  /** The answer is under this member of an object. */
  readonly wrapped?: 'value'
  readonly notes: readonly LoweringNote[]
}

export function lowerSchema(schema: JsonSchema, dialect: Dialect): Lowered {
  const walk = startWalk(schema, dialect, lower)
  const lowered = lower(schema, '', walk)
  const wrapped = dialect.objectRoot && lowered['type'] !== 'object' ? 'value' : undefined
  if (wrapped)
    note(walk, 'changed', '', 'type', 'the root is no object: it becomes the member "value" of one')
  if (walk.notes.some(({ kind }) => kind === 'refused')) return { notes: walk.notes }
  const body = wrapped
    ? { type: 'object', properties: { value: lowered }, required: ['value'], additionalProperties: false }
    : lowered
  const $defs = Object.fromEntries(walk.defs)
  return {
    schema: walk.defs.size > 0 ? { ...body, $defs } : body,
    ...(wrapped && { wrapped }),
    notes: walk.notes,
  }
}

function lower(given: unknown, pointer: Pointer, walk: Walk): Keywords {
  if (++walk.parts.count > mostParts) {
    note(walk, 'refused', '', '$ref', `has more than ${mostParts} parts once its references are written out`)
    return {}
  }
  if (walk.depth > walk.dialect.maxDepth) {
    note(walk, 'refused', pointer, 'properties', `is nested deeper than ${walk.dialect.maxDepth} levels`)
    return {}
  }
  if (given === false) {
    note(walk, 'refused', pointer, 'false', 'a schema that allows nothing cannot be said')
    return {}
  }
  if (!isObject(given)) return anything(pointer, walk)
  if (typeof given['$ref'] === 'string') return lowerReference(given, given['$ref'], { pointer, walk })
  const schema = Array.isArray(given['allOf']) ? merged(given, pointer, walk) : given
  return lowerKeywords(schema, pointer, walk)
}

function anything(pointer: Pointer, walk: Walk): Keywords {
  if (!walk.dialect.anything)
    note(walk, 'refused', pointer, 'true', 'a schema that allows anything cannot be said')
  return {}
}

function merged(given: Keywords, pointer: Pointer, walk: Walk): Keywords {
  const { schema, conflicts } = mergeAll(given, walk.root)
  note(walk, 'changed', pointer, 'allOf', 'its members are merged into one schema')
  for (const keyword of conflicts)
    note(walk, 'weakened', pointer, keyword, 'differs between members of allOf; only the first is sent')
  return schema
}

function lowerKeywords(schema: Keywords, pointer: Pointer, walk: Walk): Keywords {
  const { dialect } = walk
  const type = schema['type'] ?? impliedType(schema)
  const result: Keywords = {}
  if (typeof schema['description'] === 'string') result['description'] = schema['description']
  if (type !== undefined) result['type'] = type
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.has(keyword) || structural.has(keyword)) continue
    if (isKept(keyword, value, dialect)) result[keyword] = value
    else note(walk, 'weakened', pointer, keyword, `${show(keyword, value)} is not enforced`)
  }
  lowerUnion(schema, result, { pointer, walk })
  if (
    type === 'object' ||
    (Array.isArray(type) && type.includes('object')) ||
    schema['properties'] !== undefined
  )
    lowerObject(schema, result, { pointer, walk })
  if (type === 'array' || (Array.isArray(type) && type.includes('array')))
    lowerList(schema, result, { pointer, walk })
  if (type === undefined && !('anyOf' in result) && !('oneOf' in result)) {
    const open = !('enum' in result) && !('const' in result)
    if (open) return { ...result, ...anything(pointer, walk) }
  }
  return result
}

function isKept(keyword: string, value: unknown, dialect: Dialect): boolean {
  if (!dialect.enforces.has(keyword)) return false
  if (keyword === 'format') return typeof value === 'string' && dialect.formats.has(value)
  return true
}

function lowerUnion(schema: Keywords, result: Keywords, { pointer, walk }: Here): void {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schema[keyword]
    if (!Array.isArray(branches)) continue
    const at = child(pointer, keyword)
    const lowered = branches.map((branch, index) => lower(branch, child(at, String(index)), walk))
    if (walk.dialect.enforces.has(keyword)) result[keyword] = lowered
    else {
      result['anyOf'] = lowered
      note(walk, 'weakened', pointer, keyword, 'becomes anyOf: more than one branch may hold')
    }
  }
}

/** References in a provider's dialect: kept under `$defs`, written out, or refused where they lead into themselves. */
function lowerReference(given: Keywords, ref: string, { pointer, walk }: Here): Keywords {
  const target = lookUp(walk.root, ref)
  if (target === undefined) {
    note(walk, 'refused', pointer, '$ref', `leads to "${ref}", which is not in this schema`)
    return {}
  }
  const { $ref: _, ...beside } = given
  const said = Object.keys(beside).filter((keyword) => !annotations.has(keyword))
  const recursive = walk.open.includes(ref)
  if (recursive && !walk.dialect.recursion) {
    note(walk, 'refused', pointer, '$ref', 'recursion cannot be said')
    return {}
  }
  const inside = { ...walk, open: [...walk.open, ref] }
  if (walk.dialect.refs === 'inline' || (said.length > 0 && !recursive))
    return walk.lower({ allOf: [beside, target] }, pointer, inside)
  let name = walk.names.get(ref)
  if (name === undefined) {
    name = getName(ref, walk.names.size)
    walk.names.set(ref, name)
    walk.defs.set(name, {})
    walk.defs.set(name, walk.lower(target, ref.slice(1), { ...inside, depth: 0 }))
  }
  return { $ref: `#/$defs/${name}` }
}

function getName(ref: string, index: number): string {
  const last = ref.split('/').at(-1)?.replace(/\W+/g, '_') ?? ''
  return `${last === '' || last === '#' ? 'root' : last}_${index + 1}`
}

// Objects and lists in a provider's dialect: closed or open, optional members, items at fixed places.

function lowerObject(schema: Keywords, result: Keywords, { pointer, walk }: Here): void {
  const { dialect } = walk
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const names = Object.keys(properties)
  const more = schema['additionalProperties'] ?? schema['unevaluatedProperties']
  if (dialect.closed && names.length === 0 && more !== false) {
    note(walk, 'refused', pointer, 'additionalProperties', 'an object with free keys cannot be said')
    return
  }
  const lowered: Keywords = {}
  for (const name of names) {
    const at = child(child(pointer, 'properties'), name)
    const part = walk.lower(properties[name], at, { ...walk, depth: walk.depth + 1 })
    const optional = dialect.allRequired && !required.includes(name)
    if (optional) note(walk, 'changed', at, 'required', 'is optional: it may be null instead')
    setOwn(lowered, name, optional ? nullable(part) : part)
  }
  result['properties'] = lowered
  const wanted = dialect.allRequired ? names : required.filter((name) => names.includes(name as string))
  if (wanted.length > 0) result['required'] = wanted
  if (dialect.closed) {
    if (isObject(more))
      note(walk, 'weakened', pointer, 'additionalProperties', 'keys that are not declared are left out')
    else if (more !== false) note(walk, 'changed', pointer, 'additionalProperties', 'the object is closed')
    result['additionalProperties'] = false
  } else if (!dialect.enforces.has('additionalProperties')) {
    if (more === false || isObject(more))
      note(walk, 'weakened', pointer, 'additionalProperties', 'keys that are not declared are not checked')
  } else if (more === false) result['additionalProperties'] = false
  else if (isObject(more))
    result['additionalProperties'] = walk.lower(more, child(pointer, 'additionalProperties'), {
      ...walk,
      depth: walk.depth + 1,
    })
}

function lowerList(schema: Keywords, result: Keywords, { pointer, walk }: Here): void {
  const inside = { ...walk, depth: walk.depth + 1 }
  const prefix = schema['prefixItems']
  if (Array.isArray(prefix)) {
    if (walk.dialect.enforces.has('prefixItems'))
      result['prefixItems'] = prefix.map((part, i) => walk.lower(part, `${pointer}/prefixItems/${i}`, inside))
    else note(walk, 'weakened', pointer, 'prefixItems', 'items at fixed places are not enforced')
  }
  const items = Array.isArray(schema['items']) ? { anyOf: schema['items'] } : schema['items']
  if (items === undefined && Array.isArray(prefix) && !walk.dialect.anything)
    result['items'] = walk.lower({ anyOf: prefix }, child(pointer, 'prefixItems'), inside)
  else if (items !== false && (items !== undefined || !walk.dialect.anything))
    result['items'] = walk.lower(items ?? true, child(pointer, 'items'), inside)
}

/** Words for people and machines that ask nothing of a value. */
const annotations: ReadonlySet<string> = new Set(
  '$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly contentMediaType contentEncoding'.split(
    ' ',
  ),
)

/** Keywords that have a lowering of their own. */
const structural: ReadonlySet<string> = new Set([
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
function nullable(schema: Keywords): Keywords {
  const { type } = schema
  if (Array.isArray(schema['enum']) || 'const' in schema || '$ref' in schema || type === undefined)
    return { anyOf: [schema, { type: 'null' }] }
  const types = Array.isArray(type) ? type : [type]
  return types.includes('null') ? schema : { ...schema, type: [...types, 'null'] }
}

function impliedType(schema: Keywords): unknown {
  if (isObject(schema['properties'])) return 'object'
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array'
  const values = 'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : []
  const types = [...new Set(values.map(jsonType))]
  return types.length === 1 ? types[0] : types.length > 1 ? types : undefined
}

function show(keyword: string, value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > 40 ? keyword : `${keyword} ${text}`
}

/** How a provider supports a schema: for `proviso schema portability`, and for choosing a provider. */
export interface Portability {
  readonly provider: DialectName
  /** `enforced`: fully enforced; `weakened`: some keywords are only checked after the call; `refused`: the schema goes into the prompt. */
  readonly verdict: 'enforced' | 'weakened' | 'refused'
  readonly notes: readonly LoweringNote[]
  /** What would be sent; absent when it is refused. */
  readonly schema?: JsonSchema
}

/**
 * Compares how each provider supports a schema.
 *
 * @example
 * portability({ type: 'object', properties: { a: { type: 'string', minLength: 2 } } })[0]?.verdict // 'weakened'
 */
export function portability(schema: JsonSchema): readonly Portability[] {
  return Object.values(dialects).map((dialect) => {
    const { schema: lowered, notes } = lowerSchema(schema, dialect)
    const weakened = notes.some(({ kind }) => kind === 'weakened')
    return {
      provider: dialect.name,
      verdict: lowered === undefined ? 'refused' : weakened ? 'weakened' : 'enforced',
      notes,
      ...(lowered && { schema: lowered }),
    }
  })
}
