/** The end of a string: telling the sink, reading on after `+`, and strings that turn out to be keys. */
import * as ch from './chars.ts'
import { MORE, skip } from './lookahead.ts'
import { AFTER_KEY, KEY, type Machine, OBJECT, type StringState } from './machine.ts'

/** The string is settled. */
export const DONE = -2

/** Collects content up to `i`. */
export function flush(d: Machine, s: StringState, i: number): void {
  if (i > s.seg) s.acc += d.buf.slice(s.seg, i)
  s.seg = i
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

/** The string lost its closing quote and ended before the last rejected one, which opens a key. */
export function finishBefore(d: Machine, s: StringState): typeof DONE {
  const at = s.rejectAt - d.base
  if (s.seg < at) flush(d, s, at)
  const text = s.acc.slice(0, s.rejectLength).replace(/[\s,]+$/, '')
  const gap = /[\s,]*$/.exec(d.buf.slice(Math.max(0, s.start - d.base, at - 256), at))?.[0].length ?? 0
  s.rule = 'missing-quote'
  emit(d, s, text, at - gap)
  return DONE
}

/** Tells the sink; the decoder goes on after `tokenEnd`. */
export function emit(d: Machine, s: StringState, text: string, tokenEnd: number): void {
  d.string = undefined
  d.i = tokenEnd
  const end = d.base + tokenEnd
  if (s.role === 'key') return emitKey(d, s, text, end)
  if (s.role === 'item' && startsImplicitObject(d, s, tokenEnd)) {
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
    return emitKey(d, s, text, end)
  }
  d.sink.scalar('string', text, s.start, end)
  if (s.rule !== undefined) d.sink.edit(s.rule, s.start, end, 'self')
  d.afterValue()
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
  d.pending = {
    text,
    start: s.start,
    end,
    rule: s.rule,
    gapStart: d.gapStart,
    gapCommas: d.gapCommas,
    gapRule: d.gapRule,
  }
  frame.state = AFTER_KEY
  d.gapFrom(end - d.base)
}
