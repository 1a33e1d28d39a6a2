/** Whether a schema can have no value at all, as far as that can be seen: what facets in conflict come to. */
import type { JsonSchema } from '../json-schema.ts'
import { type Held, hold, itemOf, listOf, memberOf, openNode } from './schema-node.ts'
import { lookupIn, ownSet } from './schema-values.ts'
import { isAbsent, type ValueSet } from './value-set.ts'

/** True only when there is certainly no value. */
export function isVacant(schema: JsonSchema): boolean {
  return vacant([hold(schema)], 0)
}

/** The same of several schemas that all apply. */
export function isVacantTogether(held: readonly Held[]): boolean {
  return vacant(held, 0)
}

const deepest = 6

function vacant(held: readonly Held[], depth: number): boolean {
  if (isAbsent(lookupIn(held)([]))) return true
  const { parts, impossible } = openNode([], held)
  if (impossible) return true
  if (depth >= deepest) return false
  const set = ownSet(parts)
  if (onlyKind(set, 'objects')) {
    const names = new Set(parts.flatMap(({ schema }) => listOf(schema, 'required').map(String)))
    return [...names].some((name) => {
      const member = memberOf(parts, name)
      return member.forbidden || vacant(member.held, depth + 1)
    })
  }
  return onlyKind(set, 'lists') && (set.lists?.min ?? 0) > 0 && vacant(itemOf(parts, 0), depth + 1)
}

/** Nothing else than objects, or than lists, of which nothing more is known. */
function onlyKind(set: ValueSet, kind: 'objects' | 'lists'): boolean {
  if (set.known !== undefined || !set[kind]) return false
  return isAbsent(kind === 'objects' ? { ...set, objects: false } : { ...set, lists: undefined })
}
