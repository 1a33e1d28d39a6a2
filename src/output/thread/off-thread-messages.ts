/** The messages between the off-thread reader and its workers. Types only. */
import type { ErrorCode } from '../../base/errors/error.ts'
import type { Location } from '../../base/errors/issue.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import type { ParseOptions, ParseResult, ReaderEvent } from '../types.ts'

/** Options that can be copied to another thread: all except functions. */
export type PortableOptions = Omit<ParseOptions, 'stages' | 'onEvent'>

export type Request =
  | {
      readonly kind: 'parse'
      readonly text: string
      readonly schema: JsonSchema | undefined
      readonly options: PortableOptions
      /** Whether the events of the reading are wanted. */
      readonly events: boolean
    }
  | { readonly kind: 'compile'; readonly schema: JsonSchema; readonly untrusted: boolean }

export type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'parsed'; readonly result: ParseResult; readonly events: readonly ReaderEvent[] }
  | { readonly kind: 'compiled'; readonly hash: string }
  | { readonly kind: 'refused'; readonly error: Refusal }
  | { readonly kind: 'failed'; readonly message: string }

/** A ProvisoError serialised for transfer between threads. */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
  readonly at?: Location
}
