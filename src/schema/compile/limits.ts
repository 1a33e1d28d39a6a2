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
import { checkPatterns, listPatterns } from '../patterns/patterns.ts'
import { type SchemaGraph, unfold } from '../references/references.ts'
import { describeLimit } from './limit-words.ts'
import { type LimitName, schemaLimits } from './schema-limits.ts'

/** Refuses a schema that is too large to be inspected any further. Runs before hashing and meta-validation. */
export function checkSize(schema: JsonSchema): void {
  let nodes = 1
  let characters = 0
  function visit(value: unknown, pointer: Pointer, depth: number): void {
    if (typeof value === 'string') characters += value.length
    if (characters > schemaLimits.bytes) refuse(pointer, 'bytes')
    if (typeof value !== 'object' || value === null) return
    if (depth >= schemaLimits.depth) refuse(pointer, 'depth')
    const isList = Array.isArray(value)
    const size = isList ? value.length : Object.keys(value).length
    if (!isList && size > schemaLimits.properties) refuse(pointer, 'properties')
    nodes += size
    if (nodes > schemaLimits.nodes) refuse(pointer, 'nodes')
    for (const key of Object.keys(value)) {
      if (!isList) characters += key.length
      visit(Reflect.get(value, key), child(pointer, key), depth + 1)
    }
  }
  visit(schema, '', 0)
}

/** The exact form of the limit on bytes, for the text that is hashed. */
export function checkBytes(canonical: string): void {
  if (new TextEncoder().encode(canonical).length > schemaLimits.bytes) refuse('', 'bytes')
}

/** Refuses what a validator must not be asked to do. Expects a schema that passed `checkSize`. */
export function checkContent(root: JsonSchema, graph: SchemaGraph): void {
  if (typeof root === 'boolean') return
  const rootId = own(root, '$id')
  for (const [schema, { pointer }] of graph) {
    for (const rule of rules) rule(schema, pointer, typeof rootId === 'string' ? rootId : '')
  }
  for (const { pattern, pointer } of listPatterns(graph))
    if (pattern.length > schemaLimits.pattern) refuse(pointer, 'pattern')
  checkPatterns(graph, { linear: true })
  const { size } = unfold(graph, root)
  if (size > schemaLimits.expanded) refuse('', 'expanded', size)
}

/** Keywords whose values are data, where `$data` is a name like any other. */
const dataKeywords = new Set(['default', 'const', 'examples'])

type Rule = (schema: SchemaObject, pointer: Pointer, rootId: string) => void

/** One row per thing that is denied. */
const rules: readonly Rule[] = [
  function noData(schema, pointer) {
    for (const [keyword, value] of Object.entries(schema)) {
      if (!dataKeywords.has(keyword) && isObject(value) && typeof own(value, '$data') === 'string') {
        refuse(child(pointer, keyword), '$data')
      }
    }
  },
  function localReferences(schema, pointer, rootId) {
    for (const keyword of referenceKeywords) {
      const ref = own(schema, keyword)
      if (typeof ref !== 'string' || ref.startsWith('#')) continue
      if (rootId !== '' && (ref === rootId || ref.startsWith(`${rootId.replace(/#$/, '')}#`))) continue
      refuse(child(pointer, keyword), '$ref', ref)
    }
  },
  function oneId(schema, pointer) {
    if (pointer !== '' && typeof own(schema, '$id') === 'string') refuse(child(pointer, '$id'), '$id')
  },
  function safeFormat(schema, pointer) {
    const format = own(schema, 'format')
    if (typeof format !== 'string' || safeFormats.has(format)) return
    refuse(child(pointer, 'format'), 'format', format)
  },
  function boundedUniqueItems(schema, pointer) {
    if (own(schema, 'uniqueItems') !== true) return
    const most = own(schema, 'maxItems')
    if (typeof most === 'number' && most <= schemaLimits.uniqueItems) return
    refuse(child(pointer, 'uniqueItems'), 'uniqueItems')
  },
]

function refuse(pointer: Pointer, limit: LimitName, found?: unknown): never {
  const where = pointer === '' ? 'The schema' : `The schema at ${clip(pointer, 200).slice(1, -1)}`
  const { what, hint } = describeLimit(limit, found)
  throw new ProvisoError('schema/limit', `${where} ${what} (limit: ${limit})`, {
    at: { pointer },
    ...(hint && { hint }),
  })
}
