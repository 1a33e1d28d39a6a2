/** Names inside one schema: `$id`, `$anchor`, `$dynamicAnchor`, and what a reference leads to. Expects 2020-12. */
import { isObject, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listSubschemas, type SchemaObject } from '../keywords.ts'
import { decodeFragment } from '../local-reference.ts'

/** A schema with a base URI of its own: the root, and every schema with an `$id`. */
export interface Resource {
  readonly uri: string
  readonly root: JsonSchema
  readonly pointer: Pointer
  readonly anchors: Map<string, Target>
  /** Schemas by their `$dynamicAnchor`. */
  readonly dynamic: Map<string, Target>
}

interface Target {
  readonly schema: JsonSchema
  readonly pointer: Pointer
  readonly resource: Resource
}

export interface Names {
  readonly root: Resource
  /** The resource that a schema object is part of; `undefined` below a keyword that holds no schemas. */
  findResource(schema: Readonly<SchemaObject>): Resource | undefined
  /** What a reference leads to; `undefined` when it leads nowhere. */
  resolve(ref: string, from: Resource): Target | undefined
  /** Two schemas claim the same URI. */
  readonly duplicates: readonly Target[]
}

/** References without a base of their own start here. */
const rootBase = 'proviso:///root'

interface NamesOptions {
  /** Further documents by URI. */
  readonly others?: ReadonlyMap<string, JsonSchema>
  /** False when no schema has a name of its own: everything is part of the root then, and nothing is walked. Default true. */
  readonly hasNames?: boolean
}

export function collectNames(root: JsonSchema, { others, hasNames = true }: NamesOptions = {}): Names {
  const collected = new Collected(hasNames)
  const main = collected.add(root, rootBase)
  for (const [uri, document] of others ?? []) collected.add(document, uri)
  return {
    root: main,
    duplicates: collected.duplicates,
    findResource: (schema) => collected.owners.get(schema),
    resolve: (ref, from) => resolve(collected, ref, from),
  }
}

class Collected {
  readonly resources = new Map<string, Resource>()
  readonly owners = new Map<Readonly<SchemaObject>, Resource>()
  readonly duplicates: Target[] = []
  readonly #hasNames: boolean

  constructor(hasNames: boolean) {
    this.#hasNames = hasNames
  }

  /** Takes in a document under the URI it was asked for by, and under its own `$id`. */
  add(document: JsonSchema, uri: string): Resource {
    const id = isObject(document) ? own(document, '$id') : undefined
    const first = this.#open(document, (typeof id === 'string' ? absolute(id, uri) : undefined) ?? uri, '')
    this.resources.set(uri, first)
    if (!isObject(document) || !this.#hasNames) return first
    const stack = [{ schema: document as SchemaObject, pointer: '', resource: first }]
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      const { schema, pointer } = visit
      const resource = this.#enter(schema, pointer, visit.resource)
      this.owners.set(schema, resource)
      for (const part of listSubschemas(schema, pointer))
        stack.push({ schema: part.schema, pointer: part.pointer, resource })
    }
    return first
  }

  /** Takes the names of one schema. */
  #enter(schema: SchemaObject, pointer: Pointer, outer: Resource): Resource {
    const id = schema === outer.root ? undefined : own(schema, '$id')
    const uri = typeof id === 'string' ? absolute(id, outer.uri) : undefined
    const resource = uri === undefined ? outer : this.#open(schema, uri, pointer)
    const target = { schema, pointer, resource }
    const anchor = own(schema, '$anchor')
    if (typeof anchor === 'string') resource.anchors.set(anchor, target)
    const dynamic = own(schema, '$dynamicAnchor')
    if (typeof dynamic === 'string') {
      resource.anchors.set(dynamic, target)
      resource.dynamic.set(dynamic, target)
    }
    return resource
  }

  #open(root: JsonSchema, uri: string, pointer: Pointer): Resource {
    const name = uri.replace(/#.*$/, '')
    const resource: Resource = { uri: name, root, pointer, anchors: new Map(), dynamic: new Map() }
    const before = this.resources.get(name)
    if (before === undefined) this.resources.set(name, resource)
    else if (before.root !== root) this.duplicates.push({ schema: root, pointer, resource })
    return resource
  }
}

function resolve(collected: Collected, ref: string, from: Resource): Target | undefined {
  const isLocal = ref.startsWith('#')
  const uri = isLocal ? ref : absolute(ref, from.uri)
  if (uri === undefined) return undefined
  const resource = isLocal ? from : collected.resources.get(uri.replace(/#.*$/, ''))
  if (resource === undefined) return undefined
  const fragment = uri.includes('#') ? decodeFragment(uri) : ''
  // Ajv reads `#/` as the root, although strictly it names the member with the empty name.
  if (fragment === '' || fragment === '/')
    return { schema: resource.root, pointer: resource.pointer, resource }
  if (!fragment.startsWith('/')) return resource.anchors.get(fragment)
  return follow(collected, resource, fragment)
}

/** Walks a JSON pointer; a schema with an `$id` on the way is a resource of its own. */
function follow(collected: Collected, start: Resource, fragment: string): Target | undefined {
  let node: unknown = start.root
  let pointer = start.pointer
  let resource = start
  for (const part of fragment.slice(1).split('/')) {
    const token = part.replaceAll('~1', '/').replaceAll('~0', '~')
    node = typeof node === 'object' && node !== null ? own(node, token) : undefined
    pointer = child(pointer, token)
    if (isObject(node)) resource = collected.owners.get(node) ?? resource
  }
  if (typeof node === 'boolean' || isObject(node)) return { schema: node, pointer, resource }
  return undefined
}

function absolute(ref: string, base: string): string | undefined {
  try {
    return new URL(ref, base).href
  } catch {
    return undefined
  }
}
