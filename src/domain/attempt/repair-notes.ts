/** Repairs of the reader as stored in the journal, and which of them concern one part of a value. */
import type { Pointer } from '../../base/pointer.ts'
import type { Repair } from '../../output/index.ts'
import type { RepairNote } from '../output.ts'

/** Maximum number of stored repairs. They are provenance, not evidence: beyond this, see the raw text. */
const mostNotes = 100

export function repairNotes(repairs: readonly Repair[]): RepairNote[] {
  return repairs
    .slice(0, mostNotes)
    .map(({ stage, rule, at }) => ({ stage, rule, ...('pointer' in at && { pointer: at.pointer }) }))
}

/** Those of the part, of what is in it and of what it is in; a repair without a pointer is of the whole text. */
export function notesAbout(notes: readonly RepairNote[], part: Pointer): RepairNote[] {
  return notes.filter(
    ({ pointer }) => pointer === undefined || isWithin(pointer, part) || isWithin(part, pointer),
  )
}

function isWithin(inner: Pointer, outer: Pointer): boolean {
  return inner === outer || inner.startsWith(`${outer}/`)
}
