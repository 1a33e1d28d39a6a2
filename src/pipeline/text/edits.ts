/** Applies edits to a text by range; all other characters stay unchanged. */

import { createTwoFilesPatch } from 'diff'
import type { Edit } from '../../base/errors/issue.ts'

/** Applies the edits of one fix. Equal edits count once, because two aliases can lead to the same range. */
export function applyEdits(text: string, edits: readonly Edit[]): string | undefined {
  const ordered = inOrder(edits)
  let result = ''
  let at = 0
  for (const { span, text: put } of ordered) {
    // Overlapping edits contradict each other: reject them all.
    if (span[0] < at || span[1] < span[0] || span[1] > text.length) return undefined
    result += text.slice(at, span[0]) + put
    at = span[1]
  }
  return result + text.slice(at)
}

function inOrder(edits: readonly Edit[]): readonly Edit[] {
  const different = new Map(edits.map((edit) => [`${edit.span[0]}-${edit.span[1]}-${edit.text}`, edit]))
  return [...different.values()].sort((a, b) => a.span[0] - b.span[0] || a.span[1] - b.span[1])
}

// Renders the changes of a fix as a unified diff that `patch` accepts.

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
