/** Checks lists for duplicate names. */

import type { Pointer } from '../../base/pointer.ts'
import type { ParseIssue, ParseIssueCode } from './issue-table.ts'

/** Returns one issue per repeated name; `pointer` locates the name with a given index. */
export function repeatIssues(
  names: readonly string[],
  what: string,
  { code, pointer }: { readonly code: ParseIssueCode; readonly pointer: (index: number) => Pointer },
): ParseIssue[] {
  const seen = new Set<string>()
  return names.flatMap((name, index) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const message = `the ${what} ${JSON.stringify(name.slice(0, 80))} is there twice`
    return [{ code, at: { pointer: pointer(index) }, message, hint: 'Remove or rename one' }]
  })
}
