/**
 * The tolerant decoder: one pass over text that is meant to be JSON, with an explicit stack and bounded look-ahead.
 * It reads valid JSON exactly as JSON.parse would, and anything else as the nearest value that a careful person would
 * see in it, telling a sink what it reads and which edits turn the text into strict JSON. `write` may be called many
 * times: a whole text is a stream pushed once.
 *
 * Between two tokens lies a gap. Whatever stands there (commas, comments, stray words) is summed up in `gapCommas` and
 * `gapRule`; when the next token begins, the gap must have been exactly the separator that JSON wants, or it becomes
 * one edit that replaces it. So every oddity is either in a token, which is then replaced whole, or in a gap.
 */
import { classify } from './bare.ts'
import { bareEnd } from './bare-end.ts'
import * as ch from './chars.ts'
import { onCloser } from './closers.ts'
import { isEllipsis, isEscapedSpace, MORE, quotedKeyAt, skip, skipComment, YES } from './lookahead.ts'
import {
  AFTER_KEY,
  type DecoderOptions,
  type Frame,
  KEY,
  LIST,
  type Machine,
  OBJECT,
  type PendingKey,
  ROUND,
  type StringState,
  VALUE,
} from './machine.ts'
import { plainBareKey, plainKey, plainString, plainToken } from './plain.ts'
import type { RuleName } from './rules.ts'
import { openString, readString } from './strings.ts'
import type { Sink, TreeSink } from './tree.ts'

export class Decoder implements Machine {
  buf = ''
  final = false
  i = 0
  /** Offset of `buf[0]` in the whole text. */
  base = 0
  readonly stack: Frame[] = []
  string: StringState | undefined
  truncated = false
  ambiguous = false
  scanned = 0
  tooDeep = false
  /** The root value is complete. */
  done = false

  gapStart = 0
  gapCommas = 0
  gapRule: RuleName | undefined
  pending: PendingKey | undefined
  /** Edits that stood before the value now being read; a value that is taken back takes its edits along. */
  valueMark = 0

  readonly sink: Sink
  readonly options: DecoderOptions

  constructor(sink: Sink, options: DecoderOptions) {
    this.sink = sink
    this.options = options
  }

  get top(): Frame | undefined {
    return this.stack[this.stack.length - 1]
  }

  /** Begins a value at `i`, which must stand at its first character. */
  start(): void {
    this.done = false
    this.truncated = false
    this.ambiguous = false
    this.scanned = 0
    this.tooDeep = false
    this.stack.length = 0
    this.string = undefined
    this.pending = undefined
    this.gapStart = this.base + this.i
    this.gapCommas = 0
    this.gapRule = undefined
    this.valueMark = 0
  }

  /** Reads on until the value is done or the text is used up. */
  run(): void {
    while (!this.done) {
      if (this.string !== undefined) {
        if (!readString(this, this.string)) return
      } else if (!this.step()) return
    }
  }

  /** One token or one piece of a gap; false when more text is needed. */
  step(): boolean {
    const { buf } = this
    let i = this.i
    while (i < buf.length && ch.isSpace(buf.charCodeAt(i))) i++
    this.i = i
    if (i >= buf.length) {
      if (this.final) this.endOfText()
      return false
    }
    const raw = buf.charCodeAt(i)
    const c = ch.fold(raw)
    if (c !== raw) this.oddToken = true
    const frame = this.top
    switch (c) {
      case ch.COMMA:
        return this.comma(frame)
      case ch.RBRACE:
      case ch.RBRACKET:
      case ch.RPAREN:
        return onCloser(this, c)
      case ch.SLASH:
      case ch.HASH:
        return this.slash(c, frame)
      case ch.BACKSLASH:
        return this.backslash(frame)
      case ch.COLON:
      case ch.EQUALS:
        return this.colon(c, frame)
    }
    const isKey = frame !== undefined && frame.kind === OBJECT && frame.state === KEY
    if (c === ch.DQUOTE || c === ch.SQUOTE) {
      if (isKey ? plainKey(this, c) : plainString(this, c)) return true
    } else if (c < 128 && (isKey ? plainBareKey(this) : plainToken(this, c))) return true
    if (ch.isOddSpace(c)) return this.pass(1, 'odd-space')
    if (c === ch.SEMICOLON) return this.semicolon(frame)
    if (
      (c === ch.DOT || c === 0x2026) &&
      isEllipsis(buf, i) &&
      (frame?.state !== VALUE || frame.kind !== OBJECT)
    ) {
      return this.pass(buf.charCodeAt(i) === 0x2026 ? 1 : 3, 'ellipsis')
    }
    if (isKey) return this.keyStart(c, frame)
    return this.valueStart(c)
  }

