/** Handles closing brackets: matching, of the wrong kind, surplus and missing; also rows of tables without their opener. */
import { hasFastPaths } from '../fast-paths.ts'
import * as ch from './chars.ts'
import {
  type Answer,
  itemAt,
  MORE,
  memberAt,
  NO,
  QUESTION,
  quotedKeyAt,
  REACH,
  skip,
  YES,
} from './lookahead.ts'
import { chargeStack, createFrame, type Frame, KEY, LIST, type Machine, OBJECT, ROUND } from './machine.ts'

/** Handles the closing bracket `c` (folded) at `d.i`; false when more text is needed. */
export function onCloser(d: Machine, c: number): boolean {
  const frame = d.top
  if (frame === undefined) return d.pass(1, 'extra-closer')
  if (fits(frame, c)) return rightCloser(d, frame, c)
  chargeStack(d)
  // The frame at the top does not fit.
  const below = d.stack.length > 1 ? d.stack.findLastIndex((f) => fits(f, c)) : -1
  const next = skip(d, d.i + 1)
  if (next === MORE) return false
  return below >= 0 ? closerFromBelow(d, below, next) : foreignCloser(d, frame, next)
}

function fits(frame: Frame, c: number): boolean {
  switch (frame.kind) {
    case OBJECT:
      return (frame.round ? c === ch.RPAREN : c === ch.RBRACE) && !frame.implicit
    case LIST:
      return (c === ch.RBRACKET && !frame.implicit) || (c === ch.RBRACE && frame.set)
    case ROUND:
      return c === ch.RPAREN
  }
}

function rightCloser(d: Machine, frame: Frame, c: number): boolean {
  if (frame.spare > 0) {
    frame.spare--
    return d.pass(1, 'extra-closer')
  }
  if (d.stack.length === 1 && c === ch.RBRACE && !frame.implicit) {
    // {"a":{"b":1}}, "c":2}: the object continues, so this brace is surplus.
    const early = closedEarly(d)
    if (early === MORE) return false
    if (early === YES) return d.pass(1, 'extra-closer')
  }
  const row = frame.kind === LIST ? rowFollows(d) : NO
  if (row === MORE) return false
  shut(d, frame, c)
  if (row === YES) openRow(d)
  return true
}

function closedEarly(d: Machine): typeof MORE | typeof YES | typeof NO {
  const next = skip(d, d.i + 1)
  if (next === MORE) return MORE
  if (ch.fold(d.buf.charCodeAt(next)) !== ch.COMMA) return NO
  const key = skip(d, next + 1)
  if (key === MORE) return MORE
  return d.buf.charCodeAt(key) === ch.DQUOTE ? quotedKeyAt(d, key) : NO
}

/** Closes the top frame with the bracket at `d.i`. */
function shut(d: Machine, frame: Frame, c: number): void {
  if (frame.kind === OBJECT && frame.state !== KEY) d.dropPending('missing-value')
  const at = d.base + d.i
  if (d.gapCommas > 0 || d.gapRule !== undefined)
    d.sink.edit(d.gapRule ?? 'trailing-comma', d.gapStart, at, '')
  const single = frame.kind === ROUND && frame.count === 1 && d.gapCommas === 0
  const wanted = single ? '' : frame.kind === OBJECT ? '}' : ']'
  if (single) d.sink.reedit(frame.openEdit, '')
  if (d.oddToken) d.sink.edit('full-width', at, at + 1, wanted)
  else if (c !== wanted.charCodeAt(0))
    d.sink.edit(frame.round || frame.set ? 'tuple' : 'wrong-closer', at, at + 1, wanted)
  d.oddToken = false
  const closed = d.stack.pop()
  if (hasFastPaths) d.spareFrame = closed
  d.sink.close(at + 1)
  if (single) d.sink.collapse()
  d.i++
  d.closedAt = d.base + d.i
  d.afterValue()
}

/**
 * Handles a bracket that closes a frame further down the stack: the frames above lost their closing brackets.
 * Exception: the text that follows fits only if the bracket was meant for the top frame (wrong kind) or is surplus.
 */
function closerFromBelow(d: Machine, below: number, next: number): boolean {
  const top = d.top as Frame
  const parent = d.parent as Frame
  const left = d.stack[below - 1]
  const isComma = ch.fold(d.buf.charCodeAt(next)) === ch.COMMA
  const closing = left === undefined ? (isComma ? NO : YES) : continues(d, left, next)
  const wrong = top.implicit ? NO : continues(d, parent, next)
  const extra = continues(d, top, next)
  if (closing === MORE || wrong === MORE || extra === MORE) return false
  const other = wrong === YES || extra === YES
  if (other && closing === YES) d.ambiguous = true
  if (other && (closing === NO || d.options.dropClosers)) {
    if (wrong === NO) return d.pass(1, 'extra-closer')
    shut(d, top, d.buf.charCodeAt(d.i))
    return true
  }
  while (d.stack.length - 1 > below) d.closeFrame('missing-closer')
  return true
}

/** Whether a comma and another member or item of this frame are at `i`. */
function continues(d: Machine, frame: Frame, i: number): Answer {
  if (ch.fold(d.buf.charCodeAt(i)) !== ch.COMMA) return NO
  const next = skip(d, i + 1)
  if (next === MORE) return MORE
  if (next >= d.buf.length || ch.isCloser(d.buf.charCodeAt(next))) return NO
  if (frame.kind === OBJECT) return memberAt(d, i + 1)
  if (ch.isQuote(d.buf.charCodeAt(next))) return quotedKeyAt(d, next) === YES ? NO : YES
  return itemAt(d, i + 1)
}

/** Handles a bracket that matches no open frame: a bracket of the wrong kind, or a surplus one. */
function foreignCloser(d: Machine, frame: Frame, next: number): boolean {
  if (frame.implicit && d.stack.length === 1) return d.pass(1, 'extra-closer')
  const c = ch.fold(d.buf.charCodeAt(next))
  const more = c === ch.COMMA ? (frame.kind === OBJECT ? memberAt(d, next + 1) : itemAt(d, next + 1)) : NO
  if (more === MORE) return false
  const ownCloserNext = frame.kind === OBJECT ? c === ch.RBRACE : c === ch.RBRACKET
  const parent = d.parent
  const beyond = parent === undefined ? NO : continues(d, parent, next)
  if (beyond === MORE) return false
  if (beyond === YES && more === YES) d.ambiguous = true
  const meant = beyond === YES && !d.options.dropClosers
  if (!meant && ((more === YES && next < d.buf.length) || ownCloserNext)) return d.pass(1, 'extra-closer')
  shut(d, frame, d.buf.charCodeAt(d.i))
  return true
}

// `"rows": [["a", "b"], "c", "d"], ["e", "f"]]`: a row in the middle of a table that lost its opening bracket.

/** Maximum distance from the row to the end of the table. */
const FARTHEST = 4_096

/**
 * Whether plain values follow the list that closes at `d.i` inside another list, then a closing bracket, more lists,
 * and the bracket that closes them all. Read literally, the first bracket would end the table, the lists would be
 * values of an object without keys, and the last bracket would close nothing.
 */
function rowFollows(d: Machine): Answer {
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
function openRow(d: Machine): void {
  const comma = skip(d, d.i)
  d.i = skip(d, comma + 1)
  d.gapCommas++
  const start = d.base + d.i
  d.beginValue(start)
  d.sink.open('array', start)
  const openEdit = d.sink.mark()
  d.sink.edit('missing-opener', start, start, '[')
  d.stack.push(createFrame(LIST, start, openEdit))
  d.gapFrom(d.i)
}
