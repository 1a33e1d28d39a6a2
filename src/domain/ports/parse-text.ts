/** Port to the reader: how text from outside becomes a value, on this thread or on another one. */
import { type ParseOptions, type ParseResult, parse } from '../../output/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

/** Reads as `parse` does; aborting the signal ends a reading on another thread. */
export type ParseText = (
  text: string,
  schema: JsonSchema,
  options: ParseOptions,
  signal?: AbortSignal,
) => ParseResult | Promise<ParseResult>

/** Reads at once, on this thread. */
export const parseHere: ParseText = (text, schema, options) => parse(text, schema, options)
