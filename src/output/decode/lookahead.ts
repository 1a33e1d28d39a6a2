/**
 * Bounded look-ahead predicates that the decoder evaluates before it commits to a reading. They change no state except
 * the count of inspected characters. Each inspects at most `REACH` characters; `MORE` means that a stream must deliver
 * more text first. This keeps the decoder linear and lets one machine handle whole texts and streams. The bound is
 * large, so inspected text is charged to the step budget: spaces and comments by length, everything else by a flat
 * price per predicate, which is a fixed fraction of its worst case.
 */
import * as ch from './chars.ts'

export const NO = 0
export const YES = 1
/** The text ends inside the look-ahead, and more may come. */
export const MORE = -1
export type Answer = typeof NO | typeof YES | typeof MORE

/** Maximum look-ahead, in characters. */
export const REACH = 1024
/** Maximum length of a key that look-ahead recognises. */
const KEY_REACH = 160

/** From `from` up to, but excluding, `to`. */
interface SearchedRange {
  from: number
  to: number
  /** How far behind the range a search may begin and still continue it: 0 if an end was found at `to`. */
  gap: number
}

/** What was searched in vain, for each thing that is looked for again and again. */
export interface SearchedRanges {
  /** For the end of a comment of either kind. */
  readonly block: SearchedRange
  readonly line: SearchedRange
  /** For the end of a run of spaces. */
  readonly spaces: SearchedRange
}

export function createSearchedRanges(): SearchedRanges {
  const nothing = () => ({ from: 0, to: -1, gap: 0 })
  return { block: nothing(), line: nothing(), spaces: nothing() }
}

/** The text seen so far and whether it is complete. */
export interface Window {
  readonly buf: string
  readonly final: boolean
  /** Offset of `buf[0]` in the whole text. */
  readonly base: number
  /** Look-ahead beyond the current token, in steps. */
  looked: number
  /** Ranges of offsets that are not searched again. */
  readonly searched: SearchedRanges
}

/** Price of a predicate that inspects up to `KEY_REACH` characters or runs a regular expression over as many. */
export const QUESTION = 8

/** Index of the next character that is neither space nor comment; `MORE` when a stream must deliver more. */
export function skip(w: Window, from: number): number {
  const { buf } = w
  w.looked++
  const end = Math.min(buf.length, from + REACH)
  let i = from
  while (i < end) {
    const c = buf.charCodeAt(i)
    if (ch.isSpace(c) || ch.isOddSpace(c)) {
      i = skipSpaces(w, i, end)
    } else if (c === ch.SLASH || c === ch.HASH) {
      const after = skipComment(w, i)
      if (after === MORE) return MORE
      if (after === i) return i
      i = after
    } else if (c === ch.BACKSLASH && isEscapedSpace(buf.charCodeAt(i + 1))) {
      i += 2
    } else {
      return i
    }
  }
  return i >= buf.length && !w.final ? MORE : i
}

/**
 * End of the spaces at `from`, at most `end`. Continues where an earlier search ended: a long run of spaces would be
 * read again from each of its lines.
 */
function skipSpaces(w: Window, from: number, end: number): number {
  const { buf, base } = w
  const known = w.searched.spaces
  const start = base + from
  if (start < known.from || start > known.to) {
    known.from = start
    known.to = start
  }
  let i = Math.min(end, known.to - base)
  for (; i < end && (ch.isSpace(buf.charCodeAt(i)) || ch.isOddSpace(buf.charCodeAt(i))); i++) w.looked++
  known.to = Math.max(known.to, base + i)
  return i
}

/** `\n`, `\r`, `\t` written out between tokens, as in text that was escaped once too often. */
export function isEscapedSpace(c: number): boolean {
  return c === 110 || c === 114 || c === 116
}

/** End of the comment at `from`, or `from` itself if no comment begins there. */
export function skipComment(w: Window, from: number): number {
  const { buf } = w
  const c = buf.charCodeAt(from)
  const next = buf.charCodeAt(from + 1)
  if (c === ch.SLASH && next === ch.STAR) return commentEnd(w, '*/', from, w.searched.block)
  if ((c === ch.SLASH && next === ch.SLASH) || (c === ch.HASH && !(next >= 48)))
    return commentEnd(w, '\n', from, w.searched.line)
  if (c === ch.SLASH && from + 1 >= buf.length && !w.final) return MORE
  return from
}

/**
 * End of the comment that begins at `from` with as many characters as its closing `mark` has. Continues where an earlier
 * search of the same text ended: texts that begin a comment again and again would be read many times over.
 */
