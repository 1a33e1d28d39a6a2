/**
 * Unquoted values: finds where one ends, and classifies its text as a number, a literal (of JSON, JavaScript and Python)
 * or plain words.
 */

import type { RuleName } from '../rules.ts'
import * as ch from './chars.ts'
import { isEscapedSpace, MORE, memberAt, NO, quotedKeyAt, skip, YES } from './lookahead.ts'
import { chargeStack, LIST, type Machine, OBJECT } from './machine.ts'

type Bare =
  | { readonly kind: 'number'; readonly value: number; readonly rule: RuleName | undefined }
  | { readonly kind: 'big'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly rule?: RuleName }
  | { readonly kind: 'null'; readonly rule?: RuleName }
  /** `NaN`, `Infinity`, `undefined`: values that JSON cannot represent. */
  | { readonly kind: 'constant' }
  | { readonly kind: 'string' }
  /** A sign or point without digits: the start of an incomplete number. */
  | { readonly kind: 'nothing' }

const STRICT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const LOOSE = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d*)?(?:[eE][+-]?\d*)?$/
const SEPARATED = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+(?:_\d+)+|\d{1,3}(?:,\d{3})*)(?:\.\d+(?:_\d+)*)?$/
const HEX = /^[+-]?0[xX][0-9a-fA-F]+$/

const LITERALS: Record<string, Bare> = {}
for (const [words, bare] of [
  ['true', { kind: 'boolean', value: true }],
  ['false', { kind: 'boolean', value: false }],
  ['null', { kind: 'null' }],
  ['True TRUE', { kind: 'boolean', value: true, rule: 'literal' }],
  ['False FALSE', { kind: 'boolean', value: false, rule: 'literal' }],
  ['None Null NULL nil', { kind: 'null', rule: 'literal' }],
  ['undefined NaN nan Infinity +Infinity -Infinity inf -inf', { kind: 'constant' }],
] as const)
  for (const word of words.split(' ')) LITERALS[word] = bare

/** Classifies an unquoted token. */
export function classify(text: string): Bare {
  const c = text.charCodeAt(0)
  // Letters first: most bare tokens are literals or words.
  if (c > 57 || c === 36) return Object.hasOwn(LITERALS, text) ? (LITERALS[text] as Bare) : { kind: 'string' }
  if (STRICT.test(text)) return exactNumber(text)
  if (Object.hasOwn(LITERALS, text)) return LITERALS[text] as Bare
  if (HEX.test(text)) return hex(text)
  if (LOOSE.test(text)) return loose(text)
  if (text.length < 64 && SEPARATED.test(text)) {
    const plain = text.replaceAll(',', '').replaceAll('_', '')
    return /^[+-]?0\d/.test(plain) ? { kind: 'string' } : exactNumber(plain, 'number')
  }
  return { kind: 'string' }
}

function hex(text: string): Bare {
  const negative = text.startsWith('-')
  const value = Number(text.replace(/^[+-]/, ''))
  if (!Number.isSafeInteger(value)) return { kind: 'string' }
  return { kind: 'number', value: negative ? -value : value, rule: 'number' }
}

