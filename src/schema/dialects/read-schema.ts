/** The entrance of every schema: its dialect is found out, and it is rewritten as 2020-12. */

import type { Issue } from '../../base/errors/issue.ts'
import { isObject, own } from '../../base/json.ts'
import { tokens, valueAt } from '../../base/pointer.ts'
import { clip } from '../describe.ts'
import type { SchemaIssueCode } from '../issue-table.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listSubschemas, type SchemaObject } from '../keywords.ts'
import { decodeFragment } from '../local-reference.ts'
import { type Draft, findDraft, getDraftYear, knownDialects } from './draft.ts'
import { allowsTuples, getIntroductionYear } from './well-formed.ts'

interface ReadSchema {
  readonly draft: Draft
  readonly schema: JsonSchema
  /** The same as JSON text. */
  readonly text: string
  /** What the author of the schema should know, although it can be used. */
  readonly notes: readonly Issue<SchemaIssueCode>[]
}

/**
 * Reads a schema from its JSON text and rewrites it as 2020-12. `check` gets the schema as it is written. An unknown `$schema`
 * is noted, and the schema is read as one that declares none.
 */
export function readSchema(text: string, check?: (given: JsonSchema, draft: Draft) => void): ReadSchema {
  const given: JsonSchema = JSON.parse(text)
  const declared = findDraft(given)
  const draft = declared === 'unknown' ? 'undeclared' : declared
  const notes = declared === 'unknown' ? [unknown(given)] : []
  check?.(given, draft)
  if (getDraftYear(draft) >= 2020 && !dated.test(text)) return { draft, schema: given, text, notes }
  const schema = normalise(given, draft)
  return { draft, schema, text: JSON.stringify(schema), notes }
}

