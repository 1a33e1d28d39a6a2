/** Follows references inside one schema: finds circles that would never end, and how large a schema is when unfolded. */
import { ProvisoError } from '../base/error.ts'
import { own } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import { clip } from './describe.ts'
import { draftOfUri } from './dialects/draft.ts'
import type { JsonSchema } from './json-schema.ts'
import { type Part, partsOf, referenceKeywords, type SchemaObject } from './keywords.ts'
import { collectNames, type Names, type Resource } from './names.ts'

/** Every schema object that can be reached, with its place and what it leads to. */
export type SchemaGraph = ReadonlyMap<SchemaObject, SchemaNode>

export interface SchemaNode {
  readonly pointer: Pointer
  /** Sub-schemas and the targets of references; a reference speaks about the same value. */
  readonly leadsTo: readonly Part[]
  /** Where its references start from. */
  readonly resource: Resource
}

/** Walks a schema iteratively, following references also into places that are no known keyword. Expects 2020-12. */
export function schemaGraph(root: JsonSchema, names: Names = collectNames(root)): SchemaGraph {
  const graph = new Map<SchemaObject, SchemaNode>()
  if (typeof root === 'boolean') return graph
  const stack: Visit[] = [{ schema: root, pointer: '', applies: 'here', resource: names.root }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (graph.has(visit.schema)) continue
    const resource = names.resourceOf(visit.schema) ?? visit.resource
    const leadsTo: Visit[] = partsOf(visit.schema, visit.pointer).map((part) => ({ ...part, resource }))
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
    const target = names.resolve(ref, names.resourceOf(schema) ?? names.root)
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
          hint: 'References must stay inside the schema: put the target into its "$defs"',
        },
      )
    }
  }
  const [twin] = names.twins
  if (twin === undefined) return
  throw new ProvisoError(
    'schema/invalid',
    `The schema at ${twin.pointer} has the $id ${clip(twin.resource.uri)}, which already exists in it`,
    { at: { pointer: child(twin.pointer, '$id') } },
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
      hint: 'A recursive schema must go through properties or items before it refers back',
    },
  )
}

/** Whether a schema leads back to itself through the value, so that validating goes as deep as the value does. */
function isRecursive(graph: SchemaGraph): boolean {
  return postOrder(graph, [...graph.keys()], (part) => part.applies !== 'never').loop !== undefined
}

/** How many times the schemas that there are a validator may visit before verdicts are worth remembering. */
const repeatsAllowed = 8

/** Whether one value may be judged by the same schema again and again: a recursive schema, or definitions that several alternatives share. */
export function isRepetitive(graph: SchemaGraph): boolean {
  const [root] = graph.keys()
  if (root === undefined) return false
  return isRecursive(graph) || expandedSize(graph, root) > repeatsAllowed * graph.size
}

/** How many schemas a validator may visit when every reference is unfolded once; a recursive reference counts as one. */
export function expandedSize(graph: SchemaGraph, root: SchemaObject): number {
  const sizes = new Map<SchemaObject, number>()
  const applied = (part: Part) => part.applies !== 'never'
  for (const schema of postOrder(graph, [root], applied).order) {
    let size = 1
    for (const part of graph.get(schema)?.leadsTo ?? [])
      if (applied(part)) size += sizes.get(part.schema) ?? 1
    sizes.set(schema, size)
  }
  return sizes.get(root) ?? 1
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