/** `+1`, `.5`, `5.`, `2e`: keeps the digits present and invents none. */
function loose(text: string): Bare {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d*))?$/.exec(text)
  if (match === null) return { kind: 'string' }
  const [, sign, whole, fraction, exponent] = match
  if (!whole && !fraction) return { kind: exponent === undefined ? 'nothing' : 'string' }
  const tail = exponent && /\d/.test(exponent) ? `e${exponent}` : ''
  const plain = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${tail}`
  return exactNumber(plain, 'number')
}

/** Never loses digits silently: a number that a double cannot hold stays text. */
export function exactNumber(text: string, rule?: RuleName): Bare {
  const value = Number(text)
  if (!Number.isFinite(value)) return { kind: 'big', value: text }
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && losesDigits(text, value)) {
    return { kind: 'big', value: text }
  }
  return { kind: 'number', value, rule }
}

/** Whether an integer, as written, differs from its double value. */
function losesDigits(text: string, value: number): boolean {
  return /^[+-]?\d+$/.test(text) && BigInt(text) !== BigInt(value)
}

// Finds the end of an unquoted value: the next key, comma or bracket that cannot belong to it.

/** Maximum length of an unquoted value in a stream, which scans it again with every chunk. */
const LONGEST = 20_000

/** Index at which the search for the end of the unquoted value at `d.i` stops. */
function searchLimit({ buf, i, final }: Machine): number {
  return final ? buf.length : Math.min(buf.length, i + LONGEST)
}

/** Index after the last character of the bare token at `d.i`, or MORE. */
export function bareEnd(d: Machine): number {
  const quick = plainToken(d)
  if (quick !== NO) return quick
  return d.stack.length === 0 ? rootEnd(d) : d.top?.kind === OBJECT ? valueEnd(d) : itemEnd(d)
}

/** Common case: numbers and literals followed by a separator. NO: needs the full check. */
function plainToken(d: Machine): number {
  const { buf } = d
  let i = Math.max(d.i, d.scanned - d.base)
  while (i < buf.length && isPlain(buf.charCodeAt(i))) i++
  d.scanned = d.base + i
  if (i >= buf.length) return d.final ? i : MORE
  if (i === d.i) return NO
  const c = buf.charCodeAt(i)
  if (c === ch.RBRACE || c === ch.RBRACKET || (c === ch.RPAREN && d.top?.round)) return i
  if (c === ch.BACKSLASH && isEscapedSpace(buf.charCodeAt(i + 1))) return i
  if (c === ch.COMMA) {
    if (d.top?.kind !== OBJECT || isWhole(buf.slice(d.i, i), buf.charCodeAt(i + 1))) return i
    const answer = memberAt(d, i + 1)
    return answer === MORE ? MORE : answer === YES ? i : NO
  }
  return NO
}

/**
 * Whether the token ends here: a literal ends at a comma, and so does a number unless digits follow that may belong to
 * it.
 */
function isWhole(token: string, next: number): boolean {
  if (ch.isDigit(token.charCodeAt(token.length - 1)))
    return !ch.isDigit(next) && /^-?\d+(?:\.\d+)?$/.test(token)
  return /^(?:true|false|null|True|False|None)$/.test(token)
}

function isPlain(c: number): boolean {
  return (
    ch.isDigit(c) ||
    (c >= 97 && c <= 122) ||
    c === ch.MINUS ||
    c === ch.DOT ||
    c === ch.PLUS ||
    (c >= 65 && c <= 90)
  )
}

function rootEnd(d: Machine): number {
  const { buf } = d
  let i = d.i
  while (i < buf.length && buf.charCodeAt(i) !== ch.LF) {
    if (buf.charCodeAt(i) === ch.LPAREN) return i
    i++
  }
  return i >= buf.length && !d.final ? MORE : i
}

/** End of a value in an object: a comma or line break before the next key, or the closing brace. */
function valueEnd(d: Machine): number {
  const { buf } = d
  let open = 0
  const limit = searchLimit(d)
  for (let i = d.i; i < limit; i++) {
    const c = ch.fold(buf.charCodeAt(i))
    if (d.givesUp()) return i
    if (c === ch.LF && isFenceLine(buf, i + 1)) return i
    if (c === ch.COMMA || c === ch.LF || c === ch.SEMICOLON) {
      const member = memberAt(d, i + 1)
      if (member === MORE) return MORE
      if (member === YES && (c !== ch.LF || !endsList(d, i))) return i
      const next = skip(d, i + 1)
      if (c === ch.COMMA && next >= 0 && (ch.fold(buf.charCodeAt(next)) === ch.COMMA || nextObject(d, next)))
        return i
      // A fence ends the value, so the separator before it is not part of the value either.
      if (c !== ch.LF && next >= 0 && isFenceLine(buf, next) && buf.slice(i, next).includes('\n')) return i
      // Skip consecutive line breaks: the check gives the same result for each.
      while (c === ch.LF && i + 1 < limit && buf.charCodeAt(i + 1) === ch.LF && !isFenceLine(buf, i + 2)) i++
    } else if (c === ch.LPAREN && open === 0 && isCall(buf, d.i, i)) {
      return i
    } else if (c === ch.LBRACE && open === 0 && nextObject(d, i) && isValue(buf.slice(d.i, i))) {
      return i
    } else if (ch.isOpener(c) || c === ch.LPAREN) {
      open++
    } else if (ch.isCloser(c)) {
      if (open === 0 && (c !== ch.RPAREN || d.top?.round)) return i
      if (open > 0) open--
    } else if (c === ch.DQUOTE || c === ch.SQUOTE || c === 0x201c) {
      if (i > d.i && ch.isSpace(buf.charCodeAt(i - 1))) {
        const key = quotedKeyAt(d, i)
        if (key === MORE) return MORE
        if (key === YES) return i
      }
    } else if ((c === ch.SLASH || c === ch.HASH) && isComment(buf, d.i, i)) {
      return i
    }
  }
  return limit === buf.length && !d.final ? MORE : limit
}

/** Whether the line begins with a fence, which is never part of a value. */
function isFenceLine(buf: string, from: number): boolean {
  const ink = buf.slice(from, from + 16).trimStart()
  return ink.startsWith('```') || ink.startsWith('~~~')
}

