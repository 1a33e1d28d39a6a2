/** Renders the changes of a fix as a unified diff that `patch` accepts. */
import { createTwoFilesPatch } from 'diff'

export function unifiedDiff(name: string, before: string, after: string): string {
  if (before === after) return ''
  const patch = createTwoFilesPatch(`${name}.orig`, name, before, after, undefined, undefined, {
    context: 3,
    // Otherwise CRLF lines would show as changed, or lose their carriage return.
    stripTrailingCr: false,
  })
  // Remove the separator line of equals signs: it is not part of the unified format.
  return patch.replace(/^=+\n/, '')
}
