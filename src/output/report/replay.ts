/**
 * Applies recorded repairs to the raw text again, to verify that a result is exactly the text plus its repairs. Called
 * by tests and by audits of stored results.
 */
import { isObject, own, setOwn } from '../../base/json.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'
import type { Repair } from '../types.ts'

/**
 * Applies text repairs first: they are edits of the original text and result in strict JSON. Then applies value repairs
 * in order. Throws an `Error` if the repairs do not belong to the text, or if `limits.repairs` truncated the list.
 *
 * @example
 * replay(result.raw, result.repairs) // deep-equals result.value
 */
export function replay(raw: string, repairs: readonly Repair[]): unknown {
  const whole = repairs.find((repair) => repair.rule === 'text-is-value')
  let value = whole ? copy(whole.after) : parseEdited(editText(raw, repairs))
  for (const repair of repairs) {
    if ('pointer' in repair.at) value = changeValue(value, repair, repair.at.pointer)
  }
  return value
}

interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Insertions at one offset keep their order and come before a replacement that starts there. */
function editText(raw: string, repairs: readonly Repair[]): string {
  const edits: TextEdit[] = repairs
    .flatMap(({ at, after }) =>
      'span' in at
        ? [{ start: at.span[0], end: at.span[1], text: after === undefined ? '' : String(after) }]
        : [],
    )
    .sort((a, b) => a.start - b.start || a.end - b.end)
  const chunks: string[] = []
  let done = 0
  for (const { start, end, text } of edits) {
    if (start < done)
      throw new Error(`Cannot replay: the edit at ${start}–${end} overlaps one that ends at ${done}`)
    if (end < start || end > raw.length) throw new Error(`Cannot replay: text at ${start}–${end} not found`)
    chunks.push(raw.slice(done, start), text)
    done = end
  }
  return chunks.join('') + raw.slice(done)
}

function parseEdited(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error('Cannot replay: the edited text is not strict JSON; some repairs may not be listed', {
      cause,
    })
  }
}

/** Changes the value in place and returns the root; a change at `''` replaces the root. */
function changeValue(value: unknown, { rule, after }: Repair, pointer: Pointer): unknown {
  const removes = after === undefined || rule === 'drop-key'
  const path = tokens(pointer)
  const last = path.pop()
  if (last === undefined) return removes ? undefined : copy(after)
  const parent = path.reduce((at, token) => stepInto(at, token, pointer), value)
  if (Array.isArray(parent)) {
    const index = indexIn(parent, last)
    if (index === undefined || (removes && index === parent.length)) throw unresolved(pointer)
    parent.splice(index, 1, ...(removes ? [] : [copy(after)]))
    return value
  }
  if (!isObject(parent)) throw unresolved(pointer)
  if ((removes || rule === 'key') && !Object.hasOwn(parent, last)) throw unresolved(pointer)
  if (removes) delete parent[last]
  else if (rule === 'key') rename(parent, last, String(after))
  else setOwn(parent, last, copy(after))
  return value
}

function stepInto(at: unknown, token: string, pointer: Pointer): unknown {
  if (Array.isArray(at)) {
    const index = indexIn(at, token)
    if (index !== undefined && index < at.length) return at[index]
  } else if (isObject(at) && Object.hasOwn(at, token)) return own(at, token)
  throw unresolved(pointer)
}

/** An index of the list, or its length, which appends an item. */
function indexIn(list: readonly unknown[], token: string): number | undefined {
  const index = /^(?:0|[1-9]\d*)$/.test(token) ? Number(token) : Number.NaN
  return index <= list.length ? index : undefined
}

/** Renames a member and keeps its position; it replaces a member that already has the new name. */
function rename(object: Record<string, unknown>, from: string, to: string): void {
  const members = Object.entries(object).filter(([name]) => name !== to || from === to)
  for (const name of Object.keys(object)) delete object[name]
  for (const [name, member] of members) setOwn(object, name === from ? to : name, member)
}

/** Deep copy, so that later changes of the value do not alter the repairs. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (!isObject(value)) return value
  const copied = {}
  for (const [name, member] of Object.entries(value)) setOwn(copied, name, copy(member))
  return copied
}

function unresolved(pointer: Pointer): Error {
  return new Error(`Cannot replay: the pointer "${pointer}" leads nowhere in the value`)
}
