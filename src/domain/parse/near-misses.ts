/** Finds misspelled keys in free objects, so that a misspelled limit or gate is not ignored silently. */

import { closest } from '../../base/closest.ts'
import { isObject } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import type { ParseIssue } from './issue-table.ts'

/** Every key beginning like this is meant as a limit. */
const looksLikeLimit = /^max[A-Z_]/

export function nearMisses(given: unknown, known: readonly string[], at: Pointer): ParseIssue[] {
  if (!isObject(given)) return []
  return Object.keys(given).flatMap((key): ParseIssue[] => {
    if (known.includes(key)) return []
    const meant = closest(key, known) ?? completed(key, known)
    const isLimit = looksLikeLimit.test(key) && known.some((name) => looksLikeLimit.test(name))
    if (meant === undefined && !isLimit) return []
    return [
      {
        code: 'schema/additionalProperties',
        at: { pointer: child(at, key) },
        message: `the property ${JSON.stringify(key.slice(0, 80))} is not known and would have no effect`,
        hint:
          meant === undefined
            ? `There are ${known.filter((name) => looksLikeLimit.test(name)).join(', ')}`
            : `Did you mean ${JSON.stringify(meant)}?`,
      },
    ]
  })
}

/** Returns the known name that a key is a prefix of, or that is a prefix of the key: `maxCost` for `maxCostUsd`. */
function completed(key: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '')
  return key.length < 6 ? undefined : known.find((name) => plain(name).startsWith(plain(key)))
}
