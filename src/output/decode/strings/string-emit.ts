/** Ends a string: emits it to the sink, continues after `+`, and handles strings that turn out to be keys. */
import * as ch from '../chars.ts'
import { MORE, skip } from '../lookahead.ts'
import { AFTER_KEY, frameOf, LIST, type Machine, OBJECT, type StringState } from '../machine.ts'
import { parseQuietly } from '../strict.ts'
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
}

/** The content before the last inner quote. */
export function rejectedText(d: Machine, s: StringState): string {
  return s.rejectText ?? s.acc + contentUntil(d, s, s.rejectAt - d.base)
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g
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
export function contentUntil(d: Machine, s: StringState, i: number): string {
  const chunk = d.buf.slice(s.seg, i)
  if (!s.escapes) return chunk
  const parsed = parseQuietly(`"${chunk}"`)
  if (parsed !== undefined) return parsed.value as string
  return chunk.replace(ESCAPE, (_, hex: string | undefined, c: string) =>
    hex === undefined ? (ESCAPES[c] ?? c) : String.fromCharCode(Number.parseInt(hex, 16)),
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
      s.closers = ch.closersOf(quote)
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
  const structure = /[\s,{}[\]\u0000\u200b-\u200d\u2060]*$/.exec(tail)?.[0] ?? ''
  const gap =
    structure.includes('\n') || (s.role === 'item' && structure.includes(']'))
      ? structure
      : (/[\s,\u0000\u200b-\u200d\u2060]*$/.exec(tail)?.[0] ?? '')
  s.rule = 'missing-quote'
  emit(d, s, withoutOddQuote(content.slice(0, content.length - gap.length)), at - gap.length)
  return DONE
}

/** `"x', "key"`: the string was closed by the wrong quote. */
export function withoutOddQuote(text: string): string {
  const last = text[text.length - 1]
  if (last !== "'" && last !== '’' && last !== '”') return text
  const pair = last === "'" ? "'" : last === '”' ? '“' : '‘'
  const count = text.split(last).length - 1
  const opened = pair === last ? count - 1 : text.split(pair).length - 1
  return (pair === last ? count % 2 === 1 && !/\w'\w/.test(text) : opened < count) ? text.slice(0, -1) : text
}

/** Emits the string to the sink; the decoder continues after `tokenEnd`. */
export function emit(d: Machine, s: StringState, text: string, tokenEnd: number): void {
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
    d.stack.push(frameOf(OBJECT, s.start, -1, true))
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
  const list = frameOf(LIST, s.start, -1)
  list.count = 1
  d.stack.push(list)
}

/** `{"a": [1, 2, "b": 3}`: the list lost its bracket, and this is the next key of the enclosing object. */
function listIsOver(d: Machine, s: StringState): boolean {
  const list = d.stack[d.stack.length - 1]
  const around = d.stack[d.stack.length - 2]
  return (
    around?.kind === OBJECT && list !== undefined && !list.implicit && (list.count > 1 || s.gapCommas > 0)
  )
}

/** Withdraws the string as the value that had begun, with its edits and its position. */
export function takeBack(d: Machine, s: StringState): void {
  const frame = d.stack[d.stack.length - 1]
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
  const frame = d.stack[d.stack.length - 1]
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
