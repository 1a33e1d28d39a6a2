/** Ends a string, at its quote or with the text: emits it, continues after `+`, and handles strings that turn out to be keys. */
import { hasFastPaths } from '../../fast-paths.ts'
import * as ch from '../chars.ts'
import { MORE, skip } from '../lookahead.ts'
import { AFTER_KEY, createFrame, LIST, type Machine, OBJECT, type StringState, VALUE } from '../machine.ts'
import { parseQuietly } from '../quick-strict.ts'
import { listBegins } from './string-close.ts'

/** The string is complete. */
export const DONE = -2

/** Collects content up to `i`. */
export function flush(d: Machine, s: StringState, i: number): void {
  const reject = s.rejectAt - d.base
  if (s.rejects > 0 && s.rejectText === undefined && reject >= s.seg && reject < i) {
    // The content before the last inner quote may still be needed.
    s.acc += contentUntil(d, s, reject)
    s.rejectText = s.acc
    s.seg = reject
  }
  if (i > s.seg) s.acc += contentUntil(d, s, i)
  s.seg = i
  s.escapes = false
  s.oddEscapes = false
}

/** Whether the content so far is the text from `seg` on, without escapes that are not JSON's. */
export function isUncut(s: StringState): boolean {
  return s.acc === '' && !s.oddEscapes
}

