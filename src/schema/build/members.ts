/** The properties that a schema names at its root, and which of them it requires. */
import { isObject } from '../../base/json.ts'
import type { JsonSchema } from '../json-schema.ts'
import { type Held, hold, listOf, openNode, recordOf } from '../values/schema-node.ts'

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
