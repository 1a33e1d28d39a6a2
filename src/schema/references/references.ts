/** Follows references inside one schema: finds circles that would never end, and how large a schema is when unfolded. */
import { ProvisoError } from '../../base/errors/error.ts'
import { own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { clip } from '../describe.ts'
import { draftOfUri } from '../dialects/draft.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listSubschemas, type Part, referenceKeywords, type SchemaObject } from '../keywords.ts'
import { collectNames, type Names, type Resource } from './schema-names.ts'

/** Every schema object that can be reached, with its location and what it leads to. */
export type SchemaGraph = ReadonlyMap<SchemaObject, SchemaNode>

interface SchemaNode {
  readonly pointer: Pointer
  /** Sub-schemas and the targets of references; a reference speaks about the same value. */
  readonly leadsTo: readonly Part[]
  /** Where its references start from. */
  readonly resource: Resource
}

/** Walks a schema iteratively, following references also into locations that are no known keyword. Expects 2020-12. */
export function schemaGraph(root: JsonSchema, names: Names = collectNames(root)): SchemaGraph {
  const graph = new Map<SchemaObject, SchemaNode>()
  if (typeof root === 'boolean') return graph
  const stack: Visit[] = [{ schema: root, pointer: '', applies: 'here', resource: names.root }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (graph.has(visit.schema)) continue
    const resource = names.findResource(visit.schema) ?? visit.resource
    const leadsTo: Visit[] = listSubschemas(visit.schema, visit.pointer).map((part) => ({
      ...part,
      resource,
    }))
    for (const keyword of referenceKeywords) {
      const ref = own(visit.schema, keyword)
      const target = typeof ref === 'string' ? names.resolve(ref, resource) : undefined
      if (target === undefined || typeof target.schema === 'boolean') continue
      leadsTo.push({
        schema: target.schema,
        pointer: target.pointer,
        applies: 'here',
        resource: target.resource,
      })
    }
    graph.set(visit.schema, { pointer: visit.pointer, leadsTo, resource })
    for (let i = leadsTo.length - 1; i >= 0; i--) stack.push(leadsTo[i] as Visit)
  }
  return graph
}

interface Visit extends Part {
  readonly resource: Resource
}

/** Finds the target of a `$ref` inside one schema, for walkers of their own; what is not an object is not found. */
export function referenceResolver(root: JsonSchema): (schema: SchemaObject) => SchemaObject | undefined {
  let names: Names | undefined
  return (schema) => {
    const ref = own(schema, '$ref')
    if (typeof ref !== 'string') return undefined
    names ??= collectNames(root)
    const target = names.resolve(ref, names.findResource(schema) ?? names.root)
    return target === undefined || typeof target.schema === 'boolean' ? undefined : target.schema
  }
}

/** Schemas that several others lead to, so that one value can be judged by them more than once. */
export function sharedSchemas(graph: SchemaGraph): ReadonlySet<object> {
  const once = new Set<object>()
  const shared = new Set<object>()
  for (const [index, [schema, { leadsTo }]] of [...graph].entries()) {
    // The root is where validation starts; a dynamic anchor may be led to from anywhere.
    if (index === 0) once.add(schema)
    if (Object.hasOwn(schema, '$dynamicAnchor')) shared.add(schema)
    for (const part of leadsTo) {
      if (part.applies === 'never') continue
      if (once.has(part.schema)) shared.add(part.schema)
      once.add(part.schema)
    }
  }
  return shared
}

/** Throws when a reference leads nowhere. */
export function checkReferences(graph: SchemaGraph, names: Names): void {
  for (const [schema, { pointer, resource }] of graph) {
    for (const keyword of referenceKeywords) {
      const ref = own(schema, keyword)
      if (typeof ref !== 'string' || draftOfUri(ref) !== undefined) continue
      if (names.resolve(ref, resource) !== undefined) continue
      const at = child(pointer, keyword)
      throw new ProvisoError(
        'schema/invalid',
        `The schema at ${at} refers to ${clip(ref)}, which is not in it`,
        {
          at: { pointer: at },
          hint: 'Put the target into "$defs"',
        },
      )
    }
  }
  const [duplicate] = names.duplicates
  if (duplicate === undefined) return
  throw new ProvisoError(
    'schema/invalid',
    `The schema at ${duplicate.pointer} has the $id ${clip(duplicate.resource.uri)}, which already exists in it`,
    { at: { pointer: child(duplicate.pointer, '$id') } },
  )
}

/** Throws when a schema leads back to itself without going into the value: validating would never end. */
export function checkLoops(graph: SchemaGraph): void {
  const loop = postOrder(graph, [...graph.keys()], (part) => part.applies === 'here').loop
  if (loop === undefined) return
  const pointer = graph.get(loop)?.pointer ?? ''
  throw new ProvisoError(
    'schema/invalid',
    `The schema at ${pointer || 'its root'} is a circular $ref: it refers to itself`,
    {
      at: { pointer },
      hint: 'Refer back from below properties or items only',
    },
  )
}

/** How many times the schemas that there are a validator may visit before verdicts are worth remembering. */
const repeatsAllowed = 8

/** Whether one value may be judged by the same schema again and again: a recursive schema, or definitions that several alternatives share. */
export function isRepetitive(graph: SchemaGraph): boolean {
  const [root] = graph.keys()
  if (root === undefined) return false
  const { size, loop } = unfold(graph, root)
  return loop !== undefined || size > repeatsAllowed * graph.size
}

/** Whether definitions that several alternatives share make a schema much larger than it is written. */
export function isShared(graph: SchemaGraph, root: SchemaObject): boolean {
  return unfold(graph, root).size > repeatsAllowed * graph.size
}

/**
 * Whether every level of a value may double the work of a validator that does not remember: a schema leads back to itself,
 * and on the way one value is judged by more than one schema.
 */
export function multipliesWithDepth(graph: SchemaGraph): boolean {
  const loops = leadingToLoops(graph)
  for (const schema of loops) {
    const parts = graph.get(schema)?.leadsTo.filter((part) => part.applies !== 'never') ?? []
    // A reference and nothing else is one judgement, made at its target.
    const isReference = parts.length === 1
    if (!isReference && parts.some((part) => part.applies === 'here' && loops.has(part.schema))) return true
    if (overlapping.some((keyword) => Object.hasOwn(schema, keyword))) return true
  }
  return false
}

/** Keywords whose sub-schemas judge members that other keywords beside them judge as well. */
const overlapping = ['patternProperties', 'contains', 'propertyNames']

/** The schemas from which a recursive one is reached, found by removing the ones without other references. */
function leadingToLoops(graph: SchemaGraph): ReadonlySet<SchemaObject> {
  const left = new Map<SchemaObject, number>()
  const ledToBy = new Map<SchemaObject, SchemaObject[]>()
  for (const [schema, { leadsTo }] of graph) {
    const parts = leadsTo.filter((part) => part.applies !== 'never')
    left.set(schema, parts.length)
    for (const part of parts) append(ledToBy, part.schema, schema)
  }
  const ends = [...left].filter(([, count]) => count === 0).map(([schema]) => schema)
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    left.delete(end)
    for (const schema of ledToBy.get(end) ?? []) {
      const count = (left.get(schema) ?? 0) - 1
      left.set(schema, count)
      if (count === 0) ends.push(schema)
    }
  }
  return new Set(left.keys())
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/**
 * How many schemas a validator may visit when every reference is unfolded once; a recursive reference counts as one. `loop`
 * is a schema that leads back to itself through the value, so that validating goes as deep as the value does.
 */
export function unfold(graph: SchemaGraph, root: SchemaObject) {
  const sizes = new Map<SchemaObject, number>()
  const applied = (part: Part) => part.applies !== 'never'
  const { order, loop } = postOrder(graph, [root], applied)
  for (const schema of order) {
    let size = 1
    for (const part of graph.get(schema)?.leadsTo ?? [])
      if (applied(part)) size += sizes.get(part.schema) ?? 1
    sizes.set(schema, size)
  }
  return { size: sizes.get(root) ?? 1, loop }
}

/** Depth-first without recursion: children before parents, and the first schema found to lead back to itself. */
function postOrder(graph: SchemaGraph, from: readonly SchemaObject[], follow: (part: Part) => boolean) {
  const state = new Map<SchemaObject, 'open' | 'done'>()
  const order: SchemaObject[] = []
  let loop: SchemaObject | undefined
  for (const start of from) {
    const stack = [start]
    for (let schema = stack.at(-1); schema !== undefined; schema = stack.at(-1)) {
      if (state.has(schema)) {
        stack.pop()
        if (state.get(schema) === 'open') {
          state.set(schema, 'done')
          order.push(schema)
        }
        continue
      }
      state.set(schema, 'open')
      for (const part of graph.get(schema)?.leadsTo ?? []) {
        if (!follow(part)) continue
        if (state.get(part.schema) === 'open') loop ??= part.schema
        else if (!state.has(part.schema)) stack.push(part.schema)
      }
    }
  }
  return { order, loop }
}
