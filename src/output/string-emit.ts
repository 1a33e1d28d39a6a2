/** The end of a string: telling the sink, reading on after `+`, and strings that turn out to be keys. */
import * as ch from './chars.ts'
import { MORE, skip } from './lookahead.ts'
import { AFTER_KEY, KEY, LIST, type Machine, OBJECT, type StringState, VALUE } from './machine.ts'
import { listBegins } from './string-close.ts'
import { evened } from './uneven.ts'

/** The string is settled. */
export const DONE = -2

/** Collects content up to `i`. */
export function flush(d: Machine, s: StringState, i: number): void {
  const reject = s.rejectAt - d.base
  if (s.rejects > 0 && s.rejectText === undefined && reject >= s.seg && reject < i) {
    // The content before the last inner quote may still be asked for.
    s.acc += pieceOf(d, s, reject)
    s.rejectText = s.acc
    s.seg = reject
  }
  if (i > s.seg) s.acc += pieceOf(d, s, i)
  s.seg = i
  s.escapes = false
}

/** The content before the last inner quote. */
export function rejectedText(d: Machine, s: StringState): string {
  return s.rejectText ?? s.acc + pieceOf(d, s, s.rejectAt - d.base)
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g
const PLAIN: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Content from where it was last collected up to `i`. Sound escapes are resolved here, many at a time. */
export function pieceOf(d: Machine, s: StringState, i: number): string {
  const piece = d.buf.slice(s.seg, i)
  if (!s.escapes) return piece
  return piece.replace(ESCAPE, (_, hex: string | undefined, c: string) =>
    hex === undefined ? (PLAIN[c] ?? c) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Ends the string: content up to `contentEnd`, token up to `tokenEnd`. */
export function finish(d: Machine, s: StringState, contentEnd: number, tokenEnd: number): typeof DONE {
  flush(d, s, contentEnd)
  // "a" + "b": read on in the same string.
  const next = skip(d, tokenEnd)
  if (next !== MORE && d.buf.charCodeAt(next) === ch.PLUS && s.role !== 'key') {
    const operand = skip(d, next + 1)
    if (operand !== MORE && ch.isQuote(d.buf.charCodeAt(operand))) {
      const quote = d.buf.charCodeAt(operand)
      d.string = {
        ...s,
        quote,
        closers: ch.closersOf(quote),
        delimiter: 1,
        seg: operand + 1,
        rule: 'concatenation',
      }
      d.i = operand + 1
      return DONE
    }
  }
  emit(d, s, s.acc, tokenEnd)
  return DONE
}

/**
 * The string lost its closing quote and ended before the last rejected one, which opens a key or an item. Brackets and
 * commas in between are structure if a line break stands among them; else only the comma is.
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

/** Tells the sink; the decoder goes on after `tokenEnd`. */
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
    d.stack.push({
      kind: OBJECT,
      state: KEY,
      count: 0,
      implicit: true,
      set: false,
      spare: 0,
      start: s.start,
      openEdit: -1,
      round: false,
    })
    d.gapStart = s.start
    d.gapCommas = 0
    d.gapRule = undefined
    emitKey(d, s, text, end)
    return
  }
  if (s.role === 'value' && s.rejects === 0 && listFollows(d, tokenEnd)) openLostList(d, s)
  d.sink.scalar('string', s.rule === 'inner-quote' ? evened(text) : text, s.start, end)
  if (s.rule !== undefined) d.sink.edit(s.rule, s.start, end, 'self')
  d.afterValue()
}

function listFollows(d: Machine, tokenEnd: number): boolean {
  const comma = skip(d, tokenEnd)
  return comma !== MORE && d.buf.charCodeAt(comma) === ch.COMMA && listBegins(d, comma)
}

/** The list of which this string is the first item. */
function openLostList(d: Machine, s: StringState): void {
  d.sink.open('array', s.start)
  d.sink.edit('missing-opener', s.start, s.start, '[')
  d.stack.push({
    kind: LIST,
    state: VALUE,
    count: 1,
    implicit: false,
    set: false,
    spare: 0,
    start: s.start,
    openEdit: -1,
    round: false,
  })
}

/** `{"a": [1, 2, "b": 3}`: the list lost its bracket, and this is the next key of the object around it. */
function listIsOver(d: Machine, s: StringState): boolean {
  const list = d.stack[d.stack.length - 1]
  const around = d.stack[d.stack.length - 2]
  return (
    around?.kind === OBJECT &&
    list !== undefined &&
    !list.implicit &&
    (list.count > 1 || s.before.gapCommas > 0)
  )
}

/** The string is not the value that had begun: its edits and its place are given back. */
export function takeBack(d: Machine, s: StringState): void {
  const frame = d.stack[d.stack.length - 1]
  if (s.role !== 'key') {
    d.sink.rollback(d.valueMark)
    d.sink.undo()
    if (frame !== undefined) frame.count--
  }
  d.gapStart = s.before.gapStart
  d.gapCommas = s.before.gapCommas
  d.gapRule = s.before.gapRule
  d.pending = s.before.pending
}

/** `["key": "value"]`: a member without its braces. */
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
    if (s.rule !== undefined) d.sink.edit(s.rule, s.start, end, 'self')
    d.afterValue()
    return
  }
  d.hold(text, end - d.base, s.rule, s.start)
  frame.state = AFTER_KEY
  d.gapFrom(end - d.base)
}