  /** The token at hand was written with full-width punctuation. */
  oddToken = false

  /** Leaves `length` characters of the gap behind. */
  pass(length: number, rule: RuleName): boolean {
    this.i += length
    this.gapRule ??= rule
    return true
  }

  private comma(frame: Frame | undefined): boolean {
    if (this.oddToken) this.gapRule ??= 'full-width'
    this.oddToken = false
    if (frame?.kind === OBJECT && frame.state !== KEY) this.dropPending('missing-value')
    this.i++
    this.gapCommas++
    return true
  }

  /** A semicolon between members or items is a comma; at the end of a statement it is nothing. */
  private semicolon(frame: Frame | undefined): boolean {
    if (frame === undefined || frame.implicit || (frame.kind === OBJECT && frame.state !== KEY))
      return this.pass(1, 'stray-text')
    this.gapRule ??= 'missing-comma'
    this.gapCommas++
    this.i++
    return true
  }

  private colon(c: number, frame: Frame | undefined): boolean {
    const odd = this.oddToken
    this.oddToken = false
    if (frame?.kind !== OBJECT || frame.state !== AFTER_KEY) {
      if (c === ch.EQUALS && (frame?.kind !== OBJECT || frame.state === VALUE)) return this.valueStart(c)
      return this.pass(1, 'stray-text')
    }
    frame.state = VALUE
    const arrow = c === ch.EQUALS && this.buf.charCodeAt(this.i + 1) === 62
    if (c === ch.EQUALS || odd) this.gapRule ??= odd ? 'full-width' : 'missing-colon'
    this.i += arrow ? 2 : 1
    return true
  }

  private slash(c: number, frame: Frame | undefined): boolean {
    const after = skipComment(this, this.i)
    if (after === MORE) return false
    const wantsValue = frame === undefined || frame.kind !== OBJECT || frame.state === VALUE
    if (after === this.i) {
      if (wantsValue) return this.valueStart(c)
      return this.pass(1, 'stray-text')
    }
    this.i = after
    this.gapRule ??= 'comment'
    return true
  }

  private backslash(frame: Frame | undefined): boolean {
    const next = this.buf.charCodeAt(this.i + 1)
    if (this.i + 1 >= this.buf.length && !this.final) return false
    if (ch.isQuote(next)) {
      if (frame?.kind === OBJECT && frame.state === KEY) return openString(this, 'key', true)
      return this.beginString(true)
    }
    if (isEscapedSpace(next)) return this.pass(2, 'odd-space')
    return this.pass(1, 'stray-text')
  }

  private keyStart(c: number, frame: Frame): boolean {
    if (c === ch.BACKTICK && this.buf.startsWith('```', this.i)) return this.passFence()
    if (ch.isQuote(c)) return openString(this, 'key', false)
    if (c === ch.LBRACE || c === ch.LBRACKET || c === ch.LPAREN) return this.bracketForKey(c, frame)
    return this.bareKey(frame)
  }

  /** An opening bracket where a key should be. */
  private bracketForKey(c: number, frame: Frame): boolean {
    const parent = this.stack[this.stack.length - 2]
    this.oddToken = false
    if (frame.count > 0 && parent?.kind === LIST && c === ch.LBRACE) {
      this.closeFrame('missing-closer')
      return true
    }
    if (frame.count === 0 && !frame.implicit && this.gapCommas === 0) {
      // {{"a":1}} and {[1,2]}: the outer brace says nothing.
      if (c === ch.LBRACE) {
        frame.spare++
        return this.pass(1, 'extra-closer')
      }
      this.toList(frame)
      return true
    }
    if (c === ch.LPAREN) return this.pass(roundLength(this.buf, this.i), 'stray-text')
    // A value without a key: it cannot be kept, and must not be lost unseen.
    return this.pass(balancedLength(this.buf, this.i), 'stray-value')
  }

