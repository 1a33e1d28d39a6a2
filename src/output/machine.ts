/**
 * The state that the decoder's parts share: frames of open brackets, the gap before the next token, the string being
 * read. Types and constants only; `decoder.ts` is the machine itself, the other files are its parts.
 */
import type { RuleName } from './rules.ts'
import type { Sink } from './tree.ts'

export const OBJECT = 0
export const LIST = 1
/** Round brackets: read as a list, or as their one item. */
export const ROUND = 2

export const KEY = 0
export const AFTER_KEY = 1
export const VALUE = 2

export interface Frame {
  kind: typeof OBJECT | typeof LIST | typeof ROUND
  state: typeof KEY | typeof AFTER_KEY | typeof VALUE
  /** How many members or items have begun. */
  count: number
  /** Opened by the decoder, not by the text. */
  readonly implicit: boolean
  /** A list that the text wrote with braces. */
  set: boolean
  /** Closing brackets that belong to nothing and are to be passed over. */
  spare: number
  readonly start: number
  /** The edit that rewrote the opening bracket, for the case that it must be rewritten again. */
  readonly openEdit: number
  /** Written with round brackets: `f(a=1)`. */
  round: boolean
}

/** A key whose value has not begun yet, with the gap that stood before it. */
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
  readonly role: Role
  readonly quote: number
  readonly closers: string
  /** Offset of the first character of the token. */
  readonly start: number
  /** How many quote characters delimit it: 1, 2 (doubled) or 3. */
  readonly delimiter: number
  /** Delimited by escaped quotes: `\"text\"`. */
  readonly escaped: boolean
  acc: string
  /** Index in the buffer from which content is not yet in `acc`. */
  seg: number
  /** What is not yet in `acc` holds escapes that JSON knows. */
  escapes: boolean
  /** Quotes that were taken as content, and where the last one stood. */
  rejects: number
  rejectAt: number
  /** The content before that quote, once it has been collected (`rejectedText`). */
  rejectText: string | undefined
  /** Brackets opened and not closed inside the content. */
  braces: number
  brackets: number
  /** All brackets that the content opened, and all that it closed. */
  opens: number
  shuts: number
  /** Offset of the last raw line break. */
  newlineAt: number
  /** Double quotes seen in a string of single ones. */
  others: number
  /** Of a string opened by “: up to which offset it is known whether ” or “ comes next; undefined where neither does. */
  ahead: { readonly until: number; readonly found: boolean | undefined }
  rule: RuleName | undefined
  /** The rule that held before the first quote was taken as content. */
  ruleBefore: RuleName | undefined
  /** The gap before the value, for the case that the value is taken back. */
  readonly before: {
    readonly gapStart: number
    readonly gapCommas: number
    readonly gapRule: RuleName | undefined
    readonly pending: PendingKey | undefined
  }
}

export interface DecoderOptions {
  readonly depth: number
  readonly acceptTruncated: boolean
  /** Read a doubtful closing bracket as one too many, not as the end of several values. */
  readonly dropClosers?: boolean
}

export interface Machine {
  buf: string
  readonly final: boolean
  i: number
  /** Offset of `buf[0]` in the whole text. */
  readonly base: number
  readonly stack: Frame[]
  readonly top: Frame | undefined
  string: StringState | undefined
  truncated: boolean
  done: boolean
  /** The value is nested deeper than allowed. */
  tooDeep: boolean
  /** What was looked at ahead of the token at hand, in steps; charged to the allowance. */
  looked: number
  readonly noCommentEnd: { from: number; to: number }
  /** Whether more was looked at than the allowance has left: then reading stops here. */
  givesUp(): boolean
  /** Mark of the fence around the value. */
  readonly fence: string | undefined
  /** Reasoning blocks that began inside the value and have not ended. */
  thoughts: number
  /** Up to which offset the bare token at hand is known to be plain: a stream must not look at it again. */
  scanned: number
  /** Up to which offset no closing bracket was found for one that belongs to nothing. */
  unbalanced: number
  /** Up to which offset no end of a table was found for a row that may have lost its bracket. */
  noRows: number
  /** Offset after the last closing bracket that closed something. */
  closedAt: number
  /** A closing bracket could be read in two ways. */
  ambiguous: boolean
  /** The token at hand was written with full-width punctuation. */
  oddToken: boolean
  gapStart: number
  gapCommas: number
  gapRule: RuleName | undefined
  pending: PendingKey | undefined
  /** Edits that stood before the value now being read; a value that is taken back takes its edits along. */
  valueMark: number
  readonly sink: Sink
  readonly options: DecoderOptions
  /** Leaves `length` characters of the gap behind. */
  pass(length: number, rule: RuleName): boolean
  /** What looked like an object is a set: read it as a list. */
  toList(frame: Frame): void
  /** The key is known; it counts once its value begins. */
  takeKey(text: string, end: number, frame: Frame, rule: RuleName | undefined): boolean
  /** Remembers a key and the gap before it until its value begins; `start` is the token's, by default `i`. */
  hold(text: string, end: number, rule: RuleName | undefined, start?: number): void
  /** The key has no value: it goes back into the gap before it. */
  dropPending(rule: RuleName): void
  /** A value begins at `start`: settle the gap before it. */
  beginValue(start: number): void
  /** A value has ended at `i`. */
  afterValue(): void
  gapFrom(i: number): void
  /** Closes the top frame at `i` without a bracket in the text. */
  closeFrame(rule: RuleName): void
}
