/** Cuts a model's text into pieces for showing: what was kept, what reading removed, and what it put instead. */
import type { RepairNote } from '../fold/run-state.ts'
import { findAt, type Located } from './locate-values.ts'

export interface TextPiece {
  readonly text: string
  /** Position in the list of repairs; absent where the text was kept. */
  readonly repair?: number
  /** What is read instead of the text. */
  readonly after?: string
  /** The value that it belongs to. */
  readonly pointer?: string | undefined
}

/** Repairs with a range are cuts of their own; values that were converted are marked where they are in the text. */
export function cutText(
  raw: string,
  repairs: readonly RepairNote[],
  located: readonly Located[],
): readonly TextPiece[] {
  const cuts = repairs
    .map(({ range, after, pointer }, repair) => {
      if (range) return { start: range[0], end: range[1], after: after ?? '', repair }
      const place = located.find((each) => each.pointer === pointer && pointer !== '')
      return place ? { start: place.start, end: place.end, after: undefined, repair } : undefined
    })
    .filter((cut) => cut !== undefined)
    .sort((one, other) => one.start - other.start || other.end - one.end)
  const bounds = new Set([0, raw.length])
  for (const { start, end } of cuts) bounds.add(Math.min(start, raw.length)).add(Math.min(end, raw.length))
  for (const { start, end } of located) bounds.add(start).add(Math.min(end, raw.length))
  const order = [...bounds].sort((one, other) => one - other)
  return order.slice(0, -1).flatMap((start, index): TextPiece[] => {
    const end = order[index + 1] ?? raw.length
    // The innermost cut counts: a quoted key within a converted member.
    const inside = cuts.filter((cut) => cut.start <= start && end <= cut.end)
    const cut = inside.sort((one, other) => one.end - one.start - (other.end - other.start))[0]
    const text = raw.slice(start, end)
    if (text === '' && !cut?.after) return []
    const isLast = cut !== undefined && end === Math.min(cut.end, raw.length)
    return [
      {
        text,
        pointer: findAt(located, start, end),
        ...(cut && {
          repair: cut.repair,
          ...(cut.after !== undefined && { after: isLast ? cut.after : '' }),
        }),
      },
    ]
  })
}