function commentEnd(w: Window, mark: string, from: number, known: SearchedRange): number {
  const { buf, base } = w
  const content = from + mark.length
  const start = base + content
  const isKnown = start >= known.from && start <= known.to + known.gap
  const begin = isKnown ? Math.max(0, known.to - base) : content
  const end = Math.min(buf.length, from + REACH)
  if (!isKnown) known.from = start
  let i = begin
  for (; i + mark.length <= end; i++) {
    if (buf.charCodeAt(i) !== mark.charCodeAt(0) || !buf.startsWith(mark, i)) continue
    if (i >= content) break
    // Ends an earlier comment.
    known.from = base + i + mark.length
  }
  w.looked += i - begin + 1
  // At `i` there is an end, or the first half of one that is still to arrive, or the end of the text.
  known.to = base + i
  // A line break is not part of its comment.
  const found = i + mark.length <= end
  known.gap = found ? 0 : REACH
  if (found) return mark === '\n' ? i : i + 2
  return buf.length < from + REACH && !w.final ? MORE : end
}

/** Whether a member of an object, or the end of an object, begins at `from`. */
export function memberAt(w: Window, from: number): Answer {
  const i = skip(w, from)
  if (i === MORE) return MORE
  if (i >= w.buf.length || i >= from + REACH) return YES
  const c = ch.fold(w.buf.charCodeAt(i))
  if (ch.isCloser(c)) return YES
  if (isEllipsis(w.buf, i)) return YES
  if (ch.isQuote(c)) {
    const key = quotedKeyAt(w, i)
    // "key"}: a key whose value is missing.
    return key === NO && /^"[\w$-]{1,60}"\s*\}/.test(w.buf.slice(i, i + 80)) ? YES : key
  }
  if (c === ch.BACKSLASH && ch.isQuote(w.buf.charCodeAt(i + 1))) return quotedKeyAt(w, i + 1, true)
  if (c === ch.COLON && ch.isNameChar(w.buf.charCodeAt(i + 1))) return bareKeyAt(w, i + 1)
  if (!ch.isNameChar(c)) return NO
  const key = bareKeyAt(w, i)
  return key === NO ? strayWordAt(w, i) : key
}

/** `WORD "key":`: a stray word followed by a member. */
function strayWordAt(w: Window, from: number): Answer {
  const { buf } = w
  w.looked += QUESTION
  let i = from
  while (i < buf.length && i < from + 40 && ch.isNameChar(buf.charCodeAt(i))) i++
  if (i >= buf.length) return w.final ? NO : MORE
  if (buf.charCodeAt(i) !== ch.SPACE) return NO
  while (buf.charCodeAt(i) === ch.SPACE && i < from + KEY_REACH) i++
  if (i >= buf.length) return w.final ? NO : MORE
  return buf.charCodeAt(i) === ch.DQUOTE ? quotedKeyAt(w, i) : NO
}

