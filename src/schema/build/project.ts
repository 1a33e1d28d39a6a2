/** Parts of schemas: the members of an object schema, and the schema of a part of its values as one of its own. */

import { isObject } from '../../base/json.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'
import { indexPattern } from '../condition/evaluate.ts'
import type { JsonSchema } from '../json-schema.ts'
import { type Held, hold, itemOf, listOf, memberOf, openNode, recordOf } from '../values/schema-node.ts'
import { addDefinition, both, isOpen } from './combine.ts'

export interface Projection {
  readonly schema: JsonSchema
  /** False when the part may be narrower than the schema says, because other parts of the value bear on it. */
  readonly exact: boolean
}

export function project(schema: JsonSchema, pointer: Pointer): Projection {
  const path = tokens(pointer)
  return path.length === 0 ? { schema, exact: true } : walk([hold(schema)], path)
}

/** Keywords that describe a member independently of its neighbours. */
const local = new Set(
  'type properties required additionalProperties items prefixItems minItems maxItems allOf $ref $defs definitions $id $schema title description default examples'.split(
    ' ',
  ),
)

function walk(held: readonly Held[], path: readonly string[]): Projection {
  const [token, ...rest] = path
  if (token === undefined) return { schema: held.map(standalone).reduce(both, true), exact: true }
  const { parts, unions, impossible } = openNode([], held)
  if (impossible) return { schema: false, exact: true }
  const member = memberOf(parts, token)
  const items = indexPattern.test(token) ? itemOf(parts, Number(token)) : []
  const inside = member.forbidden ? { schema: false, exact: true } : walk([...member.held, ...items], rest)
  const schema = unions.reduce((all, { branches }) => {
    const each = branches.map((branch) => walk([branch], path).schema)
    return each.some(isOpen) ? all : both(all, { anyOf: each })
  }, inside.schema)
  const exact =
    inside.exact &&
    unions.length === 0 &&
    parts.every((part) => Object.keys(part.schema).every((keyword) => local.has(keyword)))
  return { schema, exact }
}

/** A part with what it refers to: the whole document goes along under a name of its own. */
function standalone({ schema, scope }: Held): JsonSchema {
  if (typeof schema !== 'object' || schema === null) return schema === true
  const $defs: Record<string, JsonSchema> = {}
  const part = addDefinition(schema as JsonSchema, 'part', $defs)
  if (Object.keys($defs).length === 0 || schema === scope.root) {
    return Object.keys($defs).length === 0 ? part : (schema as JsonSchema)
  }
  const location = pointerTo(scope.root, schema)
  const root: Record<string, JsonSchema> = {}
  const whole = addDefinition(scope.root, 'whole', root) as { readonly $ref: string }
  return location === undefined ? true : { $ref: whole.$ref + location, $defs: root }
}

/** The location of an object in a document. */
function pointerTo(root: unknown, wanted: unknown): string | undefined {
  const queue: { readonly value: unknown; readonly at: string }[] = [{ value: root, at: '' }]
  for (const { value, at } of queue) {
    if (value === wanted) return at
    if (typeof value !== 'object' || value === null) continue
    for (const [key, held] of Object.entries(value)) {
      queue.push({
        value: held,
        at: `${at}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
      })
    }
  }
  return undefined
}

interface NamedMember {
  readonly name: string
  readonly required: boolean
}

/** In the order in which they are declared; those of union branches are named, but not required. */
export function membersOf(schema: JsonSchema): readonly NamedMember[] {
  const found = new Map<string, boolean>()
  const visit = (held: Held, certain: boolean, depth: number) => {
    const { parts, unions } = openNode([], [held])
    for (const { schema: part } of parts) {
      for (const name of Object.keys(recordOf(part, 'properties'))) found.set(name, found.get(name) ?? false)
      if (certain) for (const name of listOf(part, 'required')) found.set(String(name), true)
    }
    if (depth > 3) return
    for (const { branches } of unions) for (const branch of branches) visit(branch, false, depth + 1)
  }
  visit(hold(schema), true, 0)
  return [...found].map(([name, required]) => ({ name, required }))
}

/** Returns the properties that a schema requires at its root without describing them by name or by pattern. */
export function undescribedFields(schema: JsonSchema): readonly string[] {
  const described = new Set<string>()
  let describesAll = false
  const visit = (held: Held, depth: number) => {
    const { parts, unions } = openNode([], [held])
    for (const { schema: part } of parts) {
      for (const name of Object.keys(recordOf(part, 'properties'))) described.add(name)
      const hasPatterns = Object.keys(recordOf(part, 'patternProperties')).length > 0
      if (hasPatterns || isObject(part['additionalProperties'])) describesAll = true
    }
    if (depth > 3) return
    for (const { branches } of unions) for (const branch of branches) visit(branch, depth + 1)
  }
  visit(hold(schema), 0)
  if (describesAll) return []
  return membersOf(schema).flatMap(({ name, required }) => (required && !described.has(name) ? [name] : []))
}
