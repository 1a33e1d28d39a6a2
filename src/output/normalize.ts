/** The two plain functions for callers that want text or a value and no account of it (FSD-10, FSD-11). Called by pipelines and scripts. */
import { ProvisoError } from '../base/error.ts'
import { parse } from './parse.ts'
import type { AnySchema, Infer, ParseOptions } from './types.ts'

/**
 * The value found in a text, as strict JSON text; the last one unless told otherwise. A text without one comes back trimmed.
 *
 * @example
 * normalizeJsonText("Sure: {'a': 1,}") // '{"a":1}'
 */
export function normalizeJsonText(text: string, options: ParseOptions = {}): string {
  const result = parse(text, undefined, { prefer: 'last', ...options })
  if (!result.ok || result.repairs[0]?.rule === 'text-is-value') return text.trim()
  return JSON.stringify(result.value)
}

/**
 * The value of a text, valid under the schema.
 *
 * @throws ProvisoError `output/invalid` with the issues, when there is no such value
 */
export function parseAndValidate<S extends AnySchema = AnySchema>(
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
