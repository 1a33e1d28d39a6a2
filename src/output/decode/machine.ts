/**
 * The state shared by the decoder's parts: the stack of open brackets, the gap before the next token, the string being
 * read. Types and constants only; `decoder.ts` is the machine, the other files are its parts.
 */
import type { RuleName } from '../rules.ts'
import type { SearchedRanges } from './lookahead.ts'
import type { Sink } from './tree/tree.ts'

export const OBJECT = 0
export const LIST = 1
/** Round brackets: read as a list, or as their single item. */
export const ROUND = 2

export const KEY = 0
export const AFTER_KEY = 1
export const VALUE = 2

export interface Frame {
  kind: typeof OBJECT | typeof LIST | typeof ROUND
  state: typeof KEY | typeof AFTER_KEY | typeof VALUE
  /** Number of members or items begun so far. */
  count: number
  /** Opened by the decoder, not by the text. */
  implicit: boolean
  /** A list written with braces. */
  set: boolean
  /** Number of surplus closing brackets to skip. */
  spare: number
  start: number
  /** The edit that rewrote the opening bracket, in case it must be rewritten again. */
  openEdit: number
  /** Written with round brackets: `f(a=1)`. */
  round: boolean
}

/** Creates the frame of a bracket just opened, by the text or `implicit`ly. */
export function createFrame(kind: Frame['kind'], start: number, openEdit: number, implicit = false): Frame {
  // The cast is safe: every field is set.
  const frame = reuseFrame({} as Frame, kind, start, openEdit)
  frame.implicit = implicit
  return frame
}

/** Prepares a closed frame for another bracket: a text may open a million of them. */
export function reuseFrame(frame: Frame, kind: Frame['kind'], start: number, openEdit: number): Frame {
  frame.kind = kind
  frame.state = kind === OBJECT ? KEY : VALUE
  frame.count = 0
  frame.implicit = false
  frame.set = false
  frame.spare = 0
  frame.start = start
  frame.openEdit = openEdit
  frame.round = kind === ROUND
  return frame
}

/** A key whose value has not begun yet, with the gap before it. */
export interface PendingKey {
  text: string
  start: number
  end: number
  rule: RuleName | undefined
  gapStart: number
  gapCommas: number
  gapRule: RuleName | undefined
}

export type Role = 'key' | 'value' | 'item' | 'root'

export interface StringState {
  role: Role
  quote: number
  closers: string
  /** Offset of the first character of the token. */
  start: number
  /** Number of quote characters that delimit the string: 1, 2 (doubled) or 3. */
  delimiter: number
  /** Delimited by escaped quotes: `\"text\"`. */
  escaped: boolean
  acc: string
  /** Index in the buffer from which content is not yet in `acc`. */
  seg: number
  /** The content not yet in `acc` contains escapes that JSON supports. */
  escapes: boolean
  /** It contains escapes that JSON does not support, which are content as they are. */
  oddEscapes: boolean
  /** Quotes read as content, and the offset of the last one. */
  rejects: number
  rejectAt: number
  /** The content before that quote, once collected (`rejectedText`). */
  rejectText: string | undefined
  /** Brackets opened and not yet closed inside the content. */
  braces: number
  brackets: number
  /** Total number of brackets that the content opened and closed. */
  opens: number
  shuts: number
  /** Fences opened inside the content, on their own lines. */
  fences: number
  /** Double quotes seen in a single-quoted string. */
  others: number
  /**
   * For a string opened by “: the offset up to which the next ” or “ is known, and whether it is ”; undefined where
   * neither occurs.
   */
  aheadUntil: number
  aheadFound: boolean | undefined
  rule: RuleName | undefined
  /** The rule in effect before the first quote was read as content. */
  ruleBefore: RuleName | undefined
  /** The gap before the value, in case the value is withdrawn. */
  gapStart: number
  gapCommas: number
  gapRule: RuleName | undefined
  pending: PendingKey | undefined
}

