/** Reads the beginning of a value: brackets, strings, calls, fences, and unquoted tokens. */

import type { RuleName } from '../rules.ts'
import * as ch from './chars.ts'
import { MORE, QUESTION, skip } from './lookahead.ts'
import { type Frame, frameOf, KEY, LIST, type Machine, OBJECT, ROUND, reuseFrame } from './machine.ts'
import { openString } from './strings/strings.ts'
import { classify } from './unquoted.ts'
import { bareEnd } from './unquoted-end.ts'

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
  const spare = d.spareFrame
  d.spareFrame = undefined
  const mark = d.sink.mark()
  const frame = spare === undefined ? frameOf(kind, start, mark) : reuseFrame(spare, kind, start, mark)
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
    text = unescapedWord(text.slice(0, -1))
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
  for (let i = Math.max(0, d.gapStart - d.base); i < d.i; i++) if (d.buf.charCodeAt(i) === ch.LF) return false
  return true
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

/** The content of a string without its opening quote, with valid escapes resolved. */
function unescapedWord(text: string): string {
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
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
