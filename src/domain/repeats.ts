/** Names that must be unique, in every noun that has a list of them. */
import type { Issue } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'

/** One issue for each name that was there before; `pointer` says where the name with that index stands. */
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
