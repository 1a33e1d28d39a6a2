/**
 * The common road of the decoder: keys, strings, numbers and literals that are written as JSON wants them and followed
 * by what JSON wants next. Each function reads one token at `d.i` and answers true, or changes nothing and answers false,
 * and then the careful road is taken. It only saves time: both roads read such tokens alike.
 */
import * as ch from './chars.ts'
import { AFTER_KEY, type Machine, OBJECT, VALUE } from './machine.ts'

/** Characters of a string that need a closer look. */
const STOPS = new Uint8Array(128)
for (let c = 0; c < 32; c++) STOPS[c] = 1
for (const c of [ch.BACKSLASH, ch.LBRACE, ch.RBRACE, ch.LBRACKET, ch.RBRACKET]) STOPS[c] = 1

/** Index of the closing quote of a string without escapes, brackets or control characters; -1 for any other. */
function endOfString(buf: string, from: number, quote: number): number {
  const n = buf.length
  for (let i = from; i < n; i++) {
    const c = buf.charCodeAt(i)
    if (c === quote) return i
    if (c < 128 && STOPS[c] === 1) return -1
  }
  return -1
}

function skipSpaces(buf: string, from: number): number {
  let i = from
  while (ch.isSpace(buf.charCodeAt(i))) i++
  return i
}

/** `"name" :` */
export function plainKey(d: Machine, quote: number): boolean {
  const { buf } = d
  const close = endOfString(buf, d.i + 1, quote)
  if (close < 0) return false
  const colon = skipSpaces(buf, close + 1)
  if (buf.charCodeAt(colon) !== ch.COLON) return false
  const frame = d.top
  if (frame === undefined) return false
  d.hold(buf.slice(d.i + 1, close), close + 1, quote === ch.DQUOTE ? undefined : 'single-quotes')
  frame.state = AFTER_KEY
  d.i = close + 1
  d.gapFrom(d.i)
  return true
}

/** A string value followed by a bracket, or by a comma and the next member or item. */
export function plainString(d: Machine, quote: number): boolean {
  const frame = d.top
  if (frame === undefined || (frame.kind === OBJECT && frame.state !== VALUE)) return false
  const { buf } = d
  const close = endOfString(buf, d.i + 1, quote)
  if (close < 0) return false
  const next = skipSpaces(buf, close + 1)
  const c = buf.charCodeAt(next)
  const inObject = frame.kind === OBJECT
  if (c === ch.COMMA) {
    if (!(inObject ? keyFollows(buf, next + 1, quote) : itemFollows(buf, next + 1, quote))) return false
  } else if (c !== (inObject ? ch.RBRACE : ch.RBRACKET)) return false
  const start = d.base + d.i
  const end = d.base + close + 1
  d.beginValue(start)
  d.sink.scalar('string', buf.slice(d.i + 1, close), start, end)
  if (quote !== ch.DQUOTE) d.sink.edit('single-quotes', start, end, 'self')
  d.i = close + 1
  d.afterValue()
  return true
}

function keyFollows(buf: string, from: number, quote: number): boolean {
  const open = skipSpaces(buf, from)
  if (buf.charCodeAt(open) !== quote) return bareKeyEnd(buf, open) > open
  for (let i = open + 1; i < open + 128; i++) {
    const c = buf.charCodeAt(i)
    if (c === quote) return buf.charCodeAt(skipSpaces(buf, i + 1)) === ch.COLON
    if (c === ch.BACKSLASH || c === ch.LF || Number.isNaN(c)) return false
  }
  return false
}

/** End of a plain name that a colon follows; `from` when there is none. */
function bareKeyEnd(buf: string, from: number): number {
  let i = from
  while (isWordChar(buf.charCodeAt(i))) i++
  if (i === from || i - from > 100) return from
  const colon = skipSpaces(buf, i)
  return buf.charCodeAt(colon) === ch.COLON && buf.charCodeAt(colon + 1) !== ch.SLASH ? i : from
}

function isWordChar(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || ch.isDigit(c) || c === 95 || c === 36
}

/** `name :` without quotes. */
export function plainBareKey(d: Machine): boolean {
  const end = bareKeyEnd(d.buf, d.i)
  const frame = d.top
  if (end === d.i || frame === undefined) return false
  d.hold(d.buf.slice(d.i, end), end, 'bare-key')
  frame.state = AFTER_KEY
  d.i = end
  d.gapFrom(end)
  return true
}

function itemFollows(buf: string, from: number, quote: number): boolean {
  const c = buf.charCodeAt(skipSpaces(buf, from))
  return c === quote || c === ch.LBRACE || c === ch.LBRACKET
}

/** A number of at most 15 characters, or a literal, followed by a comma or a closing bracket. */
export function plainToken(d: Machine, c: number): boolean {
  const frame = d.top
  if (frame === undefined || (frame.kind === OBJECT && frame.state !== VALUE)) return false
  if (c === 116 || c === 102 || c === 110) return literal(d, c)
  if (!ch.isDigit(c) && c !== ch.MINUS) return false
  const { buf } = d
  const end = endOfNumber(buf, d.i)
  if (end < 0 || end - d.i > 15 || !ends(buf, end, frame.kind === OBJECT)) return false
  const start = d.base + d.i
  d.beginValue(start)
  d.sink.scalar('number', Number(buf.slice(d.i, end)), start, d.base + end)
  d.i = end
  d.afterValue()
  return true
}

/** End of a JSON number without an exponent; -1 for anything else. */
function endOfNumber(buf: string, from: number): number {
  let i = buf.charCodeAt(from) === ch.MINUS ? from + 1 : from
  const first = buf.charCodeAt(i)
  if (!ch.isDigit(first)) return -1
  i++
  if (first === 48 && ch.isDigit(buf.charCodeAt(i))) return -1
  while (ch.isDigit(buf.charCodeAt(i))) i++
  if (buf.charCodeAt(i) !== ch.DOT) return i
  const point = i++
  while (ch.isDigit(buf.charCodeAt(i))) i++
  return i > point + 1 ? i : -1
}

function literal(d: Machine, c: number): boolean {
  const word = c === 116 ? 'true' : c === 102 ? 'false' : 'null'
  const end = d.i + word.length
  if (!d.buf.startsWith(word, d.i) || !ends(d.buf, end, false)) return false
  const start = d.base + d.i
  d.beginValue(start)
  if (c === 110) d.sink.scalar('null', null, start, d.base + end)
  else d.sink.scalar('boolean', c === 116, start, d.base + end)
  d.i = end
  d.afterValue()
  return true
}

/** A separator follows; in an object the digits after a comma could belong to the number. */
function ends(buf: string, from: number, digitsMatter: boolean): boolean {
  const at = skipSpaces(buf, from)
  const c = buf.charCodeAt(at)
  if (c === ch.RBRACE || c === ch.RBRACKET) return true
  return c === ch.COMMA && !(digitsMatter && !(at + 1 < buf.length && !ch.isDigit(buf.charCodeAt(at + 1))))
}
