/** Follows references inside one schema: finds circles that would never end, and how large a schema is when unfolded. */
import { ProvisoError } from '../base/error.ts'
import { isObject, own } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import type { JsonSchema } from './json-schema.ts'
import { type Part, partsOf, referenceKeywords, type SchemaObject } from './keywords.ts'

/** Every schema object that can be reached, with its place and what it leads to. */
export type SchemaGraph = ReadonlyMap<SchemaObject, SchemaNode>

export interface SchemaNode {
  readonly pointer: Pointer
  /** Sub-schemas and the targets of references; a reference speaks about the same value. */
  readonly leadsTo: readonly Part[]
}

/** Walks a schema iteratively, following references also into places that are no known keyword. */
export function schemaGraph(root: JsonSchema): SchemaGraph {
  const graph = new Map<SchemaObject, SchemaNode>()
  if (typeof root === 'boolean') return graph
  const names = collectNames(root)
  const stack: Part[] = [{ schema: root, pointer: '', applies: 'here' }]
  for (let part = stack.pop(); part !== undefined; part = stack.pop()) {
    if (graph.has(part.schema)) continue
    const leadsTo = partsOf(part.schema, part.pointer)
    for (const keyword of referenceKeywords) {
      const target = resolve(names, own(part.schema, keyword), names.bases.get(part.schema) ?? rootBase)
      if (target !== undefined) leadsTo.push({ ...target, applies: 'here' })
    }
    graph.set(part.schema, { pointer: part.pointer, leadsTo })
    for (let i = leadsTo.length - 1; i >= 0; i--) stack.push(leadsTo[i] as Part)
  }
  return graph
}

/** Finds the target of a `$ref` inside one schema, for walkers of their own; what is not an object is not found. */
export function referenceResolver(root: JsonSchema): (schema: SchemaObject) => SchemaObject | undefined {
  let names: Names | undefined
  return (schema) => {
    if (typeof root === 'boolean') return undefined
    names ??= collectNames(root)
    return resolve(names, own(schema, '$ref'), names.bases.get(schema) ?? rootBase)?.schema
  }
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
export function isRecursive(graph: SchemaGraph): boolean {
  return postOrder(graph, [...graph.keys()], (part) => part.applies !== 'never').loop !== undefined
}

/** Where the schema names a target that Ajv could not find; the absolute URI is Ajv's, the relative one the author's. */
export function placeOfReference(graph: SchemaGraph, missing: string): Pointer | undefined {
  for (const [schema, { pointer }] of graph) {
    for (const keyword of referenceKeywords) {
      const ref = own(schema, keyword)
      if (typeof ref === 'string' && missing.endsWith(ref)) return child(pointer, keyword)
    }
  }
  return undefined
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

interface Target {
  readonly schema: SchemaObject
  readonly pointer: Pointer
}

interface Names {
  /** Schemas by absolute URI; anchors as `uri#anchor`. */
  readonly targets: ReadonlyMap<string, Target>
  /** The base URI that references in a schema start from. */
  readonly bases: ReadonlyMap<SchemaObject, string>
}

const rootBase = 'proviso:///root'

/** `$id` and `$anchor` may stand anywhere below the root, also under keywords we do not know. */
function collectNames(root: SchemaObject): Names {
  const targets = new Map<string, Target>([[rootBase, { schema: root, pointer: '' }]])
  const bases = new Map<SchemaObject, string>()
  const stack: { readonly value: unknown; readonly pointer: Pointer; readonly base: string }[] = []
  stack.push({ value: root, pointer: '', base: rootBase })
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { value, pointer } = visit
    if (typeof value !== 'object' || value === null) continue
    let base = visit.base
    if (isObject(value)) {
      const id = own(value, '$id')
      if (typeof id === 'string') {
        const uri = absolute(id, base) ?? base
        targets.set(uri.replace(/#$/, ''), { schema: value, pointer })
        base = uri.replace(/#.*$/, '')
      }
      for (const keyword of ['$anchor', '$dynamicAnchor']) {
        const anchor = own(value, keyword)
        if (typeof anchor === 'string') targets.set(`${base}#${anchor}`, { schema: value, pointer })
      }
      bases.set(value, base)
    }
    for (const [key, member] of Object.entries(value))
      stack.push({ value: member, pointer: child(pointer, key), base })
  }
  return { targets, bases }
}

function resolve(names: Names, ref: unknown, base: string): Target | undefined {
  const uri = typeof ref === 'string' ? absolute(ref, base) : undefined
  if (uri === undefined) return undefined
  const hash = uri.indexOf('#')
  const document = hash < 0 ? uri : uri.slice(0, hash)
  const fragment = hash < 0 ? '' : uri.slice(hash + 1)
  // Ajv takes `#/` for the root, although strictly it names the member with the empty name.
  if (fragment === '/') return names.targets.get(document)
  if (!fragment.startsWith('/')) return names.targets.get(fragment === '' ? document : uri)
  const start = names.targets.get(document)
  if (start === undefined) return undefined
  let node: unknown = start.schema
  let pointer = start.pointer
  for (const part of fragment.slice(1).split('/')) {
    const token = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    node = typeof node === 'object' && node !== null ? own(node, token) : undefined
    pointer = child(pointer, token)
  }
  return isObject(node) ? { schema: node, pointer } : undefined
}

function absolute(ref: string, base: string): string | undefined {
  try {
    return new URL(ref, base).href
  } catch {
    return undefined
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
