/** Builds the public list of repairs from edits and changes, lazily on first read (DECISIONS 2). */
import { jsonEqual } from '../../base/json.ts'
import type { ValueChange } from '../coerce/record.ts'
import { parseQuietly } from '../decode/quick-strict.ts'
import type { TextEdit } from '../decode/tree/tree.ts'
import type { Attempt } from '../find/attempt.ts'
import { type RuleName, rules } from '../rules.ts'
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

export function materialise(text: string, made: Made, limit: number): Repair[] {
  const repairs: Repair[] = []
  for (const edit of proven(text, made)) {
    if (repairs.length >= limit) return repairs
    repairs.push(textRepair(text, edit))
  }
  for (const change of made.changes) {
    if (repairs.length >= limit) return repairs
    const { stage } = rules[change.rule]
    repairs.push({
      stage,
      rule: change.rule,
      at: { pointer: change.pointer },
      before: change.before,
      after: change.after,
    })
  }
  for (const { name, before, after } of made.custom) {
    if (repairs.length >= limit) return repairs
    repairs.push({ stage: 'custom', rule: name, at: { pointer: '' }, before, after })
  }
  return repairs
}

function textRepair(text: string, edit: TextEdit): Repair {
  const after = typeof edit.after === 'string' ? edit.after : valueText(edit.rule, edit.after.value)
  return {
    stage: rules[edit.rule].stage,
    rule: edit.rule,
    at: { span: [edit.start, edit.end] },
    before: text.slice(edit.start, edit.end),
    after,
  }
}

function valueText(rule: RuleName, value: unknown): string {
  return rule === 'text-is-value' ? String(value) : JSON.stringify(value)
}

/** The edits in text order, with the surroundings cut away and without edits inside a range that is itself replaced. */
function settled(text: string, attempt: Attempt): TextEdit[] {
  const { start, end } = attempt.region
  const edits = [...attempt.region.edits]
  if (hasInk(text, 0, start)) edits.push({ rule: 'surroundings', start: 0, end: start, after: '' })
  if (hasInk(text, end, text.length))
    edits.push({ rule: 'surroundings', start: end, end: text.length, after: '' })
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