  /** What looked like an object is a set: read it as a list. */
  toList(frame: Frame): void {
    frame.kind = LIST
    frame.state = VALUE
    frame.set = true
    this.sink.reopen('array')
    this.sink.edit('tuple', frame.start, frame.start + 1, '[')
  }

  private bareKey(frame: Frame): boolean {
    const { buf } = this
    let i = this.i
    while (i < buf.length && i < this.i + 256) {
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
    if (i >= buf.length && !this.final) return false
    const stop = ch.fold(buf.charCodeAt(i))
    const text = buf.slice(this.i, i).trimEnd()
    if (stop === ch.COLON || stop === ch.EQUALS)
      return this.takeKey(text, this.i + text.length, frame, 'bare-key')
    if (ch.isQuote(stop)) return this.bareBeforeQuote(text, i, frame)
    if (
      (stop === ch.COMMA || stop === ch.RBRACE) &&
      frame.count === 0 &&
      this.gapCommas === 0 &&
      !frame.implicit &&
      text !== ''
    ) {
      this.toList(frame)
      return true
    }
    return this.pass(Math.max(1, i - this.i), 'stray-text')
  }

  /** Words and then a quote: a key that lost its opening quote or its colon, or words that belong to nothing. */
  private bareBeforeQuote(text: string, quote: number, frame: Frame): boolean {
    const after = skip(this, quote + 1)
    if (after === MORE) return false
    const adjacent = this.i + text.length === quote
    if (adjacent && ch.fold(this.buf.charCodeAt(after)) === ch.COLON)
      return this.takeKey(text, quote + 1, frame, 'missing-quote')
    const key = quotedKeyAt(this, quote)
    if (key === MORE) return false
    if (key === YES || !/^[\w$-]+$/.test(text)) return this.pass(quote - this.i, 'stray-text')
    return this.takeKey(text, this.i + text.length, frame, 'bare-key')
  }

  /** The key is known; it counts once its value begins. */
  takeKey(text: string, end: number, frame: Frame, rule: RuleName | undefined): boolean {
    this.hold(text, end, rule)
    frame.state = AFTER_KEY
    this.i = end
    this.gapFrom(end)
    return true
  }

  hold(text: string, end: number, rule: RuleName | undefined, start = this.base + this.i): void {
    const key = this.#held
    key.text = text
    key.start = start
    key.end = this.base + end
    key.rule = rule
    key.gapStart = this.gapStart
    key.gapCommas = this.gapCommas
    key.gapRule = this.gapRule
    this.pending = key
  }

  /** The one pending key there can be: a single object saves an allocation for every member. */
  readonly #held: PendingKey = {
    text: '',
    start: 0,
    end: 0,
    rule: undefined,
    gapStart: 0,
    gapCommas: 0,
    gapRule: undefined,
  }

  /** The key has no value: it goes back into the gap before it. */
  dropPending(rule: RuleName): void {
    const frame = this.top
    const key = this.pending
    if (frame === undefined || key === undefined) return
    this.gapStart = key.gapStart
    this.gapCommas = key.gapCommas
    this.gapRule = rule
    this.pending = undefined
    frame.state = KEY
  }

  valueStart(c: number): boolean {
    if (this.top?.kind === ROUND && this.top.count === 0 && namedArgument(this)) {
      this.top.kind = OBJECT
      this.top.state = KEY
      this.sink.reopen('object')
      this.sink.reedit(this.top.openEdit, '{')
      return true
    }
    if (c === ch.LBRACE || c === ch.LBRACKET || c === ch.LPAREN) return this.openBracket(c)
    if (c === ch.BACKTICK && this.buf.startsWith('```', this.i)) return this.fenceAsValue()
    if (isStringPrefix(this.buf, this.i)) return this.pass(1, 'literal')
    if (ch.isQuote(c)) return this.beginString(false)
    return this.bareValue()
  }

