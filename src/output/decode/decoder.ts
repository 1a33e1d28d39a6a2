/**
 * The tolerant decoder: a single-pass pushdown parser with an explicit stack and bounded look-ahead. Valid JSON is read
 * exactly as `JSON.parse` reads it; other text as the nearest plausible value. A sink receives the values and the edits
 * that turn the text into strict JSON. `write` may be called many times: a whole text is a stream with one chunk.
 * Between two tokens is a gap. Its content (commas, comments, stray words) is summarised in `gapCommas` and `gapRule`.
 * When the next token begins, a gap that is not exactly the separator JSON requires is replaced by one edit. So every
 * deviation is either inside a token, which is replaced as a whole, or inside a gap.
 */

import type { RuleName } from '../rules.ts'
import * as ch from './chars.ts'
import { onCloser } from './closers.ts'
import { endsAll } from './ends.ts'
import { createSearchedRanges, isEllipsis, isEscapedSpace, MORE, skipComment } from './lookahead.ts'
import {
  AFTER_KEY,
  type DecoderOptions,
  type Frame,
  KEY,
  LIST,
  type Machine,
  OBJECT,
  type PendingKey,
  resetString,
  type StringState,
  VALUE,
} from './machine.ts'
import { readPlain } from './plain.ts'
import { openString, readString } from './strings/strings.ts'
import type { Sink } from './tree/tree.ts'
import { beginString, keyStart, valueStart } from './values.ts'

export class Decoder implements Machine {
  buf = ''
  final = false
  i = 0
  /** Offset of `buf[0]` in the whole text. */
  base = 0
  readonly stack: Frame[] = []
  spareFrame: Frame | undefined
  string: StringState | undefined
  // The cast is safe: every field is set.
  readonly strings = resetString({} as StringState, 'root', 0)
  declare truncated: boolean
  declare ambiguous: boolean
  declare scanned: number
  declare unbalanced: number
  declare closedAt: number
  declare noRows: number
  declare oneLine: number
  looked = 0
  readonly searched = createSearchedRanges()
  readonly recent: (string | undefined)[] = []
  /** Look-ahead limit after which reading stops: the remaining step budget. Streams have no limit of their own. */
  mostLooked = Number.POSITIVE_INFINITY
  declare tooDeep: boolean
  /** Marker of the fence around the value. Set it before `start`. */
  fence: string | undefined
  declare thoughts: number
  declare crossed: boolean
  /** What ended the value before its own brackets closed. */
  ended: 'fence' | 'thought' | undefined
  /** The root value is complete. */
  declare done: boolean

  declare gapStart: number
  declare gapCommas: number
  gapRule: RuleName | undefined
  pending: PendingKey | undefined
  /** Number of edits before the current value; withdrawing the value also withdraws its edits. */
  declare valueMark: number

  declare readonly sink: Sink
  declare readonly options: DecoderOptions

  constructor(sink: Sink, options: DecoderOptions) {
    this.sink = sink
    this.options = options
    // Sets the declared fields.
    this.start()
  }

  get top(): Frame | undefined {
    // Avoid index -1: the engine looks it up as a property name.
    const { length } = this.stack
    return length === 0 ? undefined : this.stack[length - 1]
  }

  get parent(): Frame | undefined {
    const { length } = this.stack
    return length < 2 ? undefined : this.stack[length - 2]
  }

  /** Begins a value at `i`, its first character. */
  start(): void {
    this.done = false
    this.truncated = false
    this.ambiguous = false
    this.scanned = 0
    this.unbalanced = 0
    this.closedAt = -1
    this.noRows = 0
    this.oneLine = 0
    this.tooDeep = false
    this.thoughts = 0
    this.crossed = false
    this.ended = undefined
    if (this.stack.length > 0) this.stack.length = 0
    this.string = undefined
    this.pending = undefined
    this.gapStart = this.base + this.i
    this.gapCommas = 0
    this.gapRule = undefined
    this.valueMark = 0
  }

  /** Whether only a single value is wanted: reading stops when the outermost list holds several. */
  onlyOne = false

  /** Reads until the value is complete or the text is used up. */
  run(): void {
    while (!this.done && !this.givesUp() && !(this.onlyOne && this.holdsSeveral)) {
      if (this.string !== undefined) {
        if (!readString(this, this.string)) return
      } else {
        readPlain(this)
        if (!this.step()) return
      }
    }
  }

  /** At least two values are complete; the third may still turn out to be part of the second. */
  get holdsSeveral(): boolean {
    const [root] = this.stack
    return root !== undefined && root.count > 2
  }

  givesUp(): boolean {
    return this.looked > this.mostLooked
  }