/** Whether the next object of the surrounding list begins: this one lost its closing brace. */
function nextObject(d: Machine, i: number): boolean {
  if (d.buf.charCodeAt(i) !== ch.LBRACE || d.parent?.kind !== LIST) return false
  const key = skip(d, i + 1)
  return key >= 0 && ch.isQuote(d.buf.charCodeAt(key))
}

function isValue(text: string): boolean {
  return text.length < 40 && /^(?:[+-]?\d[\d.eE+-]*|true|false|null|None|True|False)\s*$/.test(text)
}

/** A line break before a bracket that closes the object ends the value only if the value has no open bracket. */
function endsList(d: Machine, i: number): boolean {
  const next = skip(d, i + 1)
  chargeStack(d)
  return next >= 0 && d.buf.charCodeAt(next) === ch.RBRACKET && d.stack.every((f) => f.kind === OBJECT)
}

function isCall(buf: string, from: number, at: number): boolean {
  return (
    at > from &&
    at - from < 64 &&
    /^(?:new\s+)?[A-Za-z_$][\w$.]*$/.test(buf.slice(from, at)) &&
    startsArgument(buf, at + 1)
  )
}

function startsArgument(buf: string, i: number): boolean {
  const c = buf.charCodeAt(i)
  if (ch.isQuote(c) || ch.isDigit(c) || ch.isOpener(c) || c === ch.RPAREN || c === ch.MINUS) return true
  return /^(?:null|true|false|None|True|False|[A-Za-z_]\w*\s*=)/.test(buf.slice(i, i + 40))
}

function isComment(buf: string, from: number, i: number): boolean {
  const next = buf.charCodeAt(i + 1)
  if (next === ch.STAR && buf.charCodeAt(i) === ch.SLASH) return true
  if (i > from && !ch.isSpace(buf.charCodeAt(i - 1))) return false
  if (buf.charCodeAt(i) === ch.HASH) return ch.isSpace(next)
  return next === ch.SLASH
}

/** End of a value in a list: the next comma, line break or closing bracket. */
function itemEnd(d: Machine): number {
  const { buf } = d
  let open = 0
  const limit = searchLimit(d)
  for (let i = d.i; i < limit; i++) {
    const c = ch.fold(buf.charCodeAt(i))
    if (c === ch.LPAREN && open === 0 && isCall(buf, d.i, i)) return i
    if (c === ch.LPAREN) open++
    else if (c === ch.RPAREN && open > 0) open--
    else if (
      ((c === ch.COMMA || c === ch.SEMICOLON) && open === 0) ||
      c === ch.LF ||
      (ch.isCloser(c) && open === 0)
    )
      return i
    else if (c === ch.LBRACE && i > d.i) return i
    else if (ch.isSpace(c) && splitsHere(buf, d.i, i)) return i
    else if ((c === ch.SLASH || c === ch.HASH) && isComment(buf, d.i, i)) return i
  }
  return limit === buf.length && !d.final ? MORE : limit
}

/** `[1 2 "x"]`: a number or literal ends where another value clearly begins. */
function splitsHere(buf: string, from: number, space: number): boolean {
  if (
    !/^(?:[+-]?\d[\d.eE+-]*|true|false|null|None|True|False)$/.test(
      buf.slice(from, Math.min(space, from + 40)),
    )
  )
    return false
  let i = space
  while (ch.isSpace(buf.charCodeAt(i))) i++
  const c = buf.charCodeAt(i)
  return ch.isDigit(c) || c === ch.MINUS || ch.isQuote(c) || ch.isOpener(c)
}
