/**
 * Reads strings: collects their content, resolves escapes, and decides at every quote whether it ends the string. The
 * decision itself (what may follow a closing quote) is in `string-close.ts`.
 */
import * as ch from '../chars.ts'
import { type Answer, followedByColon, MORE, NO, YES } from '../lookahead.ts'
import { type Machine, type Role, resetString, type StringState } from '../machine.ts'
import { BEFORE_KEY, closes } from './string-close.ts'
import { DONE, ESCAPES, endOfTextInString, finish, finishBefore, flush, isUncut } from './string-emit.ts'

/** Maximum length of a key without its closing quote, including its value on the same line. */
const LONGEST_KEY = 400

export const CONTROL = 1
export const BRACKET = 2
const QUOTE = 3
/** Characters of a string that need special handling. */
export const STOPS = new Uint8Array(128)
STOPS.fill(CONTROL, 0, 32)
STOPS[ch.BACKSLASH] = CONTROL
for (const c of [ch.LBRACE, ch.RBRACE, ch.LBRACKET, ch.RBRACKET]) STOPS[c] = BRACKET
for (const c of [ch.DQUOTE, ch.SQUOTE, ch.BACKTICK]) STOPS[c] = QUOTE

/** Begins the string whose delimiter is at `d.i`; false when more text is needed to read the delimiter. */
export function openString(d: Machine, role: Role, escaped: boolean): boolean {
  const at = escaped ? d.i + 1 : d.i
  const quote = d.buf.charCodeAt(at)
  if (at + 3 > d.buf.length && !d.final) return false
  const doubled = role === 'key' && !escaped ? doubledBeforeKey(d, at, quote) : NO
  if (doubled === MORE) return false
  const delimiter = escaped ? 1 : doubled === YES ? 2 : delimiterAt(d.buf, at, quote)
  const s = resetString(d.strings, role, at + delimiter)
  s.gapStart = d.gapStart
  s.gapCommas = d.gapCommas
  s.gapRule = d.gapRule
  s.pending = d.pending
  s.quote = quote
  s.closers = ch.getClosers(quote)
  s.start = d.base + d.i
  s.delimiter = delimiter
  s.escaped = escaped
  s.rule = escaped
    ? 'escaped-quotes'
    : delimiter > 1
      ? 'doubled-quotes'
      : quote === ch.DQUOTE
        ? undefined
        : 'single-quotes'
  if (role !== 'key') d.beginValue(s.start)
  d.string = s
  d.i = at + delimiter
  if (delimiter === 3 && quote === ch.BACKTICK) skipFenceLabel(d, s)
  return true
}

function delimiterAt(buf: string, at: number, quote: number): number {
  if (buf.charCodeAt(at + 1) !== quote) return 1
  const third = buf.charCodeAt(at + 2)
  if (third === quote) return 3
  const next = ch.fold(third)
  const structural =
    next === ch.COMMA || next === ch.COLON || ch.isCloser(next) || ch.isSpace(next) || Number.isNaN(next)
  return structural || next === ch.SLASH || /^\\[nrt]\s*[}\],"]/.test(buf.slice(at + 2, at + 8)) ? 1 : 2
}