/** The content before the last inner quote. */
function rejectedText(d: Machine, s: StringState): string {
  return s.rejectText ?? s.acc + contentUntil(d, s, s.rejectAt - d.base)
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g
export const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Content from the last collected index up to `i`. Valid escapes are resolved here, many at a time: by `JSON.parse`,
 * which is ten times as fast as replacing them one by one, unless line breaks or quotes occur among them.
 */
function contentUntil(d: Machine, s: StringState, i: number): string {
  const chunk = d.buf.slice(s.seg, i)
  if (!s.escapes) return chunk
  const parsed = hasFastPaths && !s.oddEscapes ? parseQuietly(`"${chunk}"`) : undefined
  if (parsed !== undefined) return parsed.value as string
  return chunk.replace(ESCAPE, (_, hex: string | undefined, c: string) =>
    hex === undefined ? (ESCAPES[c] as string) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Ends the string: content up to `contentEnd`, token up to `tokenEnd`. */
export function finish(d: Machine, s: StringState, contentEnd: number, tokenEnd: number): typeof DONE {
  flush(d, s, contentEnd)
  // "a" + "b": continue in the same string.
  const next = skip(d, tokenEnd)
  if (next !== MORE && d.buf.charCodeAt(next) === ch.PLUS && s.role !== 'key') {
    const operand = skip(d, next + 1)
    if (operand !== MORE && ch.isQuote(d.buf.charCodeAt(operand))) {
      const quote = d.buf.charCodeAt(operand)
      // Modified in place: copying the state for every operand takes longer than reading it.
      s.quote = quote
      s.closers = ch.getClosers(quote)
      s.delimiter = 1
      s.seg = operand + 1
      s.rule = 'concatenation'
      d.i = operand + 1
      return DONE
    }
  }
  emit(d, s, s.acc, tokenEnd)
  return DONE
}

/**
 * Ends a string without a closing quote before the last rejected quote, which opens a key or an item. Brackets and
 * commas in between are structure if they include a line break; otherwise only the comma is.
 */
export function finishBefore(d: Machine, s: StringState): typeof DONE {
  const at = s.rejectAt - d.base
  const content = rejectedText(d, s)
  const tail = d.buf.slice(Math.max(0, s.start - d.base, at - 256), at)
  const structure = endOf(tail, STRUCTURE)
  const gap =
    structure.includes('\n') || (s.role === 'item' && structure.includes(']'))
      ? structure
      : endOf(tail, SEPARATOR)
  s.rule = 'missing-quote'
  emit(d, s, withoutOddQuote(content.slice(0, content.length - gap.length)), at - gap.length)
  return DONE
}

const STRUCTURE = /[\s,{}[\]\u0000\u200b-\u200d\u2060]/
const SEPARATOR = /[\s,\u0000\u200b-\u200d\u2060]/

/** The longest end of a text in which every character matches. */
function endOf(text: string, character: RegExp): string {
  let start = text.length
  while (start > 0 && character.test(text.charAt(start - 1))) start--
  return text.slice(start)
}

/** `"x', "key"`: the string was closed by the wrong quote. */
function withoutOddQuote(text: string): string {
  const last = text[text.length - 1]
  if (last !== "'" && last !== '’' && last !== '”') return text
  const pair = last === "'" ? "'" : last === '”' ? '“' : '‘'
  const count = text.split(last).length - 1
  const opened = pair === last ? count - 1 : text.split(pair).length - 1
  return (pair === last ? count % 2 === 1 && !/\w'\w/.test(text) : opened < count) ? text.slice(0, -1) : text
}

/** Emits the string to the sink; the decoder continues after `tokenEnd`. */
function emit(d: Machine, s: StringState, text: string, tokenEnd: number): void {
  d.string = undefined
  d.i = tokenEnd
  const end = d.base + tokenEnd
  if (s.role === 'key') {
    emitKey(d, s, text, end)
    return
  }
  if (s.role === 'item' && startsImplicitObject(d, s, tokenEnd)) {
    if (listIsOver(d, s)) {
      takeBack(d, s)
      d.closeFrame('missing-closer')
      emitKey(d, s, text, end)
      return
    }
    d.sink.open('object', s.start)
    d.sink.edit('missing-opener', s.start, s.start, '{')
    d.stack.push(createFrame(OBJECT, s.start, -1, true))
    d.gapStart = s.start
    d.gapCommas = 0
    d.gapRule = undefined
    emitKey(d, s, text, end)
    return
  }
  if (s.role === 'value' && s.rejects === 0 && listFollows(d, tokenEnd)) openLostList(d, s)
  d.sink.scalar('string', s.rule === 'inner-quote' ? evened(text) : text, s.start, end)
  if (s.rule !== undefined) d.sink.rewriteLast(s.rule, s.start, end)
  d.afterValue()
}

function listFollows(d: Machine, tokenEnd: number): boolean {
  const comma = skip(d, tokenEnd)
  return comma !== MORE && d.buf.charCodeAt(comma) === ch.COMMA && listBegins(d, comma)
}

/** Opens the list whose first item is this string. */
function openLostList(d: Machine, s: StringState): void {
  d.sink.open('array', s.start)
  d.sink.edit('missing-opener', s.start, s.start, '[')
  const list = createFrame(LIST, s.start, -1)
  list.count = 1
  d.stack.push(list)
}

/** `{"a": [1, 2, "b": 3}`: the list lost its bracket, and this is the next key of the enclosing object. */
function listIsOver(d: Machine, s: StringState): boolean {
  const list = d.top
  const around = d.parent
  return (
    around?.kind === OBJECT && list !== undefined && !list.implicit && (list.count > 1 || s.gapCommas > 0)
  )
}

/** Withdraws the string as the value that had begun, with its edits and its position. */
function takeBack(d: Machine, s: StringState): void {
  const frame = d.top
  if (s.role !== 'key') {
    d.sink.rollback(d.valueMark)
    d.sink.undo()
    if (frame !== undefined) frame.count--
  }
  d.gapStart = s.gapStart
  d.gapCommas = s.gapCommas
  d.gapRule = s.gapRule
  d.pending = s.pending
}

/** `["key": "value"]`: a member without braces. */
function startsImplicitObject(d: Machine, s: StringState, tokenEnd: number): boolean {
  if (s.rejects > 0) return false
  const next = skip(d, tokenEnd)
  return next !== MORE && ch.fold(d.buf.charCodeAt(next)) === ch.COLON
}

function emitKey(d: Machine, s: StringState, text: string, end: number): void {
  const frame = d.top
  if (frame === undefined) return
  const next = skip(d, end - d.base)
  const c = next === MORE ? ch.COLON : ch.fold(d.buf.charCodeAt(next))
  if ((c === ch.COMMA || c === ch.RBRACE) && frame.count === 0 && !frame.implicit && d.gapCommas === 0) {
    d.toList(frame)
    d.beginValue(s.start)
    d.sink.scalar('string', text, s.start, end)
    if (s.rule !== undefined) d.sink.rewriteLast(s.rule, s.start, end)
    d.afterValue()
    return
  }
  d.hold(text, end - d.base, s.rule, s.start)
  frame.state = AFTER_KEY
  d.gapFrom(end - d.base)
}

// JSON inside a string whose quotes were escaped unevenly: `"{\\"a\\\":\"b"}"` with one, two, three backslashes or none.

/**
 * Removes the backslashes before quotes, if that makes the text strict JSON and it is not strict JSON already;
 * otherwise returns the text. Called only for strings with an unescaped inner quote, so valid escapes are never
 * changed.
 */
function evened(text: string): string {
  if (!/^\s*[{[]/.test(text) || !text.includes('\\"') || parseQuietly(text) !== undefined) return text
  const even = text.replace(/\\+"/g, '"')
  return parseQuietly(even) === undefined ? text : even
}

// Handles text that ends inside a string: decides whether the closing quote is missing or the text was cut off.

/** Always ends the string; the decoder then closes the open frames. */
export function endOfTextInString(d: Machine, s: StringState): boolean {
  if (s.role === 'key' && splitKey(d, s)) return true
  const closers = trailingClosers(d, s)
  // Quotes inside text come in pairs: an odd one was the closing quote.
  if (s.rejects % 2 === 1 && s.rejectAt >= d.base && (closers === undefined || looksClosing(d, s))) {
    s.acc = rejectedText(d, s)
    s.rule = s.rejects > 1 ? 'inner-quote' : s.ruleBefore
    emit(d, s, s.acc, s.rejectAt - d.base + 1)
    passRest(d, closers)
    return true
  }
  if (closers !== undefined) return settle(d, s, closers)
  if (s.role === 'root' && s.rejects === 0 && d.stack.length === 0 && s.start === firstInk(d)) {
    return settle(d, s, d.buf.length)
  }
  d.truncated = true
  if (d.options.acceptTruncated && s.role !== 'key') {
    s.rule = 'truncated'
    emit(d, s, fullText(d, s), d.buf.length)
    return true
  }
  dropCut(d, s)
  return true
}

/** `{"key:value}`: the key lost its closing quote. */
function splitKey(d: Machine, s: StringState): boolean {
  const match = /^([\p{L}_$][\p{L}\p{M}\p{N}_$-]*)\s*:/u.exec(fullText(d, s).slice(0, 120))
  if (match === null || !isUncut(s) || s.escapes || s.rejects > 0) return false
  s.rule = 'missing-quote'
  emit(d, s, match[1] as string, s.seg + (match[1] as string).length)
  return true
}

function firstInk(d: Machine): number {
  let i = 0
  while (i < d.buf.length && (ch.isSpace(d.buf.charCodeAt(i)) || ch.isOddSpace(d.buf.charCodeAt(i)))) i++
  return d.base + i
}

function fullText(d: Machine, s: StringState): string {
  return s.acc + contentUntil(d, s, d.buf.length)
}

const MEMBER = /,\s*[A-Za-z_]\w{0,40}\s*:\s*(?:-?\d+(?:\.\d+)?|true|false|null|\[[^\]]*\]?)$/

/** Exactly two words and a name between them: `"active, role: admin}`. More words would be a sentence. */
const TWO_WORDS = /^[^\s,:]+,\s*[A-Za-z_]\w{0,40}\s*:\s*[\p{L}_][\p{L}\p{M}\p{N}_-]{0,60}$/u

/** Ends the string at `end`, as if its closing quote were there. */
function settle(d: Machine, s: StringState, end: number): boolean {
  const text = (s.acc + contentUntil(d, s, Math.max(s.seg, end))).trimEnd()
  s.rule = 'missing-quote'
  const rest = s.role === 'value' && isUncut(s) && !s.escapes ? memberLength(text) : 0
  if (rest > 0) {
    emit(d, s, text.slice(0, text.length - rest), s.seg + text.length - rest)
    return true
  }
  // A comma before the bracket belongs to the list.
  emit(d, s, withoutOddQuote(text.replace(/,$/, '')), end)
  return true
}

/** `"first, b: 1}`: length of the member at the end of such a text; 0 if there is none. */
function memberLength(text: string): number {
  if (text.length < 200 && TWO_WORDS.test(text)) return text.length - text.indexOf(',')
  const tail = text.slice(-200)
  const member = MEMBER.exec(tail)
  return member === null ? 0 : tail.length - member.index
}

/** Start of the brackets that close every open frame, if the text ends with exactly those. */
function trailingClosers(d: Machine, s: StringState): number | undefined {
  if (s.role === 'key' || s.role === 'root') return undefined
  let i = d.buf.length - 1
  while (i >= s.seg && (ch.isSpace(d.buf.charCodeAt(i)) || d.buf.charCodeAt(i) === ch.BACKTICK)) i--
  let from: number | undefined
  let taken = 0
  for (let depth = 0; depth < d.stack.length; depth++) {
    while (i >= s.seg && ch.isSpace(d.buf.charCodeAt(i))) i--
    const c = ch.fold(d.buf.charCodeAt(i))
    const wanted = d.stack[depth]?.kind === OBJECT ? ch.RBRACE : ch.RBRACKET
    if (d.stack[depth]?.implicit) continue
    if (c !== wanted || i < s.seg) return undefined
    from = i
    taken++
    i--
  }
  // The content itself opened brackets, which these would close.
  return s.opens > s.shuts - taken ? undefined : from
}

/** Skips what follows the string: it is not part of the value. */
function passRest(d: Machine, closers: number | undefined): void {
  if (closers === undefined) d.truncated = true
  if (d.stack.length === 0) return
  d.gapRule = 'stray-text'
  d.i = closers ?? d.buf.length
}

/** Whether the quote follows a visible character and precedes a space. */
function looksClosing(d: Machine, s: StringState): boolean {
  const at = s.rejectAt - d.base
  return !ch.isSpace(d.buf.charCodeAt(at - 1)) && ch.isSpace(d.buf.charCodeAt(at + 1))
}

/** Drops the cut string together with its member or item. */
function dropCut(d: Machine, s: StringState): void {
  const frame = d.top
  d.string = undefined
  takeBack(d, s)
  d.gapRule = 'cut-string'
  if (s.role === 'value') {
    if (frame !== undefined) frame.state = VALUE
    d.dropPending('cut-string')
  }
  d.i = d.buf.length
  if (d.stack.length === 0) d.done = true
}
