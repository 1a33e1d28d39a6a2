/** Line differences of two texts by their longest common subsequence; long texts are compared by their ends only. */

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

const most = 600

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const a = before.split('\n')
  const b = after.split('\n')
  if (a.length > most || b.length > most) return compareEnds(a, b)
  // Lengths of common subsequences of the rests, from the end.
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] =
        a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i++]! })
      j++
    } else if (j >= b.length || (i < a.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      lines.push({ kind: 'removed', text: a[i++]! })
    else lines.push({ kind: 'added', text: b[j++]! })
  }
  return lines
}

function compareEnds(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const to = (kind: DiffLine['kind']) => (text: string) => ({ kind, text })
  return [
    ...a.slice(0, start).map(to('same')),
    ...a.slice(start, a.length - end).map(to('removed')),
    ...b.slice(start, b.length - end).map(to('added')),
    ...a.slice(a.length - end).map(to('same')),
  ]
}
