/** Handles text that ends inside a string: decides whether the closing quote is missing or the text was cut off. */
import * as ch from '../chars.ts'
import { type Machine, OBJECT, type StringState, VALUE } from '../machine.ts'
import { contentUntil, emit, rejectedText, takeBack, withoutOddQuote } from './string-emit.ts'

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
  if (match === null || s.acc !== '' || s.escapes || s.rejects > 0) return false
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
  const rest = s.role === 'value' && s.acc === '' && !s.escapes ? memberLength(text) : 0
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
  const frame = d.stack[d.stack.length - 1]
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