  private openBracket(c: number): boolean {
    if (this.stack.length >= this.options.depth) {
      this.tooDeep = true
      this.done = true
      return false
    }
    const start = this.base + this.i
    this.beginValue(start)
    const odd = this.oddToken
    this.oddToken = false
    const kind = c === ch.LBRACE ? OBJECT : c === ch.LBRACKET ? LIST : ROUND
    this.sink.open(kind === OBJECT ? 'object' : 'array', start)
    const openEdit = this.sink.mark()
    if (odd) this.sink.edit('full-width', start, start + 1, kind === OBJECT ? '{' : '[')
    if (kind === ROUND) this.sink.edit('tuple', start, start + 1, '[')
    this.stack.push({
      kind,
      state: kind === OBJECT ? KEY : VALUE,
      count: 0,
      implicit: false,
      set: false,
      spare: 0,
      start,
      openEdit,
      round: kind === ROUND,
    })
    this.i++
    this.gapFrom(this.i)
    return true
  }

  private passFence(): boolean {
    let i = this.i + 3
    while (ch.isNameChar(this.buf.charCodeAt(i))) i++
    return i >= this.buf.length && !this.final ? false : this.pass(i - this.i, 'fence')
  }

  /** Fences around a value are passed over; a fence around anything else is that text. */
  private fenceAsValue(): boolean {
    const { buf } = this
    let i = this.i + 3
    while (i < buf.length && i < this.i + 40 && ch.isNameChar(buf.charCodeAt(i))) i++
    const after = skip(this, i)
    if (after === MORE) return false
    const c = ch.fold(buf.charCodeAt(after))
    if (c === ch.LBRACE || c === ch.LBRACKET || ch.isCloser(c) || c === ch.COMMA || after >= buf.length) {
      return this.pass(after - this.i, 'fence')
    }
    return this.beginString(false)
  }

  beginString(escaped: boolean): boolean {
    this.valueMark = this.sink.mark()
    return openString(
      this,
      this.stack.length === 0 ? 'root' : this.top?.kind === OBJECT ? 'value' : 'item',
      escaped,
    )
  }

  private bareValue(): boolean {
    const end = bareEnd(this)
    if (end === MORE) return false
    let text = trimInk(this.buf.slice(this.i, end))
    let stop = this.i + text.length
    const call = /^(?:new\s+)?[A-Za-z_$][\w$.]*\s*$/.test(text) && this.buf.charCodeAt(end) === ch.LPAREN
    if (call) return this.pass(end - this.i, 'call')
    let rule: RuleName = 'bare-value'
    if (text.length > 1 && ch.isQuote(text.charCodeAt(text.length - 1)) && !ch.isQuote(text.charCodeAt(0))) {
      text = text.slice(0, -1)
      rule = 'missing-quote'
    }
    const bare = classify(text)
    if (bare.kind === 'nothing' || text === '') return this.nothing(Math.max(1, stop - this.i))
    if (bare.kind === 'string' && stop >= this.buf.length && this.cutsOff())
      return this.nothing(stop - this.i)
    stop = this.base + stop
    const start = this.base + this.i
    this.beginValue(start)
    this.emitBare(text, start, stop, rule)
    this.i = stop - this.base
    this.afterValue()
    return true
  }

