/** Converts offsets to positions of the Language Server Protocol: zero-based lines and UTF-16 characters, after a byte order mark. */
import type { TextRange } from '../../base/errors/issue.ts'

export interface Position {
  readonly line: number
  readonly character: number
}

export interface Range {
  readonly start: Position
  readonly end: Position
}

export function createRanges(text: string): (range: TextRange) => Range {
  const starts = lineStarts(text)
  const toPosition = (given: number): Position => {
    const offset = isInsideLineEnd(text, given) ? given - 1 : given
    const line = lineAt(starts, offset)
    // Editors remove the byte order mark, so the first line begins after it.
    return { line, character: Math.max(0, offset - (starts[line] as number)) }
  }
  return ([start, end]) => ({ start: toPosition(start), end: toPosition(end) })
}

/** A CRLF is one line end: no position lies between its two characters. */
function isInsideLineEnd(text: string, offset: number): boolean {
  return text[offset] === '\n' && text[offset - 1] === '\r'
}

function lineStarts(text: string): number[] {
  const starts = [text.startsWith('\ufeff') ? 1 : 0]
  for (const { index, 0: lineEnd } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + lineEnd.length)
  return starts
}

/** Binary search for the last line that starts at or before the offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] as number) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
