/**
 * Fast path of the decoder: reads brackets, commas, keys, strings, numbers and literals that are valid JSON or deviate
 * in the most common ways, as long as an expected token follows. It stops before the first token that needs look-ahead,
 * which the general path then handles. It is an optimisation only: both paths read such tokens alike.
 */
import * as ch from './chars.ts'
import { QUESTION } from './lookahead.ts'
import { type Frame, KEY, LIST, type Machine, OBJECT, ROUND, VALUE } from './machine.ts'
import { ESCAPES } from './strings/string-emit.ts'
import { BRACKET, CONTROL, countBracket, STOPS } from './strings/strings.ts'
import type { NodeKind } from './tree/tree.ts'
import { enter } from './values.ts'

/** The last token found: one mutable object, to avoid an allocation per token. */
const found = {
  key: '',
  /** Offset at which the key was found, so that look-ahead is not repeated. */
  keyAt: -1,
  /** Offset behind the key, and of the colon that follows. */
  keyEnd: 0,
  colon: 0,
  /** What the string contains. */
  escapes: false,
  opens: 0,
  shuts: 0,
  braces: 0,
  brackets: 0,
  kind: 'null' as NodeKind,
  value: null as unknown,
  /** Offset behind the value, and of the comma or bracket that follows. */
  end: 0,
  next: 0,
}

/** Reads from `d.i` as far as the fast path applies. Keeps frequently changed state in local variables. */
export function readPlain(d: Machine): void {
  const { buf, base, sink, stack } = d
  let frame = d.top
  // Behind full-width punctuation the next token may have to be rewritten.
  if (frame === undefined || d.oddToken) return
  let { i, gapStart, gapCommas, gapRule } = d
  found.keyAt = -1
  for (;;) {
    i = skipSpaces(buf, i)
    if (i >= buf.length) break
    let c = buf.charCodeAt(i)
    const inObject: boolean = frame.kind === OBJECT
    const isKeyDue: boolean = inObject && frame.state === KEY
    if (isComma(c)) {
      if (inObject && !isKeyDue) break
      if (c !== ch.COMMA) gapRule ??= 'full-width'
      gapCommas++
      i++
      continue
    }
    if (c === ch.RBRACE || c === ch.RBRACKET) {
      if (!closesPlainly(stack, frame, c)) break
      if (gapCommas > 0 || gapRule !== undefined)
        sink.edit(gapRule ?? 'trailing-comma', gapStart, base + i, '')
      d.spareFrame = stack.pop()
      gapStart = base + ++i
      gapCommas = 0
      gapRule = undefined
      d.closedAt = gapStart
      sink.close(gapStart)
      frame = stack[stack.length - 1] as Frame
      continue
    }
    const token = i
    const first = c
    if (isKeyDue) {
      if (found.keyAt !== i && !findKey(d, frame.count, i, c)) break
      i = skipSpaces(buf, found.colon + 1)
      c = charAt(buf, i)
    }
    const { key, keyEnd } = found
    const isWideColon = isKeyDue && buf.charCodeAt(found.colon) !== ch.COLON
    if (!(frame.state === VALUE || isKeyDue) || !findValue(d, frame, i, c)) {
      if (!isKeyDue) break
      d.i = i
      d.gapStart = gapStart
      d.gapCommas = gapCommas
      d.gapRule = gapRule
      d.hold(key, keyEnd, keyRule(first), base + token)
      d.gapFrom(keyEnd)
      if (isWideColon) d.gapRule = 'full-width'
      frame.state = VALUE
      return
    }
    const start = base + i
    if (inObject && !isKeyDue) {
      // The general path has read the key.
      d.gapStart = gapStart
      d.gapRule = gapRule
      d.beginValue(start)
    } else {
      const wanted = frame.count > 0 ? 1 : 0
      if (gapRule !== undefined || gapCommas !== wanted)
        d.settleGap(gapStart, base + token, wanted, gapCommas, gapRule)
      if (isKeyDue) {
        const rule = keyRule(first)
        if (rule !== undefined) sink.rewrite(rule, base + token, base + keyEnd, key)
        if (isWideColon) sink.edit('full-width', base + keyEnd, start, ':')
        sink.key(key, base + token)
      }
      frame.count++
    }
    gapCommas = 0
    gapRule = undefined
    if (c === ch.LBRACE || c === ch.LBRACKET) {
      d.looked += QUESTION
      frame = enter(d, c === ch.LBRACE ? OBJECT : LIST, start)
      gapStart = base + ++i
      continue
    }
    gapStart = base + found.end
    sink.scalar(found.kind, found.value, start, gapStart)
    if (c === ch.SQUOTE || c === ch.LEFT_DQUOTE) sink.rewriteLast('single-quotes', start, gapStart)
    i = found.next
    if (buf.charCodeAt(i) === ch.COMMA) {
      gapCommas = 1
      i++
    }
  }
  d.i = i
  d.gapStart = gapStart
  d.gapCommas = gapCommas
  d.gapRule = gapRule
}

