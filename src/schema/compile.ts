/** Compiled JSON Schemas: the one place that knows Ajv. */
import type { Issue } from '../base/issue.ts'

/** A raw JSON Schema: 2020-12 unless `$schema` declares draft-07. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

export interface CompiledSchema {
  readonly schema: JsonSchema
  /** True when the value satisfies the schema; the fast question. */
  accepts(value: unknown): boolean
  /** Every violation (at most `limit`, default 100), located by JSON pointer; empty when the value is valid. */
  validate(value: unknown, limit?: number): Issue[]
  /** The same question for the sub-schema at a JSON pointer into this schema, e.g. `/properties/a/anyOf/0`. */
  acceptsAt(schemaPointer: string, value: unknown): boolean
}
