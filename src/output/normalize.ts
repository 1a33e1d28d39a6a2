/**
 * Convenience functions that return only the text or value, without repairs and issues (FSD-10, FSD-11). Called by
 * pipelines and scripts.
 */
import { ProvisoError } from '../base/errors/error.ts'
import type { Infer } from './infer.ts'
import { parse } from './parse.ts'
import type { AnySchema, ParseOptions } from './types.ts'

/**
 * Finds a value in a text and returns it as strict JSON text; by default the last one. Text without a value is returned
 * trimmed.
 *
 * @example
 * normalizeJsonText("Sure: {'a': 1,}") // '{"a":1}'
 */
export function normalizeJsonText(text: string, options: ParseOptions = {}): string {
  const result = parse(text, undefined, { prefer: 'last', ...options })
  if (!result.ok) return text.trim()
  if (result.repairs.some(({ rule }) => rule === 'text-is-value')) return String(result.value).trim()
  return JSON.stringify(result.value)
}

/**
 * Parses a text and returns the value, valid under the schema.
 *
 * @throws ProvisoError `output/invalid` with the issues, when there is no such value
 */
export function parseAndValidate<const S extends AnySchema = AnySchema>(
  text: string,
  schema?: S,
  options: ParseOptions = {},
): Infer<S> {
  const result = parse(text, schema, options)
  if (result.ok) return result.value as Infer<S> // `parse` promises the schema's own type
  const [first] = result.issues
  const more = result.issues.length > 1 ? ` (and ${result.issues.length - 1} more)` : ''
  throw new ProvisoError(
    'output/invalid',
    `The text holds no valid value: ${first?.message ?? 'unknown'}${more}`,
    {
      issues: result.issues,
      hint: first?.hint ?? 'See `issues` for each problem and its place',
      ...(first ? { at: first.at } : {}),
    },
  )
}
