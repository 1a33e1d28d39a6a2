/**
 * Decides whether a quote ends the string. For valid JSON the answer is always yes at the right quote: the heuristics
 * below apply only if the text that follows could not follow a string in JSON, or if earlier quotes of the same string
 * were read as content.
 */
import * as ch from '../chars.ts'
import {
  type Answer,
  bareKeyAt,
  itemAt,
  MORE,
  memberAt,
  NO,
  QUESTION,
  quotedKeyAt,
  REACH,
  skip,
  YES,
} from '../lookahead.ts'
import { chargeStack, LIST, type Machine, OBJECT, type StringState } from '../machine.ts'

/** The string ended earlier: the last rejected quote opens the next key or item. */
export const BEFORE_KEY = 2
type Closing = Answer | typeof BEFORE_KEY

/** `at` is the quote, `end` the index after the delimiter. */
export function closes(d: Machine, s: StringState, at: number, end: number): Closing {
  // Charge the context of this quote, which is inspected below in windows of at most 160 characters.
  d.looked += QUESTION
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
  // A missing colon: the value follows after a space, or a digit or bracket directly.
  if (ch.isDigit(c) || ch.isOpener(c)) return YES
  if (apart && (ch.isQuote(c) || c === ch.MINUS || c === ch.LPAREN)) {
    return ch.isQuote(c) && s.rejects === 0 && quotedKeyAt(d, next) === YES ? NO : YES
  }
  return apart && /^(?:true|false|null|True|False|None)\b/.test(d.buf.slice(next, next + 6)) ? YES : NO
}

function closesValue(d: Machine, s: StringState, at: number, end: number, next: number, c: number): Closing {
  if ((c === ch.COMMA || c === ch.RBRACE) && swallowedMember(d, s)) return BEFORE_KEY
  if (c === ch.COMMA || c === ch.SEMICOLON) return commaAfterValue(d, s, next)
  if (c === ch.RBRACE && s.braces > 0 && s.rejects % 2 === 1) return NO
  const quoteBehind = c === ch.RBRACE && ch.isQuote(d.buf.charCodeAt(next + 1))
  if (c === ch.RBRACE) return quoteBehind || doubtful(s) ? closerFits(d, s, next, OBJECT) : YES
  if (ch.isCloser(c)) chargeStack(d)
  if (c === ch.RPAREN) return d.stack.some((frame) => frame.round) ? YES : NO
  if (c === ch.RBRACKET) {
    const inList = d.stack.some((frame) => frame.kind !== OBJECT)
    return s.brackets > 0 || !inList ? closerFits(d, s, next, LIST) : YES
  }
  if (c === ch.COLON) return opensKey(d, s, at)
  if (c === ch.PLUS) return plusQuote(d, next)
  if (c === ch.BACKTICK && d.buf.startsWith('```', next)) return YES
  if (ch.isQuote(c)) return next === end && s.delimiter === 1 && s.rejects > 0 ? NO : quotedKeyAt(d, next)
  if (ch.isNameChar(c) && lineBreakBetween(d.buf, end, next)) return bareMemberAfter(d, s, next)
  if ((d.top?.round || d.top?.implicit) && next > end && namedValueAt(d.buf, next)) return YES
  if (next > end && s.rejects === 0) return strayWords(d, next, OBJECT)
  if (c === ch.LBRACE && d.parent?.kind === LIST) return d.buf.charCodeAt(next + 1) === ch.DQUOTE ? YES : NO
  return NO
}

/** `"first, b: "second"`: the one inner quote opens the value of a bare key, so this string ended before that key. */
function swallowedMember(d: Machine, s: StringState): boolean {
  const at = s.rejectAt - d.base
  if (s.rejects !== 1 || at < 0) return false
  const key = /,\s*([A-Za-z_]\w{0,40}\s*:\s*)$/.exec(
    d.buf.slice(Math.max(0, s.start - d.base + 1, at - 80), at),
  )
  if (key === null) return false
  s.rejectAt -= (key[1] as string).length
  s.rejectText = s.rejectText?.slice(0, -(key[1] as string).length)
  return true
}

