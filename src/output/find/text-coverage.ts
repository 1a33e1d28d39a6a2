/** Measures how much of a text a value accounts for: decides between a whole and a part of it when both are valid. */
import { isObject } from '../../base/json.ts'
import type { Attempt } from './attempt.ts'

/** Whether the whole has at least as many values under declared keys as the part; then the part is not the answer. */
export function explainsMore(whole: Attempt, part: Attempt, declared: ReadonlySet<string>): boolean {
  if (!whole.valid || whole.changes.some(({ rule }) => rule === 'json->str' || rule === 'wrap')) return false
  const kept = explained(whole.plain, declared)
  return kept > 0 && kept >= explained(part.plain, declared)
}

/** Number of scalars in a list, or under the declared keys of an object. */
function explained(value: unknown, declared: ReadonlySet<string>): number {
  let leaves = 0
  const stack: unknown[] = isObject(value)
    ? Object.entries(value).flatMap(([key, member]) =>
        declared.size === 0 || declared.has(key) ? [member] : [],
      )
    : [value]
  while (stack.length > 0) {
    const at = stack.pop()
    if (typeof at !== 'object' || at === null) leaves++
    else for (const inner of Object.values(at)) stack.push(inner)
  }
  return leaves
}
