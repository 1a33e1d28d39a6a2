/** Short helper functions that build the schemas of the noise corpus. */
import type { JsonSchema } from '../../../schema/compile/compile.ts'

type Schema = Exclude<JsonSchema, boolean>

export const text: Schema = { type: 'string' }
export const flag: Schema = { type: 'boolean' }
export const number: Schema = { type: 'number' }
export const whole: Schema = { type: 'integer' }

export function oneOfWords(...words: string[]): Schema {
  return { type: 'string', enum: words }
}

export function array(items: Schema, more: Schema = {}): Schema {
  return { type: 'array', items, ...more }
}

/** Builds an object schema whose properties are all required except those in `optional`; closed by default. */
export function object(
  properties: Record<string, Schema>,
  options: { optional?: readonly string[]; open?: boolean; more?: Schema } = {},
): Schema {
  const required = Object.keys(properties).filter((key) => !options.optional?.includes(key))
  return {
    type: 'object',
    properties,
    required,
    ...(options.open ? {} : { additionalProperties: false }),
    ...options.more,
  }
}
