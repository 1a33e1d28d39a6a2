/** What the page asks its worker, and what the worker answers: bounded, ready to be shown, plain data. */
import type { State } from './state.ts'

export type Request =
  | { readonly kind: 'read'; readonly state: State }
  /** What a reader shows when so many characters have arrived. */
  | { readonly kind: 'stream'; readonly state: State; readonly arrived: number }

export type Answer =
  | { readonly kind: 'read'; readonly reading: Reading }
  | { readonly kind: 'stream'; readonly partial: Partial }
  /** The schema is not JSON, or an option cannot be used. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The worker was stopped at its deadline, or broke. */
  | { readonly kind: 'stopped'; readonly message: string }

/** A repair or an issue, with its place in the text. */
export interface Note {
  readonly kind: 'extract' | 'text' | 'value' | 'issue'
  readonly range: readonly [start: number, end: number]
  /** Line and column, counted from one, and the pointer into the value if there is one. */
  readonly location: string
  readonly title: string
  readonly detail: string
  /** What was put where nothing was. */
  readonly inserted?: string
  /** What the place is in; `unknown` when only the pointer is known. */
  readonly where: 'text' | 'schema' | 'unknown'
}

/** A piece of the shown text. */
export interface Segment {
  readonly text: string
  readonly kind?: Note['kind'] | 'inserted' | 'skipped'
  /** What the note says that colours this piece. */
  readonly title?: string
}

export interface Reading {
  readonly ok: boolean
  readonly headline: string
  readonly value: string
  readonly segments: readonly Segment[]
  readonly issues: readonly Note[]
  readonly issueCount: number
  readonly repairs: readonly Note[]
  readonly repairCount: number
}

export interface Partial {
  readonly arrived: number
  readonly value: string
  readonly finished: readonly string[]
  readonly replaced: boolean
}
