/** One located problem: the format in which all modules report invalid input (DECISIONS 2). */
import type { Pointer } from '../pointer.ts'

/** A half-open range of UTF-16 offsets in the original text. */
export type TextRange = readonly [start: number, end: number]

/** A location: a range of the text, or a pointer into the value. */
export type Location = { readonly span: TextRange } | { readonly pointer: Pointer }

export interface Issue<Code extends string = string> {
  /** Stable machine-readable code, `area/problem`; each entry point exports the union of its codes. */
  readonly code: Code
  readonly at: Location
  /** What happened, in words that the reader can act on. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
  readonly expected?: unknown
  readonly actual?: unknown
  /** Text edits that would fix it, if known. */
  readonly fix?: readonly Edit[]
}

/** Replaces a range of the text. */
export interface Edit {
  readonly span: TextRange
  readonly text: string
}