/** After `"text",` the next member must follow, or a new object of the surrounding list. */
function commaAfterValue(d: Machine, s: StringState, comma: number): Answer {
  const member = memberAt(d, comma + 1)
  // After an odd number of inner quotes a bare word with a colon is more likely text than a key.
  const bare = member === YES && s.rejects % 2 === 1 && ch.isNameChar(d.buf.charCodeAt(skip(d, comma + 1)))
  if (member !== NO && !bare) return member
  if (s.rejects === 0 && remarkAfter(d.buf, comma + 1)) return YES
  if (s.rejects === 0 && listBegins(d, comma)) return YES
  const i = skip(d, comma + 1)
  if (i === MORE) return MORE
  const c = ch.fold(d.buf.charCodeAt(i))
  if (c === ch.COMMA) return commaAfterValue2(d, i)
  if (c !== ch.LBRACE || d.parent?.kind !== LIST) return NO
  const key = skip(d, i + 1)
  return key === MORE ? MORE : ch.isQuote(d.buf.charCodeAt(key)) ? YES : NO
}

/** Whether the rest of the line is a remark without quotes or brackets, and the next line begins with a quoted key. */
function remarkAfter(buf: string, from: number): boolean {
  for (let i = from; i < from + 120 && i < buf.length; i++) {
    const c = buf.charCodeAt(i)
    if (ch.isQuote(c) && c !== ch.SQUOTE) return false
    if (c === ch.LF)
      return (
        i > from &&
        /^\s*(?:"[^"\n]{1,100}"\s*:|\})/.test(buf.slice(i, i + 160)) &&
        buf.slice(from, i).trim() !== ''
      )
  }
  return false
}

/** `name='x'`, `name=1` as Python prints them. */
function namedValueAt(buf: string, from: number): boolean {
  return /^[A-Za-z_]\w{0,60}=['"\d[{(TFN-]/.test(buf.slice(from, from + 80))
}

/** A bare key on the next line; after an odd number of inner quotes, this quote closes the pair instead. */
function bareMemberAfter(d: Machine, s: StringState, next: number): Answer {
  if (s.rejects % 2 === 1) return NO
  const key = bareKeyAt(d, next)
  if (key !== YES || d.top?.round || d.top?.implicit) return key
  return /^[^\n:]{0,80}=/.test(d.buf.slice(next, next + 82)) ? NO : YES
}

/** Whether strings on separate lines follow, and then an unmatched closing bracket: the list lost its opening bracket. */
export function listBegins(d: Machine, comma: number): boolean {
  const rest = d.buf.slice(comma, comma + 2_000)
  if (!/^,[^\S\n]*\n/.test(rest)) return false
  d.looked += 8 * QUESTION
  return /^,[^\S\n]*\n\s*"(?:[^"\\\n]|\\.)*"\s*(?:,\s*"(?:[^"\\\n]|\\.)*"\s*){0,40}\]/.test(rest)
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
  if (s.braces > 0 || s.brackets > 0) return NO
  return ch.fold(d.buf.charCodeAt(i)) === ch.COMMA && s.start - d.base < i ? BEFORE_KEY : NO
}

function closesItem(d: Machine, s: StringState, end: number, next: number, c: number): Closing {
  // Brackets after a string in bare text close nothing.
  if (d.stack.length === 1 && d.stack[0]?.implicit && ch.isCloser(c)) return NO
  if ((c === ch.COMMA || c === ch.RBRACKET || c === ch.COLON) && lostItsEnd(d, s, c === ch.COLON))
    return BEFORE_KEY
  if (c === ch.COMMA || c === ch.SEMICOLON) return itemAt(d, next + 1, s.rejects === 0)
  if (ch.isCloser(c)) chargeStack(d)
  if (c === ch.RPAREN) return d.stack.some((frame) => frame.round) ? YES : NO
  if (c === ch.RBRACKET) return doubtful(s) ? closerFits(d, s, next, LIST) : YES
  if (c === ch.RBRACE) return s.braces > 0 ? closerFits(d, s, next, OBJECT) : YES
  if (c === ch.COLON) return s.rejects === 0 ? YES : NO
  if (c === ch.PLUS) return plusQuote(d, next)
  if (c === ch.BACKTICK && d.buf.startsWith('```', next)) return YES
  if (ch.isQuote(c)) return next > end || s.rejects === 0 ? quoteAfterItem(d, next) : NO
  if (ch.isOpener(c)) return next > end ? YES : NO
  if (next > end && (ch.isDigit(c) || c === ch.MINUS)) return itemAt(d, next)
  if (next === end || s.rejects > 0) return NO
  const stray = strayWords(d, next, LIST)
  // "a" b", …: the next item lost its opening quote.
  return stray === NO && lostOpening(d.buf, end, next) ? YES : stray
}

