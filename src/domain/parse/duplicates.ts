/** Checks lists for duplicate names. */
import type { Issue } from '../../base/errors/issue.ts'
import type { Pointer } from '../../base/pointer.ts'

/** Returns one issue per repeated name; `pointer` locates the name with a given index. */
export function repeatIssues(
  names: readonly string[],
  what: string,
  { code, pointer }: { readonly code: string; readonly pointer: (index: number) => Pointer },
): Issue[] {
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
