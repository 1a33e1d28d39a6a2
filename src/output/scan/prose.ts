/**
 * Scans the text around values: prose, fences, tags, reasoning blocks. `Prose` finds the offsets where a value may
 * begin and tracks the surroundings; the decoder reads the values.
 */
import * as ch from '../decode/chars.ts'
import { THOUGHT_NAMES } from '../decode/ends.ts'
import { bareKeyAt, MORE, NO, QUESTION, skip, type Window, YES } from '../decode/lookahead.ts'

/** The surroundings of an offset in the text. */
export interface Surroundings {
  /** Label of the enclosing fence, `''` for a fence without a label, undefined outside of fences. */
  readonly fence: string | undefined
  /** Inside a reasoning block. */
  readonly reasoning: boolean
}

export interface Block {
  readonly kind: 'fence' | 'tag'
  readonly name: string
  readonly start: number
  readonly end: number
  readonly reasoning: boolean
}

const INTERESTING = /[{[`~<｛［◁]/g
const REASONING = new RegExp(`^(?:${THOUGHT_NAMES})$`)
const TAG = /<(\/?)([A-Za-z_][\w:.-]{0,40})(?:[\s=][^<>]{0,200})?>/y
const TOKEN = /<[|｜]([A-Za-z_▁]{1,40})[|｜]>/y
/** `[THINK]` and the variant `◁think▷`. */
const BRACKET_TAG = /\[(\/?)(?:THINK|THINKING|REASONING)\]|◁(\/?)think▷/y
export const MOST_BLOCKS = 200

export class Prose {
  fence: { readonly mark: string; readonly label: string; readonly start: number } | undefined
  reasoning = 0
  /** Everything before this offset is reasoning: a closing tag without its opening tag was found. */
  reasonedUntil = 0
  readonly blocks: Block[] = []
  readonly #tags: { name: string; start: number }[] = []

  /**
   * The next index from `from` at which a value may begin; `buf.length` if there is none, MORE when a stream must
   * deliver more (`resume` is then the index to continue from). Gives up after inspecting more than `most`.
   */
  next(w: Window, from: number, base: number, most = Number.POSITIVE_INFINITY): number {
    let i = from
    for (;;) {
      if (w.looked > most) return w.buf.length
      INTERESTING.lastIndex = i
      // Every matching character is one unit long; avoid allocating a match object for each.
      if (!INTERESTING.test(w.buf)) return w.buf.length
      i = INTERESTING.lastIndex - 1
      const c = ch.fold(w.buf.charCodeAt(i))
      const isOpener = c === ch.LBRACE || c === ch.LBRACKET
      if (isOpener) {
        const starts = c === ch.LBRACE ? objectStarts(w, i) : listStarts(w, i)
        if (starts === MORE) return this.#wait(i)
        if (starts === YES) return i > from && inQuotes(w.buf, i) ? i - 1 : i
      }
      const after =
        c === ch.LESS
          ? this.#tag(w, i, base)
          : c === ch.LBRACE || ch.isCloser(w.buf.charCodeAt(i + 1))
            ? i + 1
            : isOpener || c === 0x25c1
              ? this.#bracketTag(w.buf, i, base)
              : this.#fence(w, i, base)
      if (after === MORE) return this.#wait(i)
      i = after
    }
  }

  resume = 0

  #wait(i: number): typeof MORE {
    this.resume = i
    return MORE
  }

  /** The closing tag of the innermost open tag; undefined outside of tags. */
  get tagEnd(): string | undefined {
    const tag = this.#tags.at(-1)
    return tag && `</${tag.name}>`
  }

  get surroundings(): Surroundings {
    return { fence: this.fence?.label, reasoning: this.reasoning > 0 }
  }

  /** Ends all open blocks at the end of the text. */
  finish(end: number): void {
    if (this.fence !== undefined) this.#block('fence', this.fence.label, this.fence.start, end)
    this.fence = undefined
  }

  #block(kind: 'fence' | 'tag', name: string, start: number, end: number): void {
    if (this.blocks.length < MOST_BLOCKS)
      this.blocks.push({ kind, name, start, end, reasoning: this.reasoning > 0 })
  }

  #fence(w: Window, i: number, base: number): number {
    const { buf } = w
    const mark = buf[i] as string
    let j = i
    while (buf[j] === mark && j < i + 100) j++
    if (j >= buf.length && !w.final) return MORE
    if (j - i < 3) return j
    let label = /^ (?:json|json5|jsonc|yaml|text)\s/i.test(buf.slice(j, j + 8)) ? j + 1 : j
    while (label < buf.length && label < j + 32 && ch.isNameChar(buf.charCodeAt(label))) label++
    if (label >= buf.length && !w.final) return MORE
    const open = this.fence
    if (open !== undefined && buf[i] === open.mark[0]) {
      if (j - i < open.mark.length) return j
      this.#block('fence', open.label, open.start, base + i)
      this.fence = undefined
      if (label === j) return j
    }
    if (open !== undefined && this.fence === open) return j
    this.fence = {
      mark: buf.slice(i, j),
      label: buf.slice(j, label).trim().toLowerCase(),
      start: base + label,
    }
    return label
  }

  #tag(w: Window, i: number, base: number): number {
    const { buf } = w
    if (buf.length - i < 256 && !w.final && buf.indexOf('>', i) < 0) return MORE
    TOKEN.lastIndex = i
    const token = TOKEN.exec(buf)
    if (token !== null) return this.#token(buf, token[1] as string, TOKEN.lastIndex)
    TAG.lastIndex = i
    const tag = TAG.exec(buf)
    if (tag === null) return i + 1
    const name = (tag[2] as string).toLowerCase()
    this.#named(name, tag[1] === '/', base + i, base + TAG.lastIndex)
    return TAG.lastIndex
  }

  #bracketTag(buf: string, i: number, base: number): number {
    BRACKET_TAG.lastIndex = i
    const tag = BRACKET_TAG.exec(buf)
    if (tag === null) return i + 1
    this.#named('think', (tag[1] ?? tag[2]) === '/', base + i, base + BRACKET_TAG.lastIndex)
    return BRACKET_TAG.lastIndex
  }

  #named(name: string, closing: boolean, start: number, end: number): void {
    if (REASONING.test(name)) {
      if (!closing) this.reasoning++
      else if (this.reasoning > 0) this.reasoning--
      else this.reasonedUntil = start
      return
    }
    if (!closing) {
      this.#tags.push({ name, start: end })
      if (this.#tags.length > MOST_BLOCKS) this.#tags.shift()
      return
    }
    // At most `MOST_BLOCKS` of them.
    const open = this.#tags.findLastIndex((tag) => tag.name === name)
    if (open < 0) return
    this.#block('tag', name, (this.#tags[open] as { start: number }).start, start)
    this.#tags.length = open
  }

  /** Chat-template tokens: reasoning channels and ends of turns. */
  #token(buf: string, name: string, end: number): number {
    if (name === 'channel') {
      const channel = /^\s*(\w+)/.exec(buf.slice(end, end + 40))?.[1]
      this.reasoning = channel === 'final' ? 0 : 1
    } else if (/^(?:start|end|im_start|im_end|return|call)$/.test(name)) {
      this.reasoning = 0
    } else if (/thought|think|reason/.test(name)) {
      this.reasoning = /^end|_end$/.test(name) ? 0 : 1
    }
    return end
  }
}

/** `"{\"a\": 1}"`: the bracket is at the beginning of a string that holds escaped JSON. */
function inQuotes(buf: string, at: number): boolean {
  return buf.charCodeAt(at - 1) === ch.DQUOTE && /^.\s*(?:\\[nrt]\s*)*\\/.test(buf.slice(at, at + 80))
}

/** Whether this brace in prose begins an object. */
function objectStarts(w: Window, at: number): typeof YES | typeof NO | typeof MORE {
  const i = skip(w, at + 1)
  if (i === MORE) return MORE
  const { buf } = w
  if (i >= buf.length) return only(buf, at)
  const c = ch.fold(buf.charCodeAt(i))
  if (ch.isQuote(c) || c === ch.RBRACE || c === ch.RBRACKET) return YES
  if (c === ch.BACKSLASH) return ch.isQuote(buf.charCodeAt(i + 1)) ? YES : NO
  if (c === ch.COMMA) return /^,\s*["'“„]/.test(buf.slice(i, i + 40)) ? YES : only(buf, at)
  if (c === ch.LBRACE) return isObjectAfterBrace(w, i)
  if (c === ch.DOT || c === 0x2026) return only(buf, at)
  if (!ch.isNameChar(c)) return only(buf, at)
  const key = bareKeyAt(w, i)
  if (key !== NO) return key
  return /^[\w$]+(?:\s*=[^=]|\s+['"“])/.test(buf.slice(i, i + 80)) ? YES : only(buf, at)
}

/** `{{`: a placeholder of a template, or an object written by a template. */
function isObjectAfterBrace(w: Window, brace: number): typeof YES | typeof NO | typeof MORE {
  const i = skip(w, brace + 1)
  if (i === MORE) return MORE
  return ch.isQuote(w.buf.charCodeAt(i)) ? YES : NO
}

/** YES if only space precedes: then the bracket is not within prose. */
function only(buf: string, at: number): typeof YES | typeof NO {
  for (let i = at - 1; i >= 0 && i > at - 64; i--) if (!ch.isSpace(buf.charCodeAt(i))) return NO
  return YES
}

/** Whether this bracket in prose begins a list. */
function listStarts(w: Window, at: number): typeof YES | typeof NO | typeof MORE {
  const i = skip(w, at + 1)
  if (i === MORE) return MORE
  const { buf } = w
  if (i >= buf.length) return only(buf, at)
  const c = ch.fold(buf.charCodeAt(i))
  if (c === ch.RBRACKET) return isCheckbox(buf, at) ? NO : YES
  if (ch.isQuote(c) || c === ch.LBRACE || c === ch.LBRACKET || c === ch.LPAREN) return YES
  if (c === ch.COMMA) return /^,\s*["'{[\d]/.test(buf.slice(i, i + 20)) ? YES : only(buf, at)
  if (c === ch.RBRACE) return only(buf, at)
  if (c === ch.BACKSLASH) return ch.isQuote(buf.charCodeAt(i + 1)) ? YES : NO
  return wordsInBrackets(w, at, i)
}

/** Bare words or numbers: a list only if a comma or the bracket follows directly, and no link follows. */
function wordsInBrackets(w: Window, at: number, from: number): typeof YES | typeof NO | typeof MORE {
  const { buf } = w
  w.looked += QUESTION
  for (let i = from; i < buf.length && i < from + 120; i++) {
    const c = ch.fold(buf.charCodeAt(i))
    if (c === ch.COMMA || c === ch.LF) return YES
    if (c === ch.RBRACKET) {
      if (i + 1 >= buf.length && !w.final) return MORE
      const next = buf.charCodeAt(i + 1)
      // `[TOOL_CALLS]` is a marker. One bare word in brackets is prose, unless it is the whole text.
      if (/^(?:[A-Z]+_[A-Z]+|ARGS)$/.test(buf.slice(from, i))) return NO
      if (/^\p{L}/u.test(buf.slice(from, from + 2))) return only(buf, at)
      return next === ch.LPAREN || next === ch.COLON || /^[_/][A-Z_/]*$/.test(buf.slice(from, i)) ? NO : YES
    }
    if (ch.isOpener(c)) return /^[-\d"']/.test(buf.slice(from, from + 1)) ? YES : NO
  }
  if (from + 120 >= buf.length && !w.final) return MORE
  return only(buf, at)
}

function isCheckbox(buf: string, at: number): boolean {
  return buf[at + 1] === ' ' && buf[at + 2] === ']' && /[-*+]\s$/.test(buf.slice(Math.max(0, at - 2), at))
}