/** One word and a closing quote, after a quote that does not look like an opening one. */
function lostOpening(buf: string, end: number, next: number): boolean {
  const before = buf.charCodeAt(end - 2)
  const inches = /(?:^|[\s("])\d+$/.test(buf.slice(Math.max(0, end - 8), end - 1))
  return !ch.isSpace(before) && !inches && /^[\p{L}\p{N}_-]{1,60}"\s*[,\]]/u.test(buf.slice(next, next + 80))
}

/** Words between a closing quote and the next separator, without a quote among them, are stray. */
function strayWords(d: Machine, from: number, kind: typeof OBJECT | typeof LIST): Answer {
  const end = Math.min(d.buf.length, from + 80)
  for (let i = from; i < end; i++) {
    const c = ch.fold(d.buf.charCodeAt(i))
    if ((ch.isQuote(c) && c !== ch.SQUOTE) || ch.isOpener(c)) return NO
    if (c === ch.COMMA) return kind === OBJECT ? memberAt(d, i + 1) : itemAt(d, i + 1)
    if (c === ch.RBRACE || c === ch.RBRACKET)
      return (kind === OBJECT ? c === ch.RBRACE : c === ch.RBRACKET) ? YES : NO
  }
  return end === d.buf.length && !d.final ? MORE : NO
}

/** `["a, "b"]`: one inner quote, right after a comma, opens the next item. */
function lostItsEnd(d: Machine, s: StringState, list: boolean): boolean {
  if (s.rejects !== 1 || s.rejectAt < d.base) return false
  let i = s.rejectAt - d.base - 1
  if (ch.isSpace(d.buf.charCodeAt(i + 2))) return false
  if (list && bracketOnNewLine(d.buf, Math.max(0, i - 200), i)) return true
  while (i > s.start - d.base && ch.isSpace(d.buf.charCodeAt(i))) i--
  if (ch.fold(d.buf.charCodeAt(i)) !== ch.COMMA) return false
  if (!list) return true
  // ["a", "b], "key": …: the list ended with this string.
  i--
  while (ch.isSpace(d.buf.charCodeAt(i))) i--
  return d.buf.charCodeAt(i) === ch.RBRACKET && s.brackets === 0
}

/** Whether only spaces, commas and brackets occur before `to`, among them a line break followed by a bracket. */
function bracketOnNewLine(buf: string, from: number, to: number): boolean {
  let bracket = false
  for (let i = to; i >= from; i--) {
    const c = buf.charCodeAt(i)
    if (c === ch.LF && bracket) return true
    if (c === ch.LBRACE || c === ch.RBRACE || c === ch.RBRACKET) bracket = true
    else if (c !== ch.COMMA && c !== ch.LBRACKET && !ch.isSpace(c)) return false
  }
  return false
}

/** `"a" "b"`: a missing comma, unless the second quote is the closing one. */
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

/** Whether closing the frames from `at` on leaves text that fits the frames below. Evaluated only in ambiguous cases. */
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

/** Another object after a separator: `; {"key":`. */
const NEXT_OBJECT = /^[,;]?\s*\{\s*"[^"\n]*"\s*:/

/** Text after the outermost bracket: prose is accepted, unless a better end of this string follows. */
function afterRoot(d: Machine, s: StringState, from: number): Answer {
  if (lineBreakBetween(d.buf, from - 2, from)) return YES
  // No quote was read as content so far: brackets alone do not make the next object part of this string.
  if (s.rejects === 0 && NEXT_OBJECT.test(d.buf.slice(from, from + 160))) return YES
  const end = Math.min(d.buf.length, from + REACH)
  d.looked += 8 * QUESTION
  let sawQuote = false
  for (let i = from; i < end; i++) {
    const c = ch.fold(d.buf.charCodeAt(i))
    if (c === ch.LF) return YES
    if (c === s.quote) sawQuote = true
    else if (sawQuote && (c === ch.RBRACE || c === ch.COMMA)) return NO
    else if (!ch.isSpace(c)) sawQuote = false
  }
  return end === d.buf.length && !d.final ? MORE : YES
}