/** The rule that rewrites a key beginning with this character. */
function keyRule(first: number): 'single-quotes' | 'bare-key' | undefined {
  return first === ch.DQUOTE ? undefined : isPlainQuote(first) ? 'single-quotes' : 'bare-key'
}

/** The quotes that this path reads. */
function isPlainQuote(c: number): boolean {
  return c === ch.DQUOTE || c === ch.SQUOTE || c === ch.LEFT_DQUOTE
}

function isComma(c: number): boolean {
  return c === ch.COMMA || ch.isWideComma(c)
}

/** Whether the bracket closes the innermost value and is not the last one of the text. */
function closesPlainly(stack: readonly Frame[], frame: Frame, c: number): boolean {
  const depth = stack.length
  if (depth < 2 || frame.spare > 0 || frame.implicit || frame.round) return false
  if (frame.kind === OBJECT) return c === ch.RBRACE && frame.state === KEY
  // A list in a list may be the row of a table: see `rowFollows`.
  return c === ch.RBRACKET && !frame.set && stack[depth - 2]?.kind !== LIST
}

/**
 * Index of the closing quote of a string without control characters and with valid escapes only; otherwise -1. Within
 * “ and ” another quote could be the closing one.
 */
function endOfString(buf: string, from: number, opener: number): number {
  const quote = opener === ch.LEFT_DQUOTE ? ch.RIGHT_DQUOTE : opener
  found.escapes = false
  found.opens = 0
  found.shuts = 0
  found.braces = 0
  found.brackets = 0
  const n = buf.length
  for (let i = from; i < n; i++) {
    const c = buf.charCodeAt(i)
    if (c === quote) return i
    if (c === opener || (c === ch.DQUOTE && opener === ch.LEFT_DQUOTE)) return -1
    const stop = c < 128 ? STOPS[c] : 0
    if (stop === BRACKET) countBracket(found, c)
    else if (stop === CONTROL) {
      if (quote !== ch.DQUOTE || c !== ch.BACKSLASH || ESCAPES[buf.charAt(++i)] === undefined) return -1
      found.escapes = true
    }
  }
  return -1
}

function skipSpaces(buf: string, from: number): number {
  let i = from
  for (; i < buf.length; i++) {
    const c = buf.charCodeAt(i)
    if (c > ch.SPACE || !ch.isSpace(c)) break
  }
  return i
}

/** The character at an index; 0 past the end, where `charCodeAt` is slow. */
function charAt(buf: string, i: number): number {
  return i < buf.length ? buf.charCodeAt(i) : 0
}

/** Number of members of an object compared with those of the previous object. */
const RECENT = 32

/**
 * The key that the previous object had at this member index, if it is at `from`: most lists hold objects of one shape.
 */
function recentKey(d: Machine, memberIndex: number, from: number): string | undefined {
  const key = d.recent[memberIndex & (RECENT - 1)]
  const { buf } = d
  if (key === undefined || from + key.length > buf.length) return undefined
  for (let k = 0; k < key.length; k++) if (buf.charCodeAt(from + k) !== key.charCodeAt(k)) return undefined
  return key
}

/** Finds `"name" :` or `name :` at `i`, as the member with this index. */
function findKey(d: Machine, memberIndex: number, i: number, c: number): boolean {
  const { buf } = d
  const isQuoted = isPlainQuote(c)
  const from = isQuoted ? i + 1 : i
  let key = recentKey(d, memberIndex, from)
  let close = isQuoted ? (key === undefined ? -1 : from + key.length) : endOfWord(buf, from)
  const closer = c === ch.LEFT_DQUOTE ? ch.RIGHT_DQUOTE : c
  if (isQuoted && (close < 0 || charAt(buf, close) !== closer)) {
    close = endOfString(buf, from, c)
    key = undefined
    if (found.escapes || found.opens + found.shuts > 0) return false
  }
  if (close < 0) return false
  const end = isQuoted ? close + 1 : close
  const colon = skipSpaces(buf, end)
  if (ch.fold(charAt(buf, colon)) !== ch.COLON || (!isQuoted && charAt(buf, colon + 1) === ch.SLASH))
    return false
  if (key === undefined || key.length !== close - from) {
    key = buf.slice(from, close)
    d.recent[memberIndex & (RECENT - 1)] = key
  }
  found.key = key
  found.keyAt = i
  found.keyEnd = end
  found.colon = colon
  return true
}

