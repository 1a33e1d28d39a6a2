/** `"rows": [["a", "b"], "c", "d"], ["e", "f"]]`: a row in the middle of a table that lost its opening bracket. */
import * as ch from './chars.ts'
import { type Answer, MORE, NO, QUESTION, REACH, skip, YES } from './lookahead.ts'
import { frameOf, LIST, type Machine, OBJECT } from './machine.ts'

/** Maximum distance from the row to the end of the table. */
const FARTHEST = 4 * REACH

/**
 * Whether plain values follow the list that closes at `d.i` inside another list, then a closing bracket, more lists,
 * and the bracket that closes them all. Read literally, the first bracket would end the table, the lists would be
 * values of an object without keys, and the last bracket would close nothing.
 */
export function rowFollows(d: Machine): Answer {
  const { stack } = d
  if (stack.length < 3 || stack[stack.length - 2]?.kind !== LIST || stack[stack.length - 3]?.kind !== OBJECT)
    return NO
  if (d.base + d.i < d.noRows) return NO
  const comma = skip(d, d.i + 1)
  if (comma === MORE) return MORE
  if (d.buf.charCodeAt(comma) !== ch.COMMA) return NO
  const first = skip(d, comma + 1)
  if (first === MORE) return MORE
  const limit = first + REACH
  d.looked += 8 * QUESTION
  let i = first
  for (;;) {
    i = scalarEnd(d.buf, i, limit)
    if (i < 0) return NO
    i = skip(d, i)
    if (i === MORE || (i >= d.buf.length && !d.final)) return MORE
    const c = d.buf.charCodeAt(i)
    if (c === ch.RBRACKET) return listAfter(d, i + 1)
    if (c !== ch.COMMA) return NO
    i = skip(d, i + 1)
    if (i === MORE) return MORE
  }
}

function listAfter(d: Machine, from: number): Answer {
  const comma = skip(d, from)
  if (comma === MORE) return MORE
  if (d.buf.charCodeAt(comma) !== ch.COMMA) return NO
  const list = skip(d, comma + 1)
  if (list === MORE) return MORE
  return d.buf.charCodeAt(list) === ch.LBRACKET ? tableCloses(d, list) : NO
}

/** Whether an unmatched closing bracket after `from` closes a list, with no member before it. */
function tableCloses(d: Machine, from: number): Answer {
  const { buf } = d
  const end = Math.min(buf.length, from + FARTHEST)
  let open = 0
  for (let i = from; i < end; i++) {
    d.looked++
    const c = buf.charCodeAt(i)
    if (c === ch.DQUOTE) {
      for (i++; i < end && buf.charCodeAt(i) !== ch.DQUOTE; i++) if (buf.charCodeAt(i) === ch.BACKSLASH) i++
    } else if (c === ch.COLON && open === 0) return NO
    else if (c === ch.LBRACKET || c === ch.LBRACE) open++
    else if ((c === ch.RBRACKET || c === ch.RBRACE) && --open < 0) return c === ch.RBRACKET ? YES : NO
  }
  if (end === buf.length && !d.final) return MORE
  // Remember the scanned range: a text full of such rows would otherwise be read many times (quadratic).
  d.noRows = d.base + end
  return NO
}

/** End of a one-line string, a number or a literal; the end of the text if it is cut there, -1 for anything else. */
function scalarEnd(buf: string, from: number, limit: number): number {
  const end = Math.min(buf.length, limit)
  let i = from
  if (buf.charCodeAt(i) === ch.DQUOTE) {
    for (i++; i < end; i++) {
      const c = buf.charCodeAt(i)
      if (c === ch.DQUOTE) return i + 1
      if (c === ch.LF) return -1
      if (c === ch.BACKSLASH) i++
    }
    return end === limit ? -1 : buf.length
  }
  while (i < end && isTokenChar(buf.charCodeAt(i))) i++
  return i === from || i >= limit ? -1 : i
}

function isTokenChar(c: number): boolean {
  return ch.isDigit(c) || c === ch.MINUS || c === ch.PLUS || c === ch.DOT || (c >= 97 && c <= 122) || c === 69
}

/** After the previous row is closed: skips the comma and opens the next row, which the text closes. */
export function openRow(d: Machine): void {
  const comma = skip(d, d.i)
  d.i = skip(d, comma + 1)
  d.gapCommas++
  const start = d.base + d.i
  d.beginValue(start)
  d.sink.open('array', start)
  const openEdit = d.sink.mark()
  d.sink.edit('missing-opener', start, start, '[')
  d.stack.push(frameOf(LIST, start, openEdit))
  d.gapFrom(d.i)
}
