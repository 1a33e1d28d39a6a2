/** Types of the noise corpus: a sample, a damage, and the expected answer after the damage. */
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import type { Random } from './random.ts'
import type { Token } from './tokens.ts'

/** A schema with a generator of varied instances that satisfy it. */
export interface NoiseSchema {
  readonly name: string
  readonly schema: JsonSchema
  make(random: Random): Json
}

/** A text with the value that it represents, before or between two kinds of damage. */
export interface Sample {
  readonly schema: JsonSchema
  /** The value of the text. */
  readonly value: Json
  /** Another instance of the schema with a different value: drafts, examples, first attempts. */
  readonly decoy: Json
  readonly text: string
  /** The text as tokens, for damage of syntax; absent if the text is no longer a bare document. */
  readonly tokens?: readonly Token[]
  /** The document does not end with its closing bracket, so no text may follow it. */
  readonly open?: true
}

/** The result of a damage. */
export type Outcome =
  | {
      readonly text: string
      readonly tokens?: readonly Token[]
      readonly open?: true
      /** The only right answer. */
      readonly expected: Json
    }
  | {
      readonly text: string
      readonly tokens?: readonly Token[]
      readonly open?: true
      /** Information was lost: the right answer is a refusal, or one of the values that the policy allows. */
      readonly lost: true
      readonly allowed: readonly Json[]
    }

/** Options of the reader that the right answer depends on. */
export interface ReadOptions {
  readonly acceptTruncated?: true
}

export type Family =
  | 'prose'
  | 'fence'
  | 'tag'
  | 'reasoning'
  | 'echo'
  | 'several'
  | 'wrapper'
  | 'encoding'
  | 'comma'
  | 'closer'
  | 'quote'
  | 'string'
  | 'bare'
  | 'comment'
  | 'literal'
  | 'number'
  | 'schema'
  | 'character'
  | 'lost'

/** Position of a kind in a combination of damages; at most one kind per slot. */
export type Slot = 'value' | 'quotes' | 'structure' | 'embed' | 'character'

export interface Damage {
  readonly name: string
  readonly family: Family
  readonly slot: Slot
  /** Not combined with other damage of the syntax, because the text would be ambiguous. */
  readonly alone?: true
  /** The text contains another plausible value, so it is not combined with damage that loses information. */
  readonly decoy?: true
  /** Returns `undefined` if the kind does not apply to this sample. */
  apply(random: Random, sample: Sample): Outcome | undefined
}

// Families of noise: texts with one right answer that need several abilities of a reader at once.

/** A text under construction: layers are added around it one after another. */
export interface Passage {
  readonly schemaName: string
  readonly schema: JsonSchema
  /** The value of the text; `undefined` if it contains no answer. */
  readonly value: Json | undefined
  /** Another instance of the schema, for drafts that are not the answer. */
  readonly decoy: Json
  readonly text: string
  /** The text is one JSON value, well-formed or nearly so; otherwise there is text around it. */
  readonly single: boolean
  /** Names of the applied changes, in order. */
  readonly kinds: readonly string[]
  /** How often a string was encoded; more than two layers exceed the default `unescapeDepth`. */
  readonly encoded: number
  readonly options?: ReadOptions
}

export interface NoiseFamily {
  readonly name: string
  /** Returns `undefined` if the generated text is ambiguous. */
  make(random: Random): Passage | undefined
}

/** Wraps or rewrites a text; returns `undefined` if that is not possible. */
export interface Layer {
  readonly name: string
  apply(random: Random, passage: Passage): Passage | undefined
}
