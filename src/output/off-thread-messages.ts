/** What the off-thread reader and its workers say to each other. Types only. */
import type { ErrorCode } from '../base/error.ts'
import type { Place } from '../base/issue.ts'
import type { JsonSchema } from '../schema/compile.ts'
import type { ParseOptions, ParseResult } from './types.ts'

/** Options that can be copied to another thread: all but functions. */
export type PortableOptions = Omit<ParseOptions, 'stages' | 'onEvent'>

export type Request =
  | {
      readonly kind: 'parse'
      readonly text: string
      readonly schema: JsonSchema | undefined
      readonly options: PortableOptions
    }
  | { readonly kind: 'compile'; readonly schema: JsonSchema; readonly untrusted: boolean }

export type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'parsed'; readonly result: ParseResult }
  | { readonly kind: 'compiled'; readonly hash: string }
  | { readonly kind: 'refused'; readonly error: Refusal }
  | { readonly kind: 'failed'; readonly message: string }

/** A ProvisoError on its way between threads. */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
  readonly at?: Place
}
