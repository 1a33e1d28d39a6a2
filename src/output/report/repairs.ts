/** Builds the public list of repairs from edits and changes, lazily on first read (DECISIONS 2). */
import { jsonEqual } from '../../base/json.ts'
import type { ValueChange } from '../coerce/record.ts'
import { parseQuietly } from '../decode/quick-strict.ts'
import type { TextEdit } from '../decode/tree/tree.ts'
import type { Attempt } from '../find/attempt.ts'
import { rules } from '../rules.ts'
import type { Repair } from '../types.ts'

/** A change made by a custom stage. */
export interface CustomChange {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

export interface Made {
  readonly region: Pick<Attempt['region'], 'start' | 'end' | 'value'>
  readonly edits: readonly TextEdit[]
  readonly changes: readonly ValueChange[]
  readonly custom: readonly CustomChange[]
}

/** The edits, if they lead to the value that was read; otherwise one edit that replaces the whole region. */
function proven(text: string, made: Made): readonly TextEdit[] {
  const [first] = made.edits
  if (first === undefined || first.rule === 'text-is-value' || leadsTo(text, made.edits, made.region.value))
    return made.edits
  const { start, end, value } = made.region
  const inside = made.edits.filter((edit) => edit.rule !== 'surroundings')
  const rule = inside[0]?.rule ?? 'stray-text'
  const around = made.edits.filter((edit) => edit.rule === 'surroundings')
  return [...around, { rule, start, end, after: { value } }].sort((a, b) => a.start - b.start)
}

function leadsTo(text: string, edits: readonly TextEdit[], value: unknown): boolean {
  let edited = ''
  let at = 0
  for (const edit of edits) {
    if (edit.start < at) return false
    edited += text.slice(at, edit.start)
    edited += typeof edit.after === 'string' ? edit.after : JSON.stringify(edit.after.value)
    at = edit.end
  }
  const read = parseQuietly(edited + text.slice(at))
  return read !== undefined && jsonEqual(read.value, value)
}

/** All changes from the text to the value, in the order of application. */
export function madeBy(text: string, attempt: Attempt, custom: readonly CustomChange[]): Made {
  return { region: attempt.region, edits: settled(text, attempt), changes: attempt.changes, custom }
}

export function countRepairs(made: Made): number {
  return made.edits.length + made.changes.length + made.custom.length
}

/** The first `limit` repairs: the list may be long. */
export function materialise(text: string, made: Made, limit: number): Repair[] {
  const edits = proven(text, made).slice(0, limit)
  const changes = made.changes.slice(0, limit - edits.length)
  const custom = made.custom.slice(0, limit - edits.length - changes.length)
  return [
    ...edits.map(({ rule, start, end, after }): Repair => {
      const isText = rule === 'text-is-value'
      return {
        stage: rules[rule].stage,
        rule,
        at: { span: [start, end] },
        before: text.slice(start, end),
        after: typeof after === 'string' ? after : isText ? String(after.value) : JSON.stringify(after.value),
      }
    }),
    ...changes.map(
      ({ rule, pointer, before, after }): Repair => ({
        stage: rules[rule].stage,
        rule,
        at: { pointer },
        before,
        after,
      }),
    ),
    ...custom.map(
      ({ name, before, after }): Repair => ({
        stage: 'custom',
        rule: name,
        at: { pointer: '' },
        before,
        after,
      }),
    ),
  ]
}

/** The edits in text order, with the surroundings cut away and without edits inside a range that is itself replaced. */
function settled(text: string, attempt: Attempt): TextEdit[] {
  const { start, end } = attempt.region
  const edits = [...attempt.region.edits]
  for (const [from, to] of [
    [0, start],
    [end, text.length],
  ] as const)
    if (hasInk(text, from, to)) edits.push({ rule: 'surroundings', start: from, end: to, after: '' })
  // Insertions first, then the widest replacement, which covers the edits inside it.
  edits.sort(
    (a, b) => a.start - b.start || Number(a.end > a.start) - Number(b.end > b.start) || b.end - a.end,
  )
  const kept: TextEdit[] = []
  let until = -1
  for (const edit of edits) {
    if (edit.start < until) continue
    kept.push(edit)
    until = Math.max(until, edit.end)
  }
  return kept
}

/** Whether the range contains anything but JSON white space. */
function hasInk(text: string, start: number, end: number): boolean {
  return /[^ \n\r\t]/.test(text.slice(start, end))
}
