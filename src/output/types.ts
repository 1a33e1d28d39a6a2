/** Public types of the reader: options and results (DECISIONS 1–6). Types only. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Location } from '../base/errors/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import type { JsonSchema } from '../schema/compile/compile.ts'
import type { PartialValue } from './infer.ts'
import type { ReaderIssue } from './issue-table.ts'

/** The stage of the chain that made a change (AROS-56). */
export type Stage = 'extract' | 'tolerant' | 'syntactic' | 'semantic' | 'custom'

/** One recorded change made while reading model text. */
export interface Repair {
  readonly stage: Stage
  /** The rule that was applied, a row of the rule table (`rules.ts`). */
  readonly rule: string
  /** Text repairs have a range of the original text, value repairs a pointer into the value. */
  readonly at: Location
  /** Before the change: source text for a range, a value for a pointer. */
  readonly before: unknown
  /** After the change; `undefined` for a removed member. */
  readonly after: unknown
}

export interface Limits {
  /** Maximum text length, in UTF-16 units. Default 16 Mi. */
  readonly bytes: number
  /** Maximum nesting depth. Default 512. */
  readonly depth: number
  /**
   * Maximum steps of work for one text: readings, visited values, branches tried. Default 2 000 000 plus 100 per
   * character.
   */
  readonly steps?: number
  /** Maximum number of repairs listed; further ones are only counted. Default 10 000. */
  readonly repairs: number
}

/** Conversions the caller allows, by target type (AROS-49). */
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
  /**
   * What the reader may do: `off` strict parse only, `minimal` extraction and syntax, `full` everything. Default
   * `full`.
   */
  readonly aop?: 'off' | 'minimal' | 'full'
  /** Which decoders may run: 0 strict + deterministic repair, 1 + JSON5, 2 + guided repair. Default 2 in `full`, 0 in `minimal`. */
  readonly tolerance?: 0 | 1 | 2
  /** Conversions per target type. Default: every unambiguous one in `full`, none in `minimal`. */
  readonly allow?: Allow
  /** How many levels of JSON inside strings may be unwrapped. Default 2. */
  readonly unescapeDepth?: number
  /** How a union branch is chosen when the unconverted value matches none. Default `first-pass`. */
  readonly anyOf?: 'first-pass'
  /** Tie-break between equally good values. Default `first`. */
  readonly prefer?: 'first' | 'last' | 'largest'
  /** Whether the value may contain a string that was cut off. Default false. */
  readonly acceptTruncated?: boolean
  /** Drop list items that cannot be made valid, and record each as a repair. Default false. */
  readonly salvage?: boolean
  /** Fill in the schema's `default` for absent properties, and record each as a repair. Default false. */
  readonly defaults?: boolean
  /** Pointers whose values are never converted and whose objects keep undeclared keys as issues; `*` matches one token. */
  readonly closed?: readonly Pointer[]
  readonly limits?: Partial<Limits>
  /** Dry run: report what would change, change nothing. Default false. */
  readonly shadow?: boolean
  /** Custom stages, run after the built-in ones and before the final validation. */
  readonly stages?: readonly CustomStage[]
  /** Receives the named trace events; not called when nothing had to be changed. */
  readonly onEvent?: (event: ReaderEvent) => void
  /** JSON Schema of a Standard Schema's input, for libraries that do not export it. */
  readonly jsonSchema?: JsonSchema
  /** The schema is untrusted: check its limits and run its regexes on a linear-time engine. Default false. */
  readonly untrusted?: boolean
  /** Run the regexes of a trusted schema on the linear-time engine, too, where it can express them. Default false. */
  readonly linearPatterns?: boolean
}

/** A custom stage of the chain. Returns the new value, or `undefined` to leave the value unchanged. */
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
  /** All changes in order: first edits of the text, then changes of the value. */
  readonly repairs: readonly Repair[]
  /** How many repairs were made; larger than `repairs.length` when `limits.repairs` was hit. */
  readonly repairCount: number
  /** The text ended before the value was complete. */
  readonly truncated: boolean
  /** The union branch taken, by JSON pointer into the value (C4). */
  readonly branches: Readonly<Record<Pointer, number>>
  /** The original text. */
  readonly raw: string
  /** In shadow mode only: the result that would have been returned. */
  readonly shadow?: ParseResult<unknown>
}

export interface ParseSuccess<T> extends Common {
  readonly ok: true
  readonly value: T
  /** Notes on the schema (`schema/unknown-dialect`, `schema/unguided`); empty otherwise. */
  readonly issues: readonly ReaderIssue[]
}

export interface ParseFailure extends Common {
  readonly ok: false
  /** Always absent; declared so that `const { ok, value } = parse(…)` compiles and `ok` narrows `value`. */
  readonly value?: undefined
  readonly issues: readonly ReaderIssue[]
  /** The best value found, unvalidated, for diagnosis only; absent when none was found. */
  readonly candidate?: unknown
}

export type ParseResult<T = unknown> = ParseSuccess<T> | ParseFailure

/** Accepted schemas: JSON Schema, a Standard Schema value, or a type name such as `string[]`. */
export type AnySchema = JsonSchema | StandardSchemaV1 | string

export interface Pushed<P> {
  /** A live, read-only, unvalidated view until the next push; `undefined` until a value has begun. */
  readonly partial: P | undefined
  /** Paths completed by this chunk; each is reported once. */
  readonly finished: readonly Pointer[]
  /** Another candidate replaced the value: earlier partials and finished paths are void. */
  readonly replaced: boolean
}

export interface Reader<T, P = PartialValue<T>> {
  /** Adds the next chunk of the text. */
  push(chunk: string): Pushed<P>
  /** Ends the text and returns the same result as `parse` on all chunks joined. */
  end(): ParseResult<T>
}