/** End of a plain name; -1 if there is no name. */
function endOfWord(buf: string, from: number): number {
  let i = from
  // Not to the end of a longer word: this is asked at many places of it. Behind the text there is no letter.
  while (i - from < 101 && isWordChar(buf.charCodeAt(i))) i++
  return i === from || i - from > 100 ? -1 : i
}

function isWordChar(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || ch.isDigit(c) || c === 95 || c === 36
}

/** Finds an opening bracket or a plain scalar at `i`. */
function findValue(d: Machine, frame: Frame, i: number, c: number): boolean {
  if (isPlainQuote(c)) return findString(d, frame, i, c)
  if (c === ch.LBRACE || c === ch.LBRACKET) return frame.kind !== ROUND && d.stack.length < d.options.depth
  const { buf } = d
  const end = endOfToken(buf, i, c)
  if (end < 0) return false
  const next = skipSpaces(buf, end)
  const after = charAt(buf, next)
  if (after !== ch.RBRACE && after !== ch.RBRACKET) {
    // Behind a comma of full width only a key shows that the token has ended.
    if (ch.isWideComma(after)) {
      const at = skipSpaces(buf, next + 1)
      if (frame.kind !== OBJECT || !isPlainQuote(charAt(buf, at))) return false
      const { kind, value } = found
      if (!findKey(d, frame.count + 1, at, charAt(buf, at))) return false
      found.kind = kind
      found.value = value
    } else if (after !== ch.COMMA) return false
    // In an object, digits after the comma could belong to the number.
    if (found.kind === 'number' && frame.kind === OBJECT) {
      if (next + 1 >= buf.length || ch.isDigit(buf.charCodeAt(next + 1))) return false
    }
  }
  found.end = end
  found.next = next
  return true
}

/** Finds a string value followed by a bracket, or by a comma and then a member, an item or a bracket. */
function findString(d: Machine, frame: Frame, i: number, quote: number): boolean {
  const { buf } = d
  const close = endOfString(buf, i + 1, quote)
  if (close < 0) return false
  const { escapes, braces, brackets } = found
  const next = skipSpaces(buf, close + 1)
  const c = charAt(buf, next)
  const inObject = frame.kind === OBJECT
  if (isComma(c)) {
    const at = skipSpaces(buf, next + 1)
    const after = charAt(buf, at)
    if (after === ch.RBRACE || after === ch.RBRACKET) {
      // A double quote inside single quotes could be the closing one.
      if (quote === ch.SQUOTE && buf.slice(i, close).includes('"')) return false
    } else if (inObject) {
      // The next key begins with the same quote, or without quotes.
      if (after !== quote && isPlainQuote(after)) return false
      if (!findKey(d, frame.count + 1, at, after)) return false
    } else if (after !== quote && after !== ch.LBRACE && after !== ch.LBRACKET) return false
  } else if (c !== (inObject ? ch.RBRACE : ch.RBRACKET)) return false
  else if (braces + brackets > 0) return false
  found.kind = 'string'
  found.value = escapes ? JSON.parse(buf.slice(i, close + 1)) : buf.slice(i + 1, close)
  found.end = close + 1
  found.next = next
  return true
}

const TOKEN = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?/y

/** End of a literal, or of a number without an exponent and of at most 15 characters; -1 for anything else. */
function endOfToken(buf: string, from: number, c: number): number {
  TOKEN.lastIndex = from
  // A token begins with a minus, a digit or a letter: nothing before the minus is worth a test.
  const end = c >= ch.MINUS && TOKEN.test(buf) ? TOKEN.lastIndex : -1
  if (end - from > 15) return -1
  const value = c === 116 || (c !== 102 && (c === 110 ? null : Number(buf.slice(from, end))))
  found.value = value
  found.kind = value === null ? 'null' : (typeof value as NodeKind)
  return end
}
