/** Cuts a text into pieces by the notes that cover them, and leaves out what is far from any note. */
import { limits } from './limits.ts'
import type { Note, Segment } from './messages.ts'

/** A note of a later kind hides one of an earlier kind where they overlap. */
const order: readonly Note['kind'][] = ['extract', 'text', 'value', 'issue']

/** Sweeps over the ends of all notes: between two of them the same notes hold. */
export function toSegments(text: string, notes: readonly Note[]): Segment[] {
  const inText = notes.filter(({ where }) => where === 'text')
  const starting = groupByStart(inText)
  const cuts = [...new Set([0, text.length, ...inText.flatMap(({ range }) => [...range])])].sort(
    (a, b) => a - b,
  )
  const keep = Math.max(40, Math.floor(limits.text / (cuts.length * 2)))
  const segments: Segment[] = []
  let open: readonly Note[] = []
  for (const [at, start] of cuts.entries()) {
    const begun = starting.get(start) ?? []
    for (const note of begun) {
      if (note.inserted !== undefined) {
        segments.push({ text: note.inserted, kind: 'inserted', title: titleOf(note) })
      }
    }
    open = [...open, ...begun].filter(({ range }) => range[1] > start)
    const top = open.reduce<Note | undefined>((best, note) => (hides(best, note) ? best : note), undefined)
    const part = text.slice(start, cuts[at + 1] ?? start)
    segments.push(...shorten(part, keep, top && { kind: top.kind, title: titleOf(top) }))
  }
  return segments
}

function hides(best: Note | undefined, note: Note): boolean {
  return best !== undefined && order.indexOf(best.kind) > order.indexOf(note.kind)
}

function titleOf({ title, detail }: Note): string {
  return `${title}: ${detail}`
}

function groupByStart(notes: readonly Note[]): Map<number, Note[]> {
  const groups = new Map<number, Note[]>()
  for (const note of notes) {
    const group = groups.get(note.range[0])
    if (group) group.push(note)
    else groups.set(note.range[0], [note])
  }
  return groups
}

/** A long piece keeps its beginning and its end. */
function shorten(text: string, keep: number, look: Omit<Segment, 'text'> = {}): Segment[] {
  if (text.length <= keep * 2 + 40) return text === '' ? [] : [{ text, ...look }]
  return [
    { text: text.slice(0, keep), ...look },
    { text: ` … ${text.length - keep * 2} characters … `, kind: 'skipped' },
    { text: text.slice(-keep), ...look },
  ]
}
