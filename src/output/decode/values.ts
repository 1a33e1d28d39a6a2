/** Reads the beginning of a value or of a key: brackets, strings, calls, fences, and unquoted tokens. */
import { hasFastPaths } from '../fast-paths.ts'
import type { RuleName } from '../rules.ts'
import * as ch from './chars.ts'
import { MORE, QUESTION, quotedKeyAt, skip, YES } from './lookahead.ts'
import { createFrame, type Frame, KEY, LIST, type Machine, OBJECT, ROUND, reuseFrame } from './machine.ts'
import { parseQuietly } from './quick-strict.ts'
import { openString } from './strings/strings.ts'
import { bareEnd, classify } from './unquoted.ts'

/** Remarks behind an item: (as in the text), <-- this one. */
const REMARK = /^(?:\([\p{L}][^()\n"]{2,150}\)|<--?[^\n"]{1,150}|←[^\n"]{1,150})(?=\s*\n)/u

/** Remarks between a bracket and the comma: {"a": 1} (the first), {"a": 2}. */
const ASIDE = /^\([\p{L}][^()\n"]{0,150}\)/u

/** Begins a value at `d.i`; false when more text is needed. */
export function valueStart(d: Machine, c: number): boolean {
  // Charge the regular expressions below, which inspect windows of at most 420 characters.
  d.looked += QUESTION
  if (d.top?.kind === ROUND && d.top.count === 0 && namedArgument(d)) {
    d.top.kind = OBJECT
    d.top.state = KEY
    d.sink.reopen('object')
    d.sink.reedit(d.top.openEdit, '{')
    return true
  }
  const mayRemark =
    (c === ch.LPAREN || c === ch.LESS || c === 0x2190) && d.top?.kind === LIST && d.gapCommas > 0
  const remark = mayRemark ? REMARK.exec(d.buf.slice(d.i, d.i + 200)) : null
  if (remark !== null) return d.pass(remark[0].length, 'stray-text')
  if (c === ch.LPAREN && behindBracket(d)) {
    const aside = ASIDE.exec(d.buf.slice(d.i, d.i + 160))
    if (aside !== null) return d.pass(aside[0].length, 'stray-text')
  }
  if (c === ch.LBRACE || c === ch.LBRACKET || c === ch.LPAREN) return openBracket(d, c)
  if (c === ch.BACKTICK && d.buf.startsWith('```', d.i)) return fenceAsValue(d)
  if (isStringPrefix(d.buf, d.i)) return d.pass(1, 'literal')
  if (ch.isQuote(c)) return beginString(d, false)
  return bareValue(d)
}

function openBracket(d: Machine, c: number): boolean {
  if (d.stack.length >= d.options.depth) {
    d.tooDeep = true
    d.done = true
    return false
  }
  const start = d.base + d.i
  d.beginValue(start)
  const odd = d.oddToken
  d.oddToken = false
  const kind = c === ch.LBRACE ? OBJECT : c === ch.LBRACKET ? LIST : ROUND
  enter(d, kind, start)
  if (odd) d.sink.edit('full-width', start, start + 1, kind === OBJECT ? '{' : '[')
  if (kind === ROUND) d.sink.edit('tuple', start, start + 1, '[')
  d.i++
  d.gapFrom(d.i)
  return true
}

/** Opens a value of this kind at `start`. */
export function enter(d: Machine, kind: Frame['kind'], start: number): Frame {
  d.sink.open(kind === OBJECT ? 'object' : 'array', start)
  const spare = hasFastPaths ? d.spareFrame : undefined
  if (hasFastPaths) d.spareFrame = undefined
  const mark = d.sink.mark()
  const frame = spare === undefined ? createFrame(kind, start, mark) : reuseFrame(spare, kind, start, mark)
  d.stack.push(frame)
  return frame
}

/** Skips a fence around a value; a fence around anything else is read as text. */
function fenceAsValue(d: Machine): boolean {
  const { buf } = d
  let i = d.i + 3
  while (i < buf.length && i < d.i + 40 && ch.isNameChar(buf.charCodeAt(i))) i++
  const after = skip(d, i)
  if (after === MORE) return false
  const c = ch.fold(buf.charCodeAt(after))
  if (c === ch.LBRACE || c === ch.LBRACKET || ch.isCloser(c) || c === ch.COMMA || after >= buf.length) {
    return d.pass(after - d.i, 'fence')
  }
  return beginString(d, false)
}

/** Begins a string value; `escaped` if its quotes are escaped. */
export function beginString(d: Machine, escaped: boolean): boolean {
  d.valueMark = d.sink.mark()
  return openString(d, d.stack.length === 0 ? 'root' : d.top?.kind === OBJECT ? 'value' : 'item', escaped)
}

function bareValue(d: Machine): boolean {
  const end = bareEnd(d)
  if (end === MORE) return false
  let text = trimInk(d.buf.slice(d.i, end))
  let stop = d.i + text.length
  const call = /^(?:new\s+)?[A-Za-z_$][\w$.]*\s*$/.test(text) && d.buf.charCodeAt(end) === ch.LPAREN
  if (call) return d.pass(end - d.i, 'call')
  let rule: RuleName = 'bare-value'
  if (text.length > 1 && ch.isQuote(text.charCodeAt(text.length - 1)) && !ch.isQuote(text.charCodeAt(0))) {
    text = text.slice(0, -1)
    // The escapes of a string without its opening quote.
    text = (parseQuietly(`"${text}"`)?.value as string | undefined) ?? text
    rule = 'missing-quote'
  }
  const bare = classify(text)
  if (bare.kind === 'nothing' || text === '') return nothing(d, Math.max(1, stop - d.i))
  if (bare.kind === 'string' && stop >= d.buf.length && cutsOff(d)) return nothing(d, stop - d.i)
  if (bare.kind === 'string' && rule === 'bare-value' && /^\p{L}/u.test(text) && behindBracket(d))
    return d.pass(stop - d.i, 'stray-text')
  stop = d.base + stop
  const start = d.base + d.i
  d.beginValue(start)
  emitBare(d, text, start, stop, rule)
  d.i = stop - d.base
  d.afterValue()
  return true
}

/** `[{"a": 1} and {"a": 2}]`: on the line of a closed item and before any comma, words are stray, as behind a member. */
function behindBracket(d: Machine): boolean {
  const frame = d.top
  if (frame?.kind !== LIST || frame.implicit || d.gapCommas > 0 || d.closedAt !== d.gapStart) return false
  // Continues where the last search ended: a gap may hold many remarks.
  let i = Math.max(d.base, d.gapStart, d.oneLine) - d.base
  for (; i < d.i && d.buf.charCodeAt(i) !== ch.LF; i++) d.looked++
  d.oneLine = d.base + i
  return i >= d.i
}

function emitBare(d: Machine, text: string, start: number, stop: number, wordRule: RuleName): void {
  const { sink } = d
  const bare = classify(text)
  switch (bare.kind) {
    case 'string':
      sink.marked(text, { start, end: stop, bare: true, big: false })
      sink.rewriteLast(wordRule, start, stop)
      return
    case 'big':
      sink.marked(bare.value, { start, end: stop, bare: false, big: true })
      sink.rewriteLast('big-number', start, stop)
      return
    case 'number':
      sink.scalar('number', bare.value, start, stop)
      break
    case 'boolean':
      sink.scalar('boolean', bare.value, start, stop)
      break
    case 'null':
      sink.scalar('null', null, start, stop)
      break
    case 'constant':
      sink.scalar('constant', text, start, stop)
      sink.edit('not-a-number', start, stop, 'null')
      return
    case 'nothing':
      return
  }
  const rule = wordRule === 'missing-quote' ? wordRule : bare.rule
  if (rule !== undefined) sink.rewriteLast(rule, start, stop)
}

/** Whether the text ends inside an unquoted word of a real container: half a word is not a value. */
function cutsOff(d: Machine): boolean {
  return !d.options.acceptTruncated && d.stack.some((frame) => !frame.implicit)
}

/** Handles a sign without digits, which is not a value. */
function nothing(d: Machine, length: number): boolean {
  const frame = d.top
  d.i += length
  if (frame?.kind === OBJECT) d.dropPending('missing-value')
  else d.gapRule ??= 'stray-text'
  return true
}

/** `r"…"`, `f'…'`: a prefix of a Python string. */
function isStringPrefix(buf: string, i: number): boolean {
  const next = buf.charCodeAt(i + 1)
  if ((next !== ch.DQUOTE && next !== ch.SQUOTE) || !/[rRfFuUbB]/.test(buf[i] as string)) return false
  return /^[^\n,}\])][^\n]{0,400}?["']\s*[,}\])]/.test(buf.slice(i + 2, i + 420))
}

/** Trims trailing spaces, including invisible ones. */
function trimInk(text: string): string {
  let end = text.length
  while (end > 0 && (ch.isSpace(text.charCodeAt(end - 1)) || ch.isOddSpace(text.charCodeAt(end - 1)))) end--
  return text.slice(0, end)
}

/** `name=` as in `f(name=1)`. */
function namedArgument(d: Machine): boolean {
  return /^[A-Za-z_]\w*\s*=(?!=)/.test(d.buf.slice(d.i, d.i + 80))
}

// Reads the key position of an object: quoted and bare keys, stray words, brackets, fences.

/** Reads a key at `d.i`; false when more text is needed. */
export function keyStart(d: Machine, c: number, frame: Frame): boolean {
  if (c === ch.BACKTICK && d.buf.startsWith('```', d.i)) return passFence(d)
  if (ch.isQuote(c)) return openString(d, 'key', false)
  if (c === ch.LBRACE || c === ch.LBRACKET || c === ch.LPAREN) return bracketForKey(d, c, frame)
  return bareKey(d, frame)
}

/** Handles an opening bracket in key position. */
function bracketForKey(d: Machine, c: number, frame: Frame): boolean {
  const parent = d.parent
  d.oddToken = false
  if (frame.count > 0 && parent?.kind === LIST && c === ch.LBRACE) {
    d.closeFrame('missing-closer')
    return true
  }
  if (frame.count === 0 && !frame.implicit && d.gapCommas === 0) {
    // {{"a":1}} and {[1,2]}: the outer brace is redundant.
    if (c === ch.LBRACE) {
      frame.spare++
      return d.pass(1, 'extra-closer')
    }
    d.toList(frame)
    return true
  }
  if (c === ch.LPAREN) return d.pass(roundLength(d.buf, d.i), 'stray-text')
  // A value without a key: it cannot be kept, so it is dropped and recorded.
  return d.pass(d.base + d.i < d.unbalanced ? 1 : balancedLength(d), 'stray-value')
}

function bareKey(d: Machine, frame: Frame): boolean {
  const { buf } = d
  let i = d.i
  while (i < buf.length && i < d.i + 256) {
    const c = ch.fold(buf.charCodeAt(i))
    if (
      c === ch.COLON ||
      c === ch.EQUALS ||
      c === ch.COMMA ||
      c === ch.LF ||
      ch.isCloser(c) ||
      ch.isOpener(c)
    )
      break
    if (ch.isQuote(c) && c !== ch.SQUOTE) break
    if (
      c === ch.SQUOTE &&
      (buf.charCodeAt(i - 1) === ch.SPACE || ch.fold(buf.charCodeAt(i + 1)) === ch.COLON)
    )
      break
    i++
  }
  if (i >= buf.length && !d.final) return false
  const stop = ch.fold(buf.charCodeAt(i))
  const text = buf.slice(d.i, i).trimEnd()
  if (stop === ch.COLON || stop === ch.EQUALS) return d.takeKey(text, d.i + text.length, frame, 'bare-key')
  if (ch.isQuote(stop)) return bareBeforeQuote(d, text, i, frame)
  if (
    (stop === ch.COMMA || stop === ch.RBRACE) &&
    frame.count === 0 &&
    d.gapCommas === 0 &&
    !frame.implicit &&
    text !== ''
  ) {
    d.toList(frame)
    return true
  }
  return d.pass(Math.max(1, i - d.i), 'stray-text')
}

/** Words followed by a quote: a key without its opening quote or its colon, or stray words. */
function bareBeforeQuote(d: Machine, text: string, quote: number, frame: Frame): boolean {
  const after = skip(d, quote + 1)
  if (after === MORE) return false
  const adjacent = d.i + text.length === quote
  if (adjacent && ch.fold(d.buf.charCodeAt(after)) === ch.COLON)
    return d.takeKey(text, quote + 1, frame, 'missing-quote')
  const key = quotedKeyAt(d, quote)
  if (key === MORE) return false
  if (key === YES || !/^[\w$-]+$/.test(text)) return d.pass(quote - d.i, 'stray-text')
  return d.takeKey(text, d.i + text.length, frame, 'bare-key')
}

function passFence(d: Machine): boolean {
  let i = d.i + 3
  while (ch.isNameChar(d.buf.charCodeAt(i))) i++
  return i >= d.buf.length && !d.final ? false : d.pass(i - d.i, 'fence')
}

/** Length of a one-line remark in round brackets, or 1 for the bracket alone. */
function roundLength(buf: string, from: number): number {
  return /^\([^()\n"]{0,200}\)/.exec(buf.slice(from, from + 204))?.[0].length ?? 1
}

/** Length of the bracketed text at `d.i` if it closes within bounds; otherwise 1, and the scanned range is remembered. */
function balancedLength(d: Machine): number {
  let open = 0
  const end = Math.min(d.buf.length, d.i + 10_000)
  for (let i = d.i; i < end; i++) {
    const c = d.buf.charCodeAt(i)
    if (ch.isOpener(c)) open++
    else if (c === ch.RBRACE || c === ch.RBRACKET) {
      if (--open === 0) return i + 1 - d.i
    }
  }
  d.unbalanced = d.base + end
  return 1
}