/** Prepares the state for a string whose content begins at `seg`. One object serves all strings: there may be a million. */
export function resetString(s: StringState, role: Role, seg: number): StringState {
  s.role = role
  s.quote = 0
  s.closers = ''
  s.start = 0
  s.delimiter = 1
  s.escaped = false
  s.acc = ''
  s.seg = seg
  s.escapes = false
  s.oddEscapes = false
  s.rejects = 0
  s.rejectAt = -1
  s.rejectText = undefined
  s.braces = 0
  s.brackets = 0
  s.opens = 0
  s.shuts = 0
  s.fences = 0
  s.others = 0
  s.aheadUntil = 0
  s.aheadFound = undefined
  s.rule = undefined
  s.ruleBefore = undefined
  s.gapStart = 0
  s.gapCommas = 0
  s.gapRule = undefined
  s.pending = undefined
  return s
}

export interface DecoderOptions {
  readonly depth: number
  readonly acceptTruncated: boolean
  /** Read an ambiguous closing bracket as surplus, not as the end of several values. */
  readonly dropClosers?: boolean
  /** Called by streams at every line break in a string: whether the fence around the value closes there, or may do so. */
  readonly awaitsFence?: (d: Machine, s: StringState, i: number) => boolean
}

export interface Machine {
  buf: string
  readonly final: boolean
  i: number
  /** Offset of `buf[0]` in the whole text. */
  readonly base: number
  readonly stack: Frame[]
  /** A frame that was closed and can be used again. */
  spareFrame: Frame | undefined
  /** The innermost open bracket, and the one around it. */
  readonly top: Frame | undefined
  readonly parent: Frame | undefined
  /** The string being read: `strings`, which is reused, or nothing. */
  string: StringState | undefined
  readonly strings: StringState
  truncated: boolean
  done: boolean
  /** The value is nested deeper than allowed. */
  tooDeep: boolean
  /** Look-ahead beyond the current token, in steps; charged to the step budget. */
  looked: number
  readonly searched: SearchedRanges
  /** Keys of the previous objects by member index: objects of one list usually share them. */
  readonly recent: (string | undefined)[]
  /** Whether look-ahead exceeded the remaining step budget, which stops reading. */
  givesUp(): boolean
  /** Marker of the fence around the value. */
  readonly fence: string | undefined
  /**
   * A stream reached the line that closes the fence around the value, inside a string or where a value was due: only
   * the whole text shows whether the value ends there.
   */
  crossed: boolean
  /** Reasoning blocks that began inside the value and are still open. */
  thoughts: number
  /** Offset up to which the current bare token is known to be plain, so that a stream does not scan it again. */
  scanned: number
  /** Offset up to which no closing bracket was found for a stray opening one. */
  unbalanced: number
  /** Offset up to which no end of a table was found for a row that may lack its opening bracket. */
  noRows: number
  /** Offset up to which the gap behind a closing bracket has no line break. */
  oneLine: number
  /** Offset after the last closing bracket that matched. */
  closedAt: number
  /** A closing bracket was ambiguous. */
  ambiguous: boolean
  /** The current token was written with full-width punctuation. */
  oddToken: boolean
  gapStart: number
  gapCommas: number
  gapRule: RuleName | undefined
  pending: PendingKey | undefined
  /** Number of edits before the current value; withdrawing the value also withdraws its edits. */
  valueMark: number
  readonly sink: Sink
  readonly options: DecoderOptions
  /** Skips `length` characters of the gap. */
  pass(length: number, rule: RuleName): boolean
  /** Reinterprets an object as a list: its content is that of a set. */
  toList(frame: Frame): void
  /** Stores the key; it takes effect once its value begins. */
  takeKey(text: string, end: number, frame: Frame, rule: RuleName | undefined): boolean
  /** Stores a key and the gap before it until its value begins; `start` is the token's offset, by default `i`. */
  hold(text: string, end: number, rule: RuleName | undefined, start?: number): void
  /** Drops a key without a value: it becomes part of the gap before it. */
  dropPending(rule: RuleName): void
  /** Begins a value at `start` and settles the gap before it. */
  beginValue(start: number): void
  /** Ends the gap between two offsets: emits an edit unless the gap held exactly the required commas. */
  settleGap(from: number, to: number, wanted: number, commas: number, rule: RuleName | undefined): void
  /** Ends a value at `i`. */
  afterValue(): void
  gapFrom(i: number): void
  /** Closes the top frame at `i` without a bracket in the text. */
  closeFrame(rule: RuleName): void
}

/** Charges a search of the open brackets: several are checked in the time that a character takes. */
export function chargeStack(d: Machine): void {
  d.looked += 1 + (d.stack.length >> 4)
}
