/**
 * Checks the limits of untrusted schemas. Each limit bounds something that Ajv or a validator would otherwise pay for in
 * seconds, in memory or in stack; every error names the limit, its value and the location.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { clip } from '../describe.ts'
import type { JsonSchema } from '../json-schema.ts'
import { referenceKeywords, type SchemaObject } from '../keywords.ts'
import { safeFormats } from '../patterns/formats.ts'
import { checkPatterns } from '../patterns/patterns.ts'
import { type SchemaGraph, unfold } from '../references/references.ts'

/** The limits of untrusted schemas. */
export const schemaLimits = {
  /** UTF-8 bytes of the schema as canonical JSON. */
  bytes: 65_536,
  /** Nesting of the schema as JSON; one level of `properties` is two. */
  depth: 32,
  /** JSON values in the schema. */
  nodes: 2_000,
  /** Members of one object in the schema. */
  properties: 500,
  /** Characters of a `pattern`, or of a key of `patternProperties`. */
  pattern: 256,
  /** Schemas that validation visits when all references are unfolded. */
  expanded: 10_000,
  /** `maxItems` that an array needs before `uniqueItems` may be asked of it: the check is quadratic. */
  uniqueItems: 1_000,
} as const

/** Refuses a schema that is too large to be inspected any further. Runs before hashing and meta-validation. */
export function checkSize(schema: JsonSchema): void {
  let nodes = 1
  let characters = 0
  function visit(value: unknown, pointer: Pointer, depth: number): void {
    if (typeof value === 'string') characters += value.length
    if (characters > schemaLimits.bytes) refuse(pointer, tooLarge, 'bytes')
    if (typeof value !== 'object' || value === null) return
    if (depth >= schemaLimits.depth) refuse(pointer, `is nested deeper than ${schemaLimits.depth}`, 'depth')
    const isList = Array.isArray(value)
    const size = isList ? value.length : Object.keys(value).length
    if (!isList && size > schemaLimits.properties) {
      refuse(pointer, `has an object with more than ${schemaLimits.properties} properties`, 'properties')
    }
    nodes += size
    if (nodes > schemaLimits.nodes) refuse(pointer, `has more than ${schemaLimits.nodes} nodes`, 'nodes')
    for (const key of Object.keys(value)) {
      if (!isList) characters += key.length
      visit(Reflect.get(value, key), child(pointer, key), depth + 1)
    }
  }
  visit(schema, '', 0)
}

const tooLarge = `is larger than ${schemaLimits.bytes} bytes`

/** The exact form of the limit on bytes, for the text that is hashed. */
export function checkBytes(canonical: string): void {
  if (new TextEncoder().encode(canonical).length > schemaLimits.bytes) refuse('', tooLarge, 'bytes')
}

/** Refuses what a validator must not be asked to do. Expects a schema that passed `checkSize`. */
export function checkContent(root: JsonSchema, graph: SchemaGraph): void {
  if (typeof root === 'boolean') return
  const rootId = own(root, '$id')
  for (const [schema, { pointer }] of graph) {
    for (const rule of rules) rule(schema, pointer, typeof rootId === 'string' ? rootId : '')
  }
  checkPatterns(graph, { linear: true, longest: schemaLimits.pattern })
  const { size } = unfold(graph, root)
  if (size > schemaLimits.expanded) {
    refuse(
      '',
      `unfolds to ${size} schemas, more than ${schemaLimits.expanded}, because of its references`,
      'expanded',
    )
  }
}

/** Keywords whose values are data, where `$data` is a name like any other. */
const dataKeywords = new Set(['default', 'const', 'examples'])

type Rule = (schema: SchemaObject, pointer: Pointer, rootId: string) => void

/** One row per thing that is denied. */
const rules: readonly Rule[] = [
  function noData(schema, pointer) {
    for (const [keyword, value] of Object.entries(schema)) {
      if (!dataKeywords.has(keyword) && isObject(value) && typeof own(value, '$data') === 'string') {
        refuse(child(pointer, keyword), 'uses $data, which is not allowed', '$data')
      }
    }
  },
  function localReferences(schema, pointer, rootId) {
    for (const keyword of referenceKeywords) {
      const ref = own(schema, keyword)
      if (typeof ref !== 'string' || ref.startsWith('#')) continue
      if (rootId !== '' && (ref === rootId || ref.startsWith(`${rootId.replace(/#$/, '')}#`))) continue
      refuse(
        child(pointer, keyword),
        `refers to ${clip(ref)}; only references inside the schema are allowed`,
        '$ref',
      )
    }
  },
  function oneId(schema, pointer) {
    if (pointer !== '' && typeof own(schema, '$id') === 'string') {
      refuse(child(pointer, '$id'), 'has an $id below its root, which is not allowed', '$id')
    }
  },
  function safeFormat(schema, pointer) {
    const format = own(schema, 'format')
    if (typeof format !== 'string' || safeFormats.has(format)) return
    refuse(child(pointer, 'format'), `asks for the format ${clip(format)}, which is not allowed`, 'format', {
      hint: `Use one of ${[...safeFormats].join(', ')}`,
    })
  },
  function boundedUniqueItems(schema, pointer) {
    if (own(schema, 'uniqueItems') !== true) return
    const most = own(schema, 'maxItems')
    if (typeof most === 'number' && most <= schemaLimits.uniqueItems) return
    refuse(
      child(pointer, 'uniqueItems'),
      `asks for uniqueItems without maxItems of at most ${schemaLimits.uniqueItems}`,
      'uniqueItems',
    )
  },
]

function refuse(pointer: Pointer, what: string, limit: string, more: { readonly hint?: string } = {}): never {
  const where = pointer === '' ? 'The schema' : `The schema at ${clip(pointer, 200).slice(1, -1)}`
  throw new ProvisoError('schema/limit', `${where} ${what} (limit: ${limit})`, { at: { pointer }, ...more })
}
