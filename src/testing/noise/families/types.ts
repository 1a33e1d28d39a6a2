/** What a family of noise is: texts with one right answer that need several abilities of a reader at once. */
import type { Json } from '../../../base/json.ts'
import type { JsonSchema } from '../../../schema/compile/compile.ts'
import type { Random } from '../random.ts'
import type { ReadOptions } from '../types.ts'

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
