/** The public shapes of the reader: options in, result out (DECISIONS 1–6). Types only. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Issue, Place } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import type { JsonSchema } from '../schema/compile.ts'

/** Where in the chain a change was made (AROS-56). */
export type Stage = 'extract' | 'tolerant' | 'syntactic' | 'semantic' | 'custom'

/** One recorded change made while reading model text. */
export interface Repair {
  readonly stage: Stage
  /** The rule that acted, a row of the rule table (`rules.ts`). */
  readonly rule: string
  /** Text repairs carry a span of the original text, value repairs a pointer into the value. */
  readonly at: Place
  /** What stood there: source text for a span, a value for a pointer. */
  readonly before: unknown
  /** What stands there now; `undefined` for a removed member. */
  readonly after: unknown
}

export interface Limits {
  /** Longest text that is read, in UTF-16 units. Default 16 Mi. */
  readonly bytes: number
  /** Deepest nesting that is read. Default 512. */
  readonly depth: number
  /** Steps of work for one text: readings, visited values, branches tried. Default 500 000 and 100 for each character. */
  readonly steps?: number
  /** How many repairs are kept; more are counted and not listed. Default 10 000. */
  readonly repairs: number
}

/** A conversion the caller allows, by target type (AROS-49). */
export interface Allow {
  readonly integer?: readonly Conversion[]
  readonly number?: readonly Conversion[]
  readonly boolean?: readonly Conversion[]
  readonly string?: readonly Conversion[]
  readonly array?: readonly Conversion[]
  readonly object?: readonly Conversion[]
  readonly null?: readonly Conversion[]
}

export type Conversion =
  | 'str->int'
  | 'str->float'
  | 'str->bool'
  | 'str->null'
  | 'str->array'
  | 'str->object'
  | 'num->str'
  | 'num->bool'
  | 'word->bool'
  | 'json->str'
  | 'wrap'
  | 'unwrap'

export interface ParseOptions {
  /** How much the reader may do: `off` strict parse only, `minimal` extraction and syntax, `full` everything. Default `full`. */
  readonly aop?: 'off' | 'minimal' | 'full'
  /** Which decoders may run: 0 strict + deterministic repair, 1 + JSON5, 2 + guided repair. Default 2 in `full`, 0 in `minimal`. */
  readonly tolerance?: 0 | 1 | 2
  /** Conversions per target type. Default: every unambiguous one in `full`, none in `minimal`. */
  readonly allow?: Allow
  /** How many times JSON inside a string may be unfolded. Default 2. */
  readonly unescapeDepth?: number
  /** How a union branch is chosen when nothing validates as it stands. Default `first-pass`. */
  readonly anyOf?: 'first-pass'
  /** Which of several equally good values wins. Default `first`. */
  readonly prefer?: 'first' | 'last' | 'largest'
  /** Whether a string that was cut off may end up in the value. Default false. */
  readonly acceptTruncated?: boolean
  /** Drop list items that cannot be made valid, recorded. Default false. */
  readonly salvage?: boolean
  /** Fill `default` of the schema for absent properties, recorded. Default false. */
  readonly defaults?: boolean
  /** Pointers whose values are never converted and whose objects keep undeclared keys as issues; `*` matches one token. */
  readonly closed?: readonly Pointer[]
  readonly limits?: Partial<Limits>
  /** Say what would be done, change nothing. Default false. */
  readonly shadow?: boolean
  /** The caller's own stages, run after the built-in ones and before the final validation. */
  readonly stages?: readonly CustomStage[]
  /** Receives the named trace events; never called when nothing had to be changed. */
  readonly onEvent?: (event: ReaderEvent) => void
  /** JSON Schema of a Standard Schema value that cannot say it itself. */
  readonly jsonSchema?: JsonSchema
  /** The schema comes from a stranger: limits are checked and regexes run on a linear engine. Default false. */
  readonly untrusted?: boolean
}

/** A step of the caller's own in the chain. Returns the new value, or `undefined` to leave it as it is. */
export interface CustomStage {
  readonly name: string
  run(value: unknown, context: { readonly text: string; readonly schema: JsonSchema | undefined }): unknown
}

export type ReaderEvent =
  | {
      readonly type: 'output.coercion.attempt'
      readonly stage: Stage
      readonly reason: string
      readonly expected_type?: string
      readonly actual_type?: string
      readonly shadow?: true
    }
  | {
      readonly type: 'output.coercion.success'
      readonly stage: Stage
      readonly transforms: readonly string[]
      readonly branch_index?: number
      readonly branch_choices?: Readonly<Record<Pointer, number>>
      readonly shadow?: true
    }
  | {
      readonly type: 'output.coercion.fail'
      readonly stage: Stage
      readonly error_preview: string
      readonly shadow?: true
    }

interface Common {
  /** Every change that was made, in order: first edits of the text, then changes of the value. */
  readonly repairs: readonly Repair[]
  /** How many repairs were made; larger than `repairs.length` when `limits.repairs` was hit. */
  readonly repairCount: number
  /** The text ended before the value did. */
  readonly truncated: boolean
  /** Which union branch was taken, by JSON pointer into the value (C4). */
  readonly branches: Readonly<Record<Pointer, number>>
  /** The text as it came. */
  readonly raw: string
  /** What the reader would have answered, in shadow mode only. */
  readonly shadow?: ParseResult<unknown>
}

export interface ParseSuccess<T> extends Common {
  readonly ok: true
  readonly value: T
  /** Notes on the schema (`schema/unknown-dialect`); empty otherwise. */
  readonly issues: readonly Issue[]
}

export interface ParseFailure extends Common {
  readonly ok: false
  readonly issues: readonly Issue[]
  /** The best value found, unvalidated, for diagnosis only; absent when there was none. */
  readonly candidate?: unknown
}

export type ParseResult<T = unknown> = ParseSuccess<T> | ParseFailure

/** What a caller may hand in as a schema: JSON Schema, a Standard Schema value, or a type name such as `string[]`. */
export type AnySchema = JsonSchema | StandardSchemaV1 | string

/** The type of the value that a schema promises. */
export type Infer<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown

/** A value that is still arriving: anything may be missing, and nothing has been validated. */
export type Partial_<T> = T extends readonly (infer U)[]
  ? Partial_<U>[]
  : T extends object
    ? { [K in keyof T]?: Partial_<T[K]> }
    : T

export interface Pushed<T> {
  /** A live, read-only, unvalidated view until the next push; `undefined` until a value has begun. */
  readonly partial: Partial_<T> | undefined
  /** Paths that were completed by this chunk; each is announced once. */
  readonly finished: readonly Pointer[]
  /** Another candidate took over: earlier partials and finished paths are void. */
  readonly replaced: boolean
}

export interface Reader<T> {
  /** Takes the next chunk of the text. */
  push(chunk: string): Pushed<T>
  /** Ends the text: the same result as `parse` on all chunks joined. */
  end(): ParseResult<T>
}