  private emitBare(text: string, start: number, stop: number, wordRule: RuleName): void {
    const { sink } = this
    const bare = classify(text)
    switch (bare.kind) {
      case 'string':
        this.marked('string', text, start, stop, true, false)
        sink.edit(wordRule, start, stop, 'self')
        return
      case 'big':
        this.marked('string', bare.value, start, stop, false, true)
        sink.edit('big-number', start, stop, 'self')
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
    if (rule !== undefined) sink.edit(rule, start, stop, 'self')
  }

  marked(kind: 'string', value: string, start: number, end: number, bare: boolean, big: boolean): void {
    const tree = this.sink as Partial<TreeSink>
    if (tree.marked !== undefined) (this.sink as TreeSink).marked(kind, value, { start, end, bare, big })
    else this.sink.scalar(kind, value, start, end)
  }

  /** The text ends in the middle of an unquoted word of a real container: half a word is no value. */
  private cutsOff(): boolean {
    return !this.options.acceptTruncated && this.stack.some((frame) => !frame.implicit)
  }

  /** A sign without digits: no value at all. */
  private nothing(length: number): boolean {
    const frame = this.top
    this.i += length
    if (frame?.kind === OBJECT) this.dropPending('missing-value')
    else this.gapRule ??= 'stray-text'
    return true
  }

  /** A value begins at `start`: settle the gap before it. */
  beginValue(start: number): void {
    const frame = this.top
    if (frame === undefined) return
    if (frame.kind === OBJECT) {
      const key = this.pending as PendingKey
      this.settleGap(key.gapStart, key.start, frame.count > 0 ? 1 : 0, key.gapCommas, key.gapRule)
      if (key.rule !== undefined) this.sink.edit(key.rule, key.start, key.end, JSON.stringify(key.text))
      const colons = frame.state === VALUE ? 0 : 1
      if (colons === 1 || this.gapRule !== undefined) {
        this.sink.edit(this.gapRule ?? 'missing-colon', this.gapStart, start, ':')
      }
      this.sink.key(key.text, key.start)
      this.pending = undefined
      frame.state = KEY
    } else {
      this.settleGap(this.gapStart, start, frame.count > 0 ? 1 : 0, this.gapCommas, this.gapRule)
    }
    frame.count++
  }

  private settleGap(
    from: number,
    to: number,
    wanted: number,
    commas: number,
    rule: RuleName | undefined,
  ): void {
    if (rule === undefined && commas === wanted) return
    const why = rule ?? (commas < wanted ? 'missing-comma' : 'trailing-comma')
    this.sink.edit(why, from, to, wanted === 1 ? ',' : '')
  }

  /** A value has ended at `i`. */
  afterValue(): void {
    this.gapFrom(this.i)
    if (this.stack.length === 0) this.done = true
  }

  gapFrom(i: number): void {
    this.gapStart = this.base + i
    this.gapCommas = 0
    this.gapRule = undefined
  }

  /** Closes the top frame at `i` without a bracket in the text. */
  closeFrame(rule: RuleName): void {
    const frame = this.stack[this.stack.length - 1] as Frame
    if (frame.kind === OBJECT && frame.state !== KEY) this.dropPending('missing-value')
    this.stack.pop()
    const text = frame.kind === OBJECT ? '}' : ']'
    // What lies in the gap still separates the value from what follows, unless the text is over.
    this.sink.edit(rule, this.gapStart, this.gapStart, text)
    this.sink.close(this.gapStart)
    if (this.stack.length === 0) this.done = true
  }

  private endOfText(): void {
    if (this.stack.some((frame) => !frame.implicit)) this.truncated = true
    if (this.top?.kind === OBJECT && this.top.state !== KEY) this.dropPending('missing-value')
    const end = this.base + this.buf.length
    if (this.stack.length > 0 && this.gapStart < end)
      this.sink.edit(this.gapRule ?? 'truncated', this.gapStart, end, '')
    this.gapStart = end
    while (this.stack.length > 0) this.closeFrame('truncated')
    this.done = true
  }
}

/** A remark in round brackets on one line, or just the bracket. */
function roundLength(buf: string, from: number): number {
  return /^\([^()\n"]{0,200}\)/.exec(buf.slice(from, from + 204))?.[0].length ?? 1
}

/** How long the bracketed text at `from` is; at least 1, and bounded. */
function balancedLength(buf: string, from: number): number {
  let open = 0
  const end = Math.min(buf.length, from + 10_000)
  for (let i = from; i < end; i++) {
    const c = buf.charCodeAt(i)
    if (ch.isOpener(c)) open++
    else if (c === ch.RBRACE || c === ch.RBRACKET) {
      if (--open === 0) return i + 1 - from
    }
  }
  return 1
}

/** `r"…"`, `f'…'`: a Python string. */
function isStringPrefix(buf: string, i: number): boolean {
  const next = buf.charCodeAt(i + 1)
  if ((next !== ch.DQUOTE && next !== ch.SQUOTE) || !/[rRfFuUbB]/.test(buf[i] as string)) return false
  return /^[^\n]{0,400}?["']\s*[,}\])]/.test(buf.slice(i + 2, i + 420))
}

/** Without the spaces at its end, invisible ones included. */
function trimInk(text: string): string {
  let end = text.length
  while (end > 0 && (ch.isSpace(text.charCodeAt(end - 1)) || ch.isOddSpace(text.charCodeAt(end - 1)))) end--
  return text.slice(0, end)
}

/** `name=` as in `f(name=1)`. */
function namedArgument(d: Decoder): boolean {
  return /^[A-Za-z_]\w*\s*=(?!=)/.test(d.buf.slice(d.i, d.i + 80))
}
