/** Closing brackets: the right one, the wrong one, one too many, one too few. */
import * as ch from './chars.ts'
import { type Answer, itemAt, MORE, memberAt, NO, quotedKeyAt, skip, YES } from './lookahead.ts'
import { type Frame, KEY, LIST, type Machine, OBJECT, ROUND } from './machine.ts'

/** Handles the closing bracket `c` (folded) at `d.i`; false when more text is needed. */
export function onCloser(d: Machine, c: number): boolean {
  const frame = d.top
  if (frame === undefined) return d.pass(1, 'extra-closer')
  if (fits(frame, c)) return rightCloser(d, frame, c)
  const below = d.stack.findLastIndex((f) => fits(f, c))
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
    // {"a":{"b":1}}, "c":2}: the object goes on, so this brace was one too many.
    const early = closedEarly(d)
    if (early === MORE) return false
    if (early === YES) return d.pass(1, 'extra-closer')
  }
  shut(d, frame, c)
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
  d.stack.pop()
  d.sink.close(at + 1)
  if (single) d.sink.collapse()
  d.i++
  d.afterValue()
}

/** The bracket closes a frame further down: the ones above lost theirs, unless this one is merely of the wrong kind. */
function closerFromBelow(d: Machine, below: number, next: number): boolean {
  const top = d.stack[d.stack.length - 1] as Frame
  const parent = d.stack[d.stack.length - 2] as Frame
  if (
    below === d.stack.length - 2 &&
    parent.kind === OBJECT &&
    !top.implicit &&
    ch.fold(d.buf.charCodeAt(next)) === ch.COMMA
  ) {
    // {"a": [1, 2}, "b": 3}: the object plainly goes on.
    const grand = d.stack[below - 1]
    const member = memberAt(d, next + 1)
    if (member === MORE) return false
    if (member === YES && grand?.kind === OBJECT) d.ambiguous = true
    if (member === YES && (grand?.kind !== OBJECT || d.options.dropClosers) && goesOn(d, next)) {
      shut(d, top, d.buf.charCodeAt(d.i))
      return true
    }
  }
  const extra = isExtra(d, top, below, next)
  if (extra === MORE) return false
  if (extra === YES) return d.pass(1, 'extra-closer')
  while (d.stack.length - 1 > below) d.closeFrame('missing-closer')
  return true
}

/** What follows fits the frame at hand and not the one that would be left: then the bracket is one too many. */
function isExtra(d: Machine, top: Frame, below: number, next: number): Answer {
  const here = continues(d, top, next)
  if (here !== YES) return here
  const left = d.stack[below - 1]
  const there =
    left === undefined ? (ch.fold(d.buf.charCodeAt(next)) === ch.COMMA ? NO : YES) : continues(d, left, next)
  if (there === MORE) return MORE
  if (there === YES) d.ambiguous = true
  return there === NO || d.options.dropClosers ? YES : NO
}

/** Whether a comma and another member or item of this frame stand at `i`. */
function continues(d: Machine, frame: Frame, i: number): Answer {
  if (ch.fold(d.buf.charCodeAt(i)) !== ch.COMMA) return NO
  const next = skip(d, i + 1)
  if (next === MORE) return MORE
  if (next >= d.buf.length || ch.isCloser(d.buf.charCodeAt(next))) return NO
  if (frame.kind === OBJECT) return memberAt(d, i + 1)
  if (ch.isQuote(d.buf.charCodeAt(next))) return quotedKeyAt(d, next) === YES ? NO : YES
  return itemAt(d, i + 1)
}

/** After the comma stands a key, not merely another bracket. */
function goesOn(d: Machine, comma: number): boolean {
  const i = skip(d, comma + 1)
  return i >= 0 && i < d.buf.length && !ch.isCloser(d.buf.charCodeAt(i))
}

/** No frame wants this bracket: it stands for the right one, or for nothing. */
function foreignCloser(d: Machine, frame: Frame, next: number): boolean {
  if (frame.implicit && d.stack.length === 1) return d.pass(1, 'extra-closer')
  const c = ch.fold(d.buf.charCodeAt(next))
  const more = c === ch.COMMA ? (frame.kind === OBJECT ? memberAt(d, next + 1) : itemAt(d, next + 1)) : NO
  if (more === MORE) return false
  const ownCloserNext = frame.kind === OBJECT ? c === ch.RBRACE : c === ch.RBRACKET
  if ((more === YES && next < d.buf.length) || ownCloserNext) return d.pass(1, 'extra-closer')
  shut(d, frame, d.buf.charCodeAt(d.i))
  return true
}
