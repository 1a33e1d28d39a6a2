/**
 * Does this quote end the string? Valid JSON always answers yes at the right place: the doubts below arise only where
 * what follows could not follow a string in JSON, or where earlier quotes of the same string were already content.
 */
import * as ch from './chars.ts'
import {
  type Answer,
  bareKeyAt,
  itemAt,
  MORE,
  memberAt,
  NO,
  quotedKeyAt,
  REACH,
  skip,
  YES,
} from './lookahead.ts'
import { LIST, type Machine, OBJECT, type StringState } from './machine.ts'

/** The string ended earlier: the last rejected quote opens the next key or item. */
export const BEFORE_KEY = 2
export type Closing = Answer | typeof BEFORE_KEY

/** `at` is the quote, `end` the index after the delimiter. */
export function closes(d: Machine, s: StringState, at: number, end: number): Closing {
  const next = skip(d, end)
  if (next === MORE) return MORE
  if (next >= d.buf.length || next >= end + REACH) return YES
  const c = ch.fold(d.buf.charCodeAt(next))
  switch (s.role) {
    case 'key':
      return closesKey(d, s, end, next, c)
    case 'value':
      return closesValue(d, s, at, end, next, c)
    case 'item':
      return closesItem(d, s, end, next, c)
    case 'root':
      return closesRoot(d, s, end, next, c)
  }
}

function closesKey(d: Machine, s: StringState, end: number, next: number, c: number): Closing {
  if (c === ch.COLON || c === ch.EQUALS) return YES
  if (c === ch.COMMA || c === ch.RBRACE) return YES
  const apart = next > end
  // A missing colon: the value follows after a space, or a digit or bracket at once.
  if (ch.isDigit(c) || ch.isOpener(c)) return YES
  if (apart && (ch.isQuote(c) || c === ch.MINUS || c === ch.LPAREN)) {
    return ch.isQuote(c) && s.rejects === 0 && quotedKeyAt(d, next) === YES ? NO : YES
  }
  return apart && /^(?:true|false|null|True|False|None)\b/.test(d.buf.slice(next, next + 6)) ? YES : NO
}

function closesValue(d: Machine, s: StringState, at: number, end: number, next: number, c: number): Closing {
  if (c === ch.COMMA) return commaAfterValue(d, next)
  if (c === ch.RBRACE) return doubtful(s) ? closerFits(d, s, next, OBJECT) : YES
  if (c === ch.RBRACKET || c === ch.RPAREN) {
    return s.brackets > 0
      ? closerFits(d, s, next, LIST)
      : d.stack.some((f) => f.kind !== OBJECT)
        ? YES
        : closerFits(d, s, next, LIST)
  }
  if (c === ch.COLON) return opensKey(d, s, at)
  if (c === ch.PLUS) return plusQuote(d, next)
  if (c === ch.BACKTICK && d.buf.startsWith('```', next)) return YES
  if (ch.isQuote(c)) return next === end && s.delimiter === 1 && s.rejects > 0 ? NO : quotedKeyAt(d, next)
  if (ch.isNameChar(c) && lineBreakBetween(d.buf, end, next)) return bareKeyAt(d, next)
  if (ch.isNameChar(c) && next > end && s.rejects === 0) return strayWords(d, next, OBJECT)
  if (c === ch.LBRACE && d.stack[d.stack.length - 2]?.kind === LIST)
    return d.buf.charCodeAt(next + 1) === ch.DQUOTE ? YES : NO
  return NO
}

/** After `"text",` the next member must follow, or a new object of the surrounding list. */
function commaAfterValue(d: Machine, comma: number): Answer {
  const member = memberAt(d, comma + 1)
  if (member !== NO) return member
  const i = skip(d, comma + 1)
  if (i === MORE) return MORE
  const c = ch.fold(d.buf.charCodeAt(i))
  if (c === ch.COMMA) return commaAfterValue2(d, i)
  if (c !== ch.LBRACE || d.stack[d.stack.length - 2]?.kind !== LIST) return NO
  const key = skip(d, i + 1)
  return key === MORE ? MORE : ch.isQuote(d.buf.charCodeAt(key)) ? YES : NO
}

/** Doubled commas. */
function commaAfterValue2(d: Machine, comma: number): Answer {
  let i = comma
  while (d.buf.charCodeAt(i) === ch.COMMA && i < comma + 8) i++
  return memberAt(d, i)
}

/** A quote followed by a colon inside a value: the last rejected quote may have opened a key. */
function opensKey(d: Machine, s: StringState, at: number): Closing {
  if (s.rejects === 0) return NO
  const opener = s.rejectAt - d.base
  if (opener < 0 || at - opener > 160) return NO
  for (let i = opener + 1; i < at; i++) if (d.buf.charCodeAt(i) === ch.LF) return NO
  let i = opener - 1
  while (i >= 0 && (ch.isSpace(d.buf.charCodeAt(i)) || ch.isOddSpace(d.buf.charCodeAt(i)))) {
    if (d.buf.charCodeAt(i) === ch.LF) return BEFORE_KEY
    i--
  }
  return ch.fold(d.buf.charCodeAt(i)) === ch.COMMA && s.start - d.base < i ? BEFORE_KEY : NO
}