/** `"" key": 1`: the opening quote is doubled although a space follows, because a key and its colon follow. */
function doubledBeforeKey(d: Machine, at: number, quote: number): Answer {
  const { buf } = d
  if (buf.charCodeAt(at + 1) !== quote || buf.charCodeAt(at + 2) !== ch.SPACE) return NO
  const rest = buf.slice(at + 2, at + 120)
  const key = /^ +[\p{L}\p{N}_$][^"'`:,{}[\]\n]*(["'`]?)/u.exec(rest)
  if (key === null) return /^ +$/.test(rest) && rest.length < 118 && !d.final ? MORE : NO
  if (key[1] === '') return key[0].length === rest.length && rest.length < 118 && !d.final ? MORE : NO
  return key[1] === buf[at] ? followedByColon(d, at + 2 + key[0].length) : NO
}

/** A fence as a value: its label and the line break after it are not content. */
function skipFenceLabel(d: Machine, s: StringState): void {
  let i = d.i
  while (ch.isNameChar(d.buf.charCodeAt(i))) i++
  if (d.buf.charCodeAt(i) !== ch.LF) return
  d.i = i + 1
  s.seg = i + 1
}

/** Continues the string; true when it is complete, false when more text is needed. */
export function readString(d: Machine, s: StringState): boolean {
  const { buf } = d
  const n = buf.length
  const wide = s.closers.length > 1 || s.quote > 127
  let i = d.i
  for (;;) {
    let c = 0
    while (i < n) {
      c = buf.charCodeAt(i)
      if (c < 128 ? STOPS[c] !== 0 : wide && s.closers.includes(buf[i] as string)) break
      i++
    }
    if (i >= n) {
      d.i = n
      if (d.final) return endOfTextInString(d, s)
      flush(d, s, n)
      return false
    }
    if (c === ch.BACKSLASH) {
      const next = resolveEscape(d, s, i)
      if (next === MORE) return suspend(d, s, i)
      if (next === DONE) return true
      i = next
    } else if (c < 32) {
      s.rule ??= 'raw-control'
      if (c === ch.LF) {
        if (d.options.awaitsFence?.(d, s, i)) return suspend(d, s, i)
        if (s.role === 'key' && keyBeforeLine(d, s, i)) return true
      }
      i++
    } else if (c === ch.DQUOTE && s.quote === ch.SQUOTE) {
      // 'x", "key": the wrong quote closes, if it is the only one and a key or the end follows.
      if (d.givesUp()) return true
      const wrong = s.others === 0 && s.role !== 'root' ? closes(d, s, i, i + 1) : NO
      if (wrong === MORE) return suspend(d, s, i)
      if (wrong === YES && finish(d, s, i, i + 1) === DONE) return true
      s.others++
      i++
    } else if (s.quote > 127 && c < 128 && !d.givesUp() && properCloserAhead(d, i, s)) {
      i++
    } else if (c === s.quote || s.closers.includes(buf[i] as string)) {
      const next = quoteAt(d, s, i)
      if (next === MORE) return suspend(d, s, i)
      if (next === DONE || d.givesUp()) return true
      i = next
    } else {
      countBracket(s, c)
      i++
    }
  }
}

/** The brackets that a string holds. */
type Brackets = Pick<StringState, 'opens' | 'shuts' | 'braces' | 'brackets'>

export function countBracket(s: Brackets, c: number): void {
  if (c === ch.LBRACE || c === ch.LBRACKET) s.opens++
  else if (c === ch.RBRACE || c === ch.RBRACKET) s.shuts++
  if (c === ch.LBRACE) s.braces++
  else if (c === ch.RBRACE && s.braces > 0) s.braces--
  else if (c === ch.LBRACKET) s.brackets++
  else if (c === ch.RBRACKET && s.brackets > 0) s.brackets--
}

/** `"key: 1,` at the end of a line: the key lost its closing quote. */
function keyBeforeLine(d: Machine, s: StringState, i: number): boolean {
  // Keys are short; without this limit a text of line breaks would be scanned again for each of them.
  if (i - s.seg > LONGEST_KEY) return false
  d.looked += (i - s.seg) >> 3
  const match = isUncut(s) && s.rejects === 0 ? /^([\w$-]+)\s*:\s*\S/.exec(d.buf.slice(s.seg, i)) : null
  if (match === null) return false
  s.rule = 'missing-quote'
  const end = s.seg + (match[1] as string).length
  finish(d, s, end, end)
  return true
}

/** A string opened by “ is closed by ”, if one follows before the next “. */
function properCloserAhead(d: Machine, i: number, s: StringState): boolean {
  const { buf } = d
  // A result found from further left also applies here.
  if (d.base + i < s.aheadUntil && s.aheadFound !== undefined) return s.aheadFound
  const end = Math.min(buf.length, i + 400)
  const from = Math.max(i + 1, s.aheadFound === undefined ? s.aheadUntil - d.base : 0)
  for (let j = from; j < end; j++) {
    d.looked++
    const found = buf[j] === s.closers[0]
    if (!found && buf.charCodeAt(j) !== s.quote) continue
    s.aheadUntil = d.base + j
    s.aheadFound = found
    return found
  }
  s.aheadUntil = d.base + end
  s.aheadFound = undefined
  return false
}

/** Handles a quote that could close: returns DONE, MORE, or the index at which to continue. */
function quoteAt(d: Machine, s: StringState, i: number): number {
  if (s.escaped) {
    // Between escaped delimiters a plain quote is content, unless it clearly closes the string.
    const answer = closes(d, s, i, i + 1)
    if (answer === MORE) return MORE
    return answer === NO ? i + 1 : finish(d, s, i, i + 1)
  }
  let end = i + 1
  if (s.delimiter > 1) {
    if (i + s.delimiter > d.buf.length && !d.final) return MORE
    let run = 1
    while (run < s.delimiter && d.buf.charCodeAt(i + run) === d.buf.charCodeAt(i)) run++
    if (run < s.delimiter && s.delimiter === 3) return i + run
    end = i + run
    if (s.delimiter === 3) return finish(d, s, i, end)
  }
  const answer = closes(d, s, i, end)
  if (answer === MORE) return MORE
  if (answer === BEFORE_KEY) return finishBefore(d, s)
  if (answer !== NO) return finish(d, s, contentEnd(d, s, i, end), end)
  if (s.role === 'key' && s.rejects === 0 && isUncut(s)) {
    // {"key: "value"} and {"key: 1, "next": …}: the key lost its closing quote.
    const lost = /^([^":\n]{1,80}):\s*(?:(?:-?[\d.]+|true|false|null)\s*,\s*)?$/.exec(d.buf.slice(s.seg, i))
    if (lost !== null) {
      s.rule = 'missing-quote'
      const colon = s.seg + (lost[1] as string).length
      return finish(d, s, colon, colon)
    }
  }
  if (s.rejects === 0) s.ruleBefore = s.rule
  s.rejects++
  s.rejectAt = d.base + i
  s.rejectText = undefined
  s.rule = 'inner-quote'
  return end
}

/** End of the content: before the closing quote, and before one more that was doubled by mistake. */
function contentEnd(d: Machine, s: StringState, i: number, end: number): number {
  if (s.delimiter === 2 && end === i + 2 && s.rejects > 0 && s.rejects % 2 === 0) {
    // ""No," he said, "never."": the outer quotes belong to the text.
    s.acc = `"${s.acc}`
    s.rule = 'inner-quote'
    return i + 1
  }
  if (s.delimiter === 2 && end === i + 1 && s.rejects % 2 === 1) {
    // ""P" q": the second quote belongs to the text.
    s.acc = `"${s.acc}`
    s.rule = 'inner-quote'
    return i
  }
  if (s.delimiter !== 1 || s.rejects !== 1 || s.rejectAt !== d.base + i - 1) return i
  if (ch.isDigit(d.buf.charCodeAt(i - 2))) return i
  s.rule = 'doubled-quotes'
  return i - 1
}

/** Suspends before `i`, with all content up to there collected. */
function suspend(d: Machine, s: StringState, i: number): false {
  flush(d, s, i)
  d.i = i
  return false
}

/** Resolves the escape at `i`. */
function resolveEscape(d: Machine, s: StringState, i: number): number {
  const { buf } = d
  if (i + 1 >= buf.length) {
    if (!d.final) return MORE
    flush(d, s, i)
    s.seg = i + 1
    return i + 1
  }
  let c = buf.charCodeAt(i + 1)
  if (c === ch.LF && d.options.awaitsFence?.(d, s, i + 1)) return MORE
  let width = 2
  if (s.escaped) {
    if (c === s.quote) {
      const answer = closes(d, s, i, i + 2)
      if (answer === MORE) return MORE
      if (answer !== NO) return finish(d, s, i, i + 2)
    } else if (c === ch.BACKSLASH) {
      // One level deeper: \\\" and \\" are quotes, \\n is a line break.
      if (i + 3 >= buf.length && !d.final) return MORE
      const third = buf.charCodeAt(i + 2)
      if (third === ch.BACKSLASH && buf.charCodeAt(i + 3) === s.quote) width = 4
      else if (third === s.quote || ESCAPES[buf[i + 2] as string] !== undefined) width = 3
      if (width > 2) c = buf.charCodeAt(i + width - 1)
    }
  }
  if (c === 117) return unicodeEscape(d, s, i, width)
  const plain = ESCAPES[String.fromCharCode(c)]
  if (plain !== undefined && width === 2) {
    s.escapes = true
    return i + width
  }
  flush(d, s, i)
  if (plain !== undefined) {
    s.acc += plain
    s.seg = i + width
    return i + width
  }
  s.rule ??= 'escape'
  if (ch.isQuote(c) || c === ch.LF) {
    s.seg = i + 1
    return i + 2
  }
  if (c === 120 && /^[0-9a-fA-F]{2}$/.test(buf.slice(i + 2, i + 4))) {
    s.acc += String.fromCharCode(Number.parseInt(buf.slice(i + 2, i + 4), 16))
    s.seg = i + 4
    return i + 4
  }
  // An invalid escape: both characters are content.
  s.acc += buf.slice(i, i + 2)
  s.seg = i + 2
  return i + 2
}

function unicodeEscape(d: Machine, s: StringState, i: number, width: number): number {
  const from = i + width
  if (from + 4 > d.buf.length && !d.final) return MORE
  const hex = d.buf.slice(from, from + 4)
  const sound = /^[0-9a-fA-F]{4}$/.test(hex)
  if (sound && width === 2) {
    s.escapes = true
    return from + 4
  }
  if (width === 2 && from + hex.length < d.buf.length) {
    // Both characters are content. Not collected here: a text of such escapes would be cut into as many pieces.
    s.rule ??= 'escape'
    s.oddEscapes = true
    return from
  }
  flush(d, s, i)
  if (sound) {
    s.acc += String.fromCharCode(Number.parseInt(hex, 16))
    s.seg = from + 4
    return from + 4
  }
  if (/^[0-9a-fA-F]{0,3}$/.test(hex)) {
    // Cut inside the escape: withheld.
    s.seg = d.buf.length
    return d.buf.length
  }
  s.rule ??= 'escape'
  s.acc += d.buf.slice(i, i + 2)
  s.seg = i + 2
  return i + 2
}
