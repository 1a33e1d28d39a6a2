/** Splices edits into a text by range: every byte that no edit names stays as it is. */
import type { Edit } from '../base/issue.ts'

/** Edits of one fix. Equal edits count once, because a place that is reached through two aliases is one place. */
export function applyEdits(text: string, edits: readonly Edit[]): string | undefined {
  const ordered = inOrder(edits)
  let result = ''
  let at = 0
  for (const { span, text: put } of ordered) {
    // Two edits of one place contradict each other: nothing is better than something that nobody meant.
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
