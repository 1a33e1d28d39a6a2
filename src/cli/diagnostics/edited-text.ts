/** Applies the recorded edits to a text, and maps ranges of the edited text back to ranges of the original (a source map). */
import type { TextRange } from '../../base/errors/issue.ts'
import type { Repair } from '../../output/index.ts'

export interface EditedText {
  readonly text: string
  /** The range that each edit produced in the edited text, in text order; empty for a removal. */
  readonly edits: readonly { readonly repair: Repair; readonly range: TextRange }[]
  /** Maps a range of the edited text to the original. Text that an edit produced maps to everything that the edit replaced. */
  readonly toOriginal: (start: number, end: number) => TextRange
}

/** A sequence of characters: copied one by one, or produced as a whole by an edit. */
interface Segment {
  readonly start: number
  readonly end: number
  readonly from: TextRange
  readonly isCopy: boolean
}

/** Returns `undefined` when the edits overlap, because then they do not form one change. */
export function editText(raw: string, repairs: readonly Repair[]): EditedText | undefined {
  const segments: Segment[] = []
  const edits: { repair: Repair; range: TextRange }[] = []
  let [length, done] = [0, 0]
  const add = (size: number, from: TextRange, isCopy: boolean) => {
    if (size > 0) segments.push({ start: length, end: length + size, from, isCopy })
    length += size
  }
  const parts: string[] = []
  for (const { repair, span } of inOrder(repairs)) {
    const [start, end] = span
    if (start < done) return undefined
    add(start - done, [done, start], true)
    const text = repair.after === undefined ? '' : String(repair.after)
    edits.push({ repair, range: [length, length + text.length] })
    add(text.length, span, false)
    parts.push(raw.slice(done, start), text)
    done = end
  }
  add(raw.length - done, [done, raw.length], true)
  parts.push(raw.slice(done))
  return { text: parts.join(''), edits, toOriginal: (start, end) => originalRange(segments, start, end) }
}

/** Sorts edits by position. Insertions at one offset keep their order and come before a replacement that starts there. */
function inOrder(repairs: readonly Repair[]) {
  return repairs
    .flatMap((repair) => ('span' in repair.at ? [{ repair, span: repair.at.span }] : []))
    .sort((a, b) => a.span[0] - b.span[0] || a.span[1] - b.span[1])
}

function originalRange(segments: readonly Segment[], start: number, end: number): TextRange {
  const first = segments[segmentAt(segments, start)]
  const last = segments[segmentAt(segments, Math.max(start, end - 1))]
  if (first === undefined || last === undefined) return [0, 0]
  const from = first.from[0] + (first.isCopy ? start - first.start : 0)
  const to = last.isCopy ? last.from[0] + end - last.start : last.from[1]
  return [from, Math.max(from, to)]
}

/** Binary search for the segment that holds the character at an offset. */
function segmentAt(segments: readonly Segment[], offset: number): number {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((segments[middle]?.start ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
