/** One located problem, the shape in which every room reports what is wrong (DECISIONS 2). */
import type { Pointer } from './pointer.ts'

/** A half-open range of UTF-16 offsets in the original text. */
export type Span = readonly [start: number, end: number]

/** Where something is: a range of the text, or a place in the value. */
export type Place = { readonly span: Span } | { readonly pointer: Pointer }

export interface Issue {
  /** Stable machine-readable name, `room/what`. */
  readonly code: string
  readonly at: Place
  /** What happened, in words that a person can act on. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
  readonly expected?: unknown
  readonly actual?: unknown
  /** Text edits that would mend it, where they are known. */
  readonly fix?: readonly Edit[]
}

/** Replaces a range of the text. */
export interface Edit {
  readonly span: Span
  readonly text: string
}
