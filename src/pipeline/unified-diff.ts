/** What a fix would change, as a unified diff that `patch` takes. */
import { createTwoFilesPatch } from 'diff'

export function unifiedDiff(name: string, before: string, after: string): string {
  if (before === after) return ''
  const patch = createTwoFilesPatch(`${name}.orig`, name, before, after, undefined, undefined, {
    context: 3,
    // Otherwise lines that end in CRLF would look changed, or lose the mark of it.
    stripTrailingCr: false,
  })
  // The line of equals signs before the head belongs to no diff that `patch` writes.
  return patch.replace(/^=+\n/, '')
}