/** `"name" :` at the opening quote `from`. */
export function quotedKeyAt(w: Window, from: number, escaped = false): Answer {
  const { buf } = w
  w.looked += QUESTION
  const closers = ch.getClosers(buf.charCodeAt(from))
  const end = Math.min(buf.length, from + KEY_REACH)
  let start = from + 1
  // A doubled opening quote belongs to the delimiter.
  if (buf.charCodeAt(start) === buf.charCodeAt(from) && ch.isNameChar(buf.charCodeAt(start + 1))) start++
  for (let i = start; i < end; i++) {
    const c = buf.charCodeAt(i)
    if (c === ch.LF) return /^[\w$-]+\s*:\s*\S/.test(buf.slice(start, i)) ? YES : NO
    if (c === ch.BACKSLASH) {
      if (escaped && ch.isQuote(buf.charCodeAt(i + 1))) return followedByColon(w, i + 2)
      i++
    } else if (c === ch.DQUOTE || closers.includes(buf[i] as string)) {
      let after = i + 1
      if (start === from + 2 && buf.charCodeAt(after) === c) after++
      const colon = followedByColon(w, after)
      return colon === NO ? looksLikeKey(w, after, buf.slice(start, i)) : colon
    }
  }
  if (buf.length <= end && !w.final) return MORE
  if (end - from >= KEY_REACH) return YES
  // The text ends inside a key.
  return /^[\w$-]*(?:\s*:\s*\S[^"]*)?$/.test(buf.slice(start, end)) ? YES : NO
}

/** `name :` at `from`, on one line, and not the start of a URL. */
export function bareKeyAt(w: Window, from: number): Answer {
  const { buf } = w
  w.looked += QUESTION
  let i = from
  while (i < buf.length && i < from + KEY_REACH && ch.isNameChar(buf.charCodeAt(i))) i++
  // A missing opening quote: name" :
  if (ch.isQuote(buf.charCodeAt(i))) i++
  while (i < buf.length && i < from + KEY_REACH && buf.charCodeAt(i) === ch.SPACE) i++
  if (i >= buf.length) return w.final ? NO : MORE
  if (!isColon(buf, i)) return NO
  if (i + 1 >= buf.length && !w.final) return MORE
  return buf.charCodeAt(i + 1) === ch.SLASH && buf.charCodeAt(i + 2) === ch.SLASH ? NO : YES
}

export function followedByColon(w: Window, from: number): Answer {
  const i = skip(w, from)
  if (i === MORE) return MORE
  return isColon(w.buf, i) ? YES : NO
}

/** `:`, its full-width equivalent, `=` or `=>`. */
function isColon(buf: string, i: number): boolean {
  if (ch.fold(buf.charCodeAt(i)) === ch.COLON) return true
  return buf.charCodeAt(i) === ch.EQUALS && buf.charCodeAt(i + 1) !== ch.EQUALS
}

/**
 * Without a colon behind it, still a key if the text ends here, if the colon is inside the quotes, or if it was
 * omitted.
 */
function looksLikeKey(w: Window, after: number, name: string): Answer {
  if (after >= w.buf.length && w.final) return /^[\w$-]+$/.test(name) ? YES : NO
  if (/^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*\s*:\s*(?:(?:-?[\d.]+|true|false|null)\s*,\s*)?$/u.test(name))
    return YES
  return followedByValue(w, after, name)
}

/** A key without its colon: a plain name followed by a value with a proper end. */
function followedByValue(w: Window, from: number, name: string): Answer {
  const i = skip(w, from)
  if (i === MORE) return MORE
  const { buf } = w
  w.looked += QUESTION
  if (i === from || !/^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*(?: [\p{L}\p{M}\p{N}_$-]+){0,3}$/u.test(name)) return NO
  const c = buf.charCodeAt(i)
  if (ch.isQuote(c) && name.includes(' ')) return NO
  if (ch.isOpener(c)) return YES
  const end = Math.min(buf.length, i + KEY_REACH)
  if (ch.isQuote(c)) {
    for (let j = i + 1; j < end; j++) {
      if (buf.charCodeAt(j) === ch.BACKSLASH) j++
      else if (buf.charCodeAt(j) === c) return endsMember(w, j + 1)
    }
    return end === buf.length && !w.final ? MORE : NO
  }
  let j = i
  while (j < end && (ch.isNameChar(buf.charCodeAt(j)) || buf.charCodeAt(j) === ch.PLUS)) j++
  if (j === end && end === buf.length && !w.final) return MORE
  return /^(?:-?\d[\d.eE+-]*|true|false|null|True|False|None)$/.test(buf.slice(i, j)) ? endsMember(w, j) : NO
}

function endsMember(w: Window, from: number): Answer {
  const i = skip(w, from)
  if (i === MORE) return MORE
  const c = ch.fold(w.buf.charCodeAt(i))
  return c === ch.COMMA || ch.isCloser(c) ? YES : NO
}

/** Whether an item of a list, or the end of a list, begins at `from`. */
export function itemAt(w: Window, from: number, lostQuote = false): Answer {
  const i = skip(w, from)
  if (i === MORE) return MORE
  if (i >= w.buf.length || i >= from + REACH) return YES
  const c = ch.fold(w.buf.charCodeAt(i))
  if (ch.isCloser(c) || ch.isOpener(c) || c === ch.LPAREN || ch.isQuote(c) || c === ch.COMMA) return YES
  if (c === ch.BACKSLASH && ch.isQuote(w.buf.charCodeAt(i + 1))) return YES
  if (isEllipsis(w.buf, i)) return YES
  return bareItemAt(w, i, lostQuote)
}

/** A number, literal or unquoted word that reaches a comma, a closing bracket or the end of its line. */
function bareItemAt(w: Window, from: number, lostQuote: boolean): Answer {
  const { buf } = w
  w.looked += QUESTION
  const end = Math.min(buf.length, from + 80)
  for (let i = from; i < end; i++) {
    const c = ch.fold(buf.charCodeAt(i))
    if (c === ch.COMMA || c === ch.RBRACKET || c === ch.RPAREN || c === ch.LF) return YES
    if (ch.isQuote(c) && lostQuote && c !== ch.SQUOTE) return endsMember(w, i + 1)
    if ((ch.isQuote(c) && c !== ch.SQUOTE) || (c === ch.COLON && !buf.startsWith('://', i))) return NO
  }
  if (end < buf.length) return NO
  if (!w.final) return MORE
  return /^(?:[+-]?\d[\d.eE+-]*|true|false|null)\s*$/.test(buf.slice(from, end)) ? YES : NO
}

export function isEllipsis(buf: string, i: number): boolean {
  return buf.charCodeAt(i) === 0x2026 || buf.startsWith('...', i)
}