function closesItem(d: Machine, s: StringState, end: number, next: number, c: number): Closing {
  if ((c === ch.COMMA || c === ch.RBRACKET) && lostItsEnd(d, s)) return BEFORE_KEY
  if (c === ch.COMMA) return itemAt(d, next + 1, s.rejects === 0)
  if (c === ch.RBRACKET || c === ch.RPAREN) return doubtful(s) ? closerFits(d, s, next, LIST) : YES
  if (c === ch.RBRACE) return s.braces > 0 ? closerFits(d, s, next, OBJECT) : YES
  if (c === ch.COLON) return s.rejects === 0 ? YES : NO
  if (c === ch.PLUS) return plusQuote(d, next)
  if (c === ch.BACKTICK && d.buf.startsWith('```', next)) return YES
  if (ch.isQuote(c)) return next > end || s.rejects === 0 ? quoteAfterItem(d, next) : NO
  if (ch.isOpener(c)) return next > end ? YES : NO
  if (next > end && (ch.isDigit(c) || c === ch.MINUS)) return itemAt(d, next)
  return ch.isNameChar(c) && next > end && s.rejects === 0 ? strayWords(d, next, LIST) : NO
}

/** Words between a closing quote and the next separator, with no quote among them, belong to nothing. */
function strayWords(d: Machine, from: number, kind: typeof OBJECT | typeof LIST): Answer {
  const end = Math.min(d.buf.length, from + 80)
  for (let i = from; i < end; i++) {
    const c = ch.fold(d.buf.charCodeAt(i))
    if (ch.isQuote(c)) return NO
    if (c === ch.COMMA) return kind === OBJECT ? memberAt(d, i + 1) : itemAt(d, i + 1)
    if (ch.isCloser(c)) return (kind === OBJECT ? c === ch.RBRACE : c === ch.RBRACKET) ? YES : NO
  }
  return end === d.buf.length && !d.final ? MORE : NO
}

/** `["a, "b"]`: one inner quote, right after a comma, opens the next item. */
function lostItsEnd(d: Machine, s: StringState): boolean {
  if (s.rejects !== 1 || s.rejectAt < d.base) return false
  let i = s.rejectAt - d.base - 1
  if (ch.isSpace(d.buf.charCodeAt(i + 2))) return false
  while (i > s.start - d.base && ch.isSpace(d.buf.charCodeAt(i))) i--
  return ch.fold(d.buf.charCodeAt(i)) === ch.COMMA
}

/** `"a" "b"`: a missing comma, unless the second quote is the one that closes. */
function quoteAfterItem(d: Machine, quote: number): Answer {
  const after = skip(d, quote + 1)
  if (after === MORE) return MORE
  const c = ch.fold(d.buf.charCodeAt(after))
  if (c === ch.RBRACKET || after >= d.buf.length) return NO
  return c === ch.COMMA ? (itemAt(d, after + 1) === YES ? NO : YES) : YES
}

function closesRoot(d: Machine, s: StringState, end: number, next: number, c: number): Closing {
  if (c === ch.PLUS) return plusQuote(d, next)
  if (s.rejects > 0) return NO
  // Escaped JSON: its own quotes are escaped, so this one ends it.
  if (ch.isOpener(d.buf.charCodeAt(s.start - d.base + 1))) return YES
  if (c === ch.COMMA) return itemAt(d, next + 1)
  return next > end && lineBreakBetween(d.buf, end, next) ? YES : NO
}

function plusQuote(d: Machine, plus: number): Answer {
  const i = skip(d, plus + 1)
  if (i === MORE) return MORE
  return ch.isQuote(d.buf.charCodeAt(i)) ? YES : NO
}

function lineBreakBetween(buf: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (buf.charCodeAt(i) === ch.LF) return true
  return false
}

function doubtful(s: StringState): boolean {
  return s.rejects > 0 || s.braces > 0 || s.brackets > 0
}

/** Would closing brackets from `at` on leave something that fits the frames below? Asked only in doubt. */
function closerFits(d: Machine, s: StringState, at: number, kind: typeof OBJECT | typeof LIST): Answer {
  let depth = d.stack.length - 1
  let i = at
  while (depth >= 0) {
    const c = ch.fold(d.buf.charCodeAt(i))
    const frame = d.stack[depth]
    const matches = frame?.kind === OBJECT ? c === ch.RBRACE : c === ch.RBRACKET || c === ch.RPAREN
    if (!matches && depth === d.stack.length - 1 && frame?.kind !== kind) {
      depth--
      continue
    }
    if (!matches) return followsValue(d, i, frame?.kind === OBJECT ? OBJECT : LIST)
    depth--
    const next = skip(d, i + 1)
    if (next === MORE) return MORE
    if (next >= d.buf.length) return YES
    i = next
  }
  return afterRoot(d, s, i)
}

/** What may follow a complete member or item: a comma and the next one, or a closing bracket. */
function followsValue(d: Machine, i: number, kind: typeof OBJECT | typeof LIST): Answer {
  const c = ch.fold(d.buf.charCodeAt(i))
  if (c === ch.COMMA) return kind === OBJECT ? memberAt(d, i + 1) : itemAt(d, i + 1)
  if (ch.isCloser(c)) return YES
  return kind === OBJECT
    ? ch.isQuote(c)
      ? quotedKeyAt(d, i)
      : NO
    : ch.isOpener(c) || ch.isQuote(c)
      ? YES
      : NO
}

/** Text after the outermost bracket: prose is fine, but not when a better end of this string is in sight. */
function afterRoot(d: Machine, s: StringState, from: number): Answer {
  if (lineBreakBetween(d.buf, from - 2, from)) return YES
  const end = Math.min(d.buf.length, from + REACH)
  let sawQuote = false
  for (let i = from; i < end; i++) {
    const c = ch.fold(d.buf.charCodeAt(i))
    if (c === s.quote) sawQuote = true
    else if (sawQuote && c === ch.RBRACE) return NO
    else if (!ch.isSpace(c)) sawQuote = false
  }
  return end === d.buf.length && !d.final ? MORE : YES
}