  /** Reads one token or one part of a gap; false when more text is needed. */
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
    if (c === ch.LESS || c === ch.BACKTICK || c === ch.TILDE) {
      const ended = endsAll(this, c)
      if (ended === MORE) return false
      if (ended !== undefined) return this.endHere(ended)
    }
    if (ch.isOddSpace(c)) return this.pass(1, 'odd-space')
    if (c === ch.SEMICOLON) return this.semicolon(frame)
    if (
      (c === ch.DOT || c === 0x2026) &&
      isEllipsis(buf, i) &&
      (frame?.state !== VALUE || frame.kind !== OBJECT)
    ) {
      return this.pass(buf.charCodeAt(i) === 0x2026 ? 1 : 3, 'ellipsis')
    }
    if (isKey) return keyStart(this, c, frame)
    return valueStart(this, c)
  }

  /** The current token was written with full-width punctuation. */
  oddToken = false

  /** Skips `length` characters of the gap. */
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

  /** Treats a semicolon between members or items as a comma, and at the end of a statement as noise. */
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
      if (c === ch.EQUALS && (frame?.kind !== OBJECT || frame.state === VALUE)) return valueStart(this, c)
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
    const isValueDue = frame === undefined || frame.kind !== OBJECT || frame.state === VALUE
    if (after === this.i) {
      if (isValueDue) return valueStart(this, c)
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
      return beginString(this, true)
    }
    if (isEscapedSpace(next)) return this.pass(2, 'odd-space')
    return this.pass(1, 'stray-text')
  }

  /** Reinterprets an object as a list: its content is that of a set. */
  toList(frame: Frame): void {
    frame.kind = LIST
    frame.state = VALUE
    frame.set = true
    this.sink.reopen('array')
    this.sink.edit('tuple', frame.start, frame.start + 1, '[')
  }

  /** Stores the key; it takes effect once its value begins. */
  takeKey(text: string, end: number, frame: Frame, rule: RuleName | undefined): boolean {
    this.hold(text, end, rule)
    frame.state = AFTER_KEY
    this.i = end
    this.gapFrom(end)
    return true
  }

  hold(text: string, end: number, rule: RuleName | undefined, start = this.base + this.i): void {
    const { gapStart, gapCommas, gapRule } = this
    this.pending = { text, start, end: this.base + end, rule, gapStart, gapCommas, gapRule }
  }

  /** Drops a key without a value: it becomes part of the gap before it. */
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

  /** Begins a value at `start` and settles the gap before it. */
  beginValue(start: number): void {
    const frame = this.top
    if (frame === undefined) return
    if (frame.kind === OBJECT) {
      const key = this.pending as PendingKey
      this.settleGap(key.gapStart, key.start, frame.count > 0 ? 1 : 0, key.gapCommas, key.gapRule)
      if (key.rule !== undefined) this.sink.rewrite(key.rule, key.start, key.end, key.text)
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

  settleGap(from: number, to: number, wanted: number, commas: number, rule: RuleName | undefined): void {
    if (rule === undefined && commas === wanted) return
    const why = rule ?? (commas < wanted ? 'missing-comma' : 'trailing-comma')
    this.sink.edit(why, from, to, wanted === 1 ? ',' : '')
  }

  /** Ends a value at `i`. */
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
    const frame = this.top as Frame
    if (frame.kind === OBJECT && frame.state !== KEY) this.dropPending('missing-value')
    this.stack.pop()
    const text = frame.kind === OBJECT ? '}' : ']'
    // The rest of the gap still separates the value from what follows, unless the text is over.
    this.sink.edit(rule, this.gapStart, this.gapStart, text)
    this.sink.close(this.gapStart)
    if (this.stack.length === 0) this.done = true
  }

  private endOfText(): void {
    if (this.stack.some((frame) => !frame.implicit)) this.truncated = true
    this.closeAll(this.buf.length, 'truncated')
  }

  /**
   * Ends the value at `i`, where the fence or reasoning block around it ends: in a closed fence only brackets are
   * missing, in a reasoning block the value was broken off.
   */
  private endHere(ended: 'fence' | 'thought'): true {
    this.ended = ended
    this.truncated = ended === 'thought'
    this.closeAll(this.i, ended === 'thought' ? 'truncated' : 'missing-closer')
    return true
  }

  private closeAll(at: number, rule: 'truncated' | 'missing-closer'): void {
    if (this.top?.kind === OBJECT && this.top.state !== KEY) this.dropPending('missing-value')
    const end = this.base + at
    if (this.stack.length > 0 && this.gapStart < end)
      this.sink.edit(this.gapRule ?? rule, this.gapStart, end, '')
    this.gapStart = end
    while (this.stack.length > 0) this.closeFrame(rule)
    this.done = true
  }
}
