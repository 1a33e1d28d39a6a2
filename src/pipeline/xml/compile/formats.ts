/** Combines the output format that a task declares with the return type of its template. */
import { type OutputFormat, shorthandSchema } from '../../../output/index.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'

/** The contract of an output format; without a declaration, text. */
export function schemaOf(format: OutputFormat | undefined): JsonSchema {
  if (format === undefined || format.type === 'text') return { type: 'string' }
  // Any JSON value; at level `minimal` the reader does not accept bare text as one.
  return format.schema === undefined ? {} : (shorthandSchema(format.schema) ?? false)
}

/** Name of a format in messages. */
export function formatName({ type, schema }: OutputFormat): string {
  return schema ?? (type === 'text' ? 'string' : 'json')
}

/** The narrower of the two formats (meet), or `conflict` if neither contains the other. */
export function joined(
  own: OutputFormat | undefined,
  wanted: OutputFormat | undefined,
): OutputFormat | 'conflict' | undefined {
  if (own === undefined || wanted === undefined) return own ?? wanted
  if (isWithin(own, wanted)) return own
  return isWithin(wanted, own) ? wanted : 'conflict'
}

function isWithin(inner: OutputFormat, outer: OutputFormat): boolean {
  if (outer.type === 'json' && outer.schema === undefined) return true
  if (inner.type === 'json' && inner.schema === undefined) return false
  return isNarrower(formatName(inner), formatName(outer))
}

function isNarrower(inner: string, outer: string): boolean {
  if (inner === outer) return true
  if (inner === 'integer' && outer === 'number') return true
  const [a, b] = [itemOf(inner), itemOf(outer)]
  if (a === undefined || b === undefined) return false
  return b === '' || (a !== '' && isNarrower(a, b))
}

/** `string` for `string[]`; empty for a list of anything; `undefined` for a type that is not a list. */
function itemOf(name: string): string | undefined {
  if (name === 'array' || name === '[]') return ''
  return name.endsWith('[]') ? name.slice(0, -2).trimEnd() : undefined
}
