/** Reads the key position of an object: quoted and bare keys, stray words, brackets, fences. */
import * as ch from './chars.ts'
import { MORE, quotedKeyAt, skip, YES } from './lookahead.ts'
import { type Frame, LIST, type Machine } from './machine.ts'
import { openString } from './strings/strings.ts'

/** Reads a key at `d.i`; false when more text is needed. */
export function keyStart(d: Machine, c: number, frame: Frame): boolean {
  if (c === ch.BACKTICK && d.buf.startsWith('```', d.i)) return passFence(d)
  if (ch.isQuote(c)) return openString(d, 'key', false)
  if (c === ch.LBRACE || c === ch.LBRACKET || c === ch.LPAREN) return bracketForKey(d, c, frame)
  return bareKey(d, frame)
}

/** Handles an opening bracket in key position. */
function bracketForKey(d: Machine, c: number, frame: Frame): boolean {
  const parent = d.stack[d.stack.length - 2]
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
