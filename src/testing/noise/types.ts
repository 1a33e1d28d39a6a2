/** Types of the noise corpus: a sample, a damage, and the expected answer after the damage. */
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import type { Random } from './random.ts'
import type { Token } from './tokens.ts'

/** A schema with a maker of varied instances that satisfy it. */
export interface NoiseSchema {
  readonly name: string
  readonly schema: JsonSchema
  make(random: Random): Json
}

/** A text that stands for a value, before or between damages. */
export interface Sample {
  readonly schema: JsonSchema
  /** What the text means. */
  readonly value: Json
  /** Another instance of the schema with a different value: drafts, examples, first attempts. */
  readonly decoy: Json
  readonly text: string
  /** The text as tokens, for damage of syntax; absent once the text is no longer a bare document. */
  readonly tokens?: readonly Token[]
  /** The document does not end with its closer, so nothing may be written after it. */
  readonly open?: true
}

/** What came of a damage. */
export type Outcome =
  | {
      readonly text: string
      readonly tokens?: readonly Token[]
      readonly open?: true
      /** The one right answer. */
      readonly expected: Json
    }
  | {
      readonly text: string
      readonly tokens?: readonly Token[]
      readonly open?: true
      /** Information is gone: the right answer is a refusal, or one of the values that policy allows. */
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

/** Where in a stack of damages a kind belongs; at most one kind per slot is stacked. */
export type Slot = 'value' | 'quotes' | 'structure' | 'embed' | 'character'

export interface Damage {
  readonly name: string
  readonly family: Family
  readonly slot: Slot
  /** Not stacked with other damage of the syntax, because together they could be read in two ways. */
  readonly alone?: true
  /** The text holds another plausible value, so it is not stacked with damage that loses information. */
  readonly decoy?: true
  /** `undefined` when the kind does not apply to this sample. */
  apply(random: Random, sample: Sample): Outcome | undefined
}

// What a family of noise is: texts with one right answer that need several abilities of a reader at once.

/** A text on its way: layers are put around it one after another. */
export interface Passage {
  readonly schemaName: string
  readonly schema: JsonSchema
  /** What the text means; `undefined` where it holds no answer. */
  readonly value: Json | undefined
  /** Another instance of the schema, for drafts that are not the answer. */
  readonly decoy: Json
  readonly text: string
  /** The text is one JSON value, well-formed or nearly so; otherwise there is text around it. */
  readonly single: boolean
  /** Names of what was done, in order. */
  readonly kinds: readonly string[]
  /** How often a string was encoded: more than two layers are beyond the default `unescapeDepth`. */
  readonly encoded: number
  readonly options?: ReadOptions
}

export interface NoiseFamily {
  readonly name: string
  /** `undefined` when what was drawn could be read in two ways. */
  make(random: Random): Passage | undefined
}

/** Puts something around a piece or writes it otherwise; `undefined` when that is not possible. */
export interface Layer {
  readonly name: string
  apply(random: Random, passage: Passage): Passage | undefined
}