/** Finds what may have to be rewritten, and some of what need not be: most schemas are spared the walk by their text. */
const dated =
  /"(?:\$schema":(?!"https:..json-schema.org.draft.2020-12.schema")|\$id":"[^"]*#|\$recursive|nullable|dependencies|additionalItems|exclusiveM\w+":[tf]|items":\[)/

const rewritten = new WeakMap<object, JsonSchema>()

/** The schema in 2020-12; the very same object where nothing had to be rewritten. */
export function toLatest(given: JsonSchema): JsonSchema {
  if (typeof given === 'boolean') return given
  let latest = rewritten.get(given)
  if (latest === undefined) {
    const before = JSON.stringify(given)
    const { schema, text } = readSchema(before)
    latest = text === before ? given : schema
    rewritten.set(given, latest)
  }
  return latest
}

function unknown(schema: JsonSchema): Issue<SchemaIssueCode> {
  const declared = typeof schema === 'boolean' ? undefined : own(schema, '$schema')
  return {
    code: 'schema/unknown-dialect',
    at: { pointer: '/$schema' },
    message: `the schema declares an unknown $schema, ${clip(declared)}, and is read as 2020-12`,
    hint: `Use one of ${knownDialects.join(', ')}, or leave $schema out`,
  }
}

// Rewrites a schema of any supported draft as 2020-12, once, at the entrance: validators, shapes and the prover read one
// dialect. The schema must be well formed in its draft. A schema that is 2020-12 already stays as it is.

const latestDialect = 'https://json-schema.org/draft/2020-12/schema'

/** The dynamic anchor that stands for `$recursiveAnchor` of 2019-09. */
const recursiveAnchor = 'proviso.recursive'

/** Rewrites a schema in place, so that it is 2020-12. */
export function normalise(root: JsonSchema, draft: Draft): JsonSchema {
  if (typeof root === 'boolean') return root
  const visits = collect(root, draft)
  const moved = new Set<SchemaObject>()
  for (const visit of visits) rewrite(visit, moved)
  if (moved.size > 0) for (const { schema, resource } of visits) relocate(schema, resource, moved)
  return root
}

interface Visit {
  readonly schema: SchemaObject
  readonly draft: Draft
  /** The schema that local pointers start from. */
  readonly resource: SchemaObject
  /** The resource marks its root with `$recursiveAnchor`. */
  readonly recursive: boolean
}

/** Every schema object: below keywords, and in locations that only a local reference names (`#/components/schemas/a`). */
function collect(root: SchemaObject, draft: Draft): Visit[] {
  const visits: Visit[] = []
  const seen = new Set<SchemaObject>()
  const queue: Visit[] = [toVisit(root, draft, root)]
  for (const visit of queue) {
    if (seen.has(visit.schema)) continue
    seen.add(visit.schema)
    visits.push(visit)
    for (const { schema } of listSubschemas(visit.schema, '')) queue.push(enter(schema, visit))
    const ref = own(visit.schema, '$ref')
    if (typeof ref !== 'string' || !ref.startsWith('#/')) continue
    const target = valueAt(visit.resource, decodeFragment(ref))
    // References come last, so that a location below a keyword is visited as part of its own resource.
    if (isObject(target)) queue.push({ ...visit, schema: target })
  }
  return visits
}

function enter(schema: SchemaObject, parent: Visit): Visit {
  const declared = findDraft(schema)
  const draft = declared === 'undeclared' || declared === 'unknown' ? parent.draft : declared
  return startsResource(schema, draft) ? toVisit(schema, draft, schema) : { ...parent, schema }
}

function toVisit(schema: SchemaObject, draft: Draft, resource: SchemaObject): Visit {
  const recursive = draft === '2019-09' && own(resource, '$recursiveAnchor') === true
  return { schema, draft, resource, recursive }
}

function startsResource(schema: SchemaObject, draft: Draft): boolean {
  const id = own(schema, draft === '04' ? 'id' : '$id')
  if (typeof id !== 'string' || id.startsWith('#')) return false
  return getDraftYear(draft) > 7 || typeof own(schema, '$ref') !== 'string'
}

function rewrite(visit: Visit, moved: Set<SchemaObject>): void {
  const { schema, draft } = visit
  const year = getDraftYear(draft)
  if (own(schema, '$schema') !== undefined) schema['$schema'] = latestDialect
  if (draft !== 'openapi-3.0') {
    // Earlier drafts ignore what came later; what references point at stays.
    for (const keyword of Object.keys(schema))
      if (getIntroductionYear(keyword) > year && keyword !== '$defs') delete schema[keyword]
  }
  rewriteNames(visit)
  if (year <= 7 && typeof own(schema, '$ref') === 'string') dropSiblings(schema)
  rewriteNullable(schema)
  rewriteExclusive(schema, 'minimum', 'exclusiveMinimum')
  rewriteExclusive(schema, 'maximum', 'exclusiveMaximum')
  if (isObject(own(schema, 'dependencies'))) rewriteDependencies(schema, moved)
  if (allowsTuples(draft)) rewriteTuple(schema, moved)
  if (draft === '2019-09') hideContains(schema)
}

/** `id`, fragments in `$id`, and the recursive keywords of 2019-09. */
function rewriteNames({ schema, draft, recursive }: Visit): void {
  const year = getDraftYear(draft)
  if (draft === '04' && typeof own(schema, 'id') === 'string') {
    schema['$id'] = schema['id']
    delete schema['id']
  }
  const id = own(schema, '$id')
  const hash = typeof id === 'string' ? id.indexOf('#') : -1
  if (typeof id === 'string' && hash >= 0 && (year <= 7 || hash === id.length - 1)) {
    if (hash < id.length - 1) schema['$anchor'] = id.slice(hash + 1)
    if (hash > 0) schema['$id'] = id.slice(0, hash)
    else delete schema['$id']
  }
  const again = own(schema, '$recursiveRef')
  const anchored = own(schema, '$recursiveAnchor') === true
  delete schema['$recursiveRef']
  delete schema['$recursiveAnchor']
  if (draft !== '2019-09') return
  if (typeof again === 'string') {
    if (recursive) schema['$dynamicRef'] = `#${recursiveAnchor}`
    else if (own(schema, '$ref') === undefined) schema['$ref'] = again
    else appendTo(schema, 'allOf', { $ref: again })
  }
  if (anchored) schema['$dynamicAnchor'] = recursiveAnchor
}

/** Up to draft-07 a `$ref` stands alone. What references point at stays. */
function dropSiblings(schema: SchemaObject): void {
  for (const keyword of Object.keys(schema)) if (!besideRef.has(keyword)) delete schema[keyword]
}

const besideRef = new Set(['$ref', '$schema', 'definitions', '$defs', 'nullable', 'description', 'title'])

/** OpenAPI 3.0. Beside a reference or a union it means the same, although only `type` is mentioned by the specification. */
function rewriteNullable(schema: SchemaObject): void {
  if (typeof own(schema, 'nullable') !== 'boolean') return
  const allowed = schema['nullable'] === true
  delete schema['nullable']
  if (!allowed) return
  const type = own(schema, 'type')
  if (type !== undefined) {
    const types = [type].flat()
    if (!types.includes('null')) schema['type'] = [...types, 'null']
    return
  }
  const rest: SchemaObject = {}
  for (const keyword of ['$ref', 'allOf', 'anyOf', 'oneOf']) {
    if (!Object.hasOwn(schema, keyword)) continue
    rest[keyword] = schema[keyword]
    delete schema[keyword]
  }
  if (Object.keys(rest).length > 0) schema['anyOf'] = [rest, { type: 'null' }]
}

/** In draft-04 the exclusive keyword is a flag beside the bound. */
function rewriteExclusive(schema: SchemaObject, bound: string, exclusive: string): void {
  if (typeof own(schema, exclusive) !== 'boolean') return
  if (schema[exclusive] === true && typeof own(schema, bound) === 'number') {
    schema[exclusive] = schema[bound]
    delete schema[bound]
  } else {
    delete schema[exclusive]
  }
}

function rewriteDependencies(schema: SchemaObject, moved: Set<SchemaObject>): void {
  for (const [name, needed] of Object.entries(schema['dependencies'] as SchemaObject)) {
    const keyword = Array.isArray(needed) ? 'dependentRequired' : 'dependentSchemas'
    const before = own(schema, keyword)
    if (isObject(before) && Object.hasOwn(before, name)) {
      appendTo(schema, 'allOf', { [keyword]: { [name]: needed } })
    } else {
      schema[keyword] = { ...(isObject(before) && before), [name]: needed }
    }
  }
  delete schema['dependencies']
  moved.add(schema)
}

function rewriteTuple(schema: SchemaObject, moved: Set<SchemaObject>): void {
  const items = own(schema, 'items')
  const rest = own(schema, 'additionalItems')
  delete schema['additionalItems']
  if (!Array.isArray(items)) return
  delete schema['items']
  if (items.length > 0) schema['prefixItems'] = items
  if (rest !== undefined) schema['items'] = rest
  moved.add(schema)
}

/** In 2019-09 an item that `contains` has matched still counts as unevaluated: a double negation hides the match. */
function hideContains(schema: SchemaObject): void {
  if (!Object.hasOwn(schema, 'contains') || !Object.hasOwn(schema, 'unevaluatedItems')) return
  const hidden: SchemaObject = {}
  for (const keyword of ['contains', 'minContains', 'maxContains']) {
    if (!Object.hasOwn(schema, keyword)) continue
    hidden[keyword] = schema[keyword]
    delete schema[keyword]
  }
  appendTo(schema, 'allOf', { not: { not: hidden } })
}

function appendTo(schema: SchemaObject, keyword: string, part: SchemaObject): void {
  const before = own(schema, keyword)
  schema[keyword] = [...(Array.isArray(before) ? before : []), part]
}

/** Points references at where their targets have moved to. */
function relocate(schema: SchemaObject, resource: SchemaObject, moved: ReadonlySet<SchemaObject>): void {
  const ref = own(schema, '$ref')
  if (typeof ref !== 'string' || !ref.startsWith('#/') || !movable.test(ref)) return
  const path = tokens(decodeFragment(ref))
  let node: unknown = resource
  const found: string[] = []
  for (const [index, token] of path.entries()) {
    const here = isObject(node) && moved.has(node) ? movedTo(token, path[index + 1], node) : token
    found.push(here)
    node = typeof node === 'object' && node !== null ? own(node, here) : undefined
  }
  if (node === undefined) return
  schema['$ref'] =
    `#/${found.map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
}

const movable = /\/(items|additionalItems|dependencies)(\/|$)/

function movedTo(token: string, next: string | undefined, node: SchemaObject): string {
  if (
    token === 'items' &&
    next !== undefined &&
    /^\d+$/.test(next) &&
    Array.isArray(own(node, 'prefixItems'))
  )
    return 'prefixItems'
  if (token === 'additionalItems') return 'items'
  return token === 'dependencies' ? 'dependentSchemas' : token
}
