/** Building blocks of the schemas. */
import type { JsonSchema } from '../../schema/json-schema.ts'

type Properties = { readonly [name: string]: JsonSchema }

export const text = { type: 'string', minLength: 1 } as const
export const texts = { type: 'array', items: text } as const
export const anyText = { type: 'string' } as const
export const flag = { type: 'boolean' } as const
/** Free-form data of the author. */
export const map = { type: 'object' } as const
export const count = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const
export const countOrNone = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
/** A JSON Schema; whether it compiles is checked apart. */
export const anySchema = { type: ['object', 'boolean'] } as const
/** A condition; its operators are checked apart. */
export const condition = { type: ['object', 'boolean'] } as const

/** An object with these keys and no others. */
export function closed(properties: Properties, required: readonly string[] = []) {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  } as const
}

/** A capability as a tool of an agent: its id, or how it is used. */
export const toolSchema = {
  anyOf: [
    text,
    closed(
      {
        capabilityId: text,
        name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$' },
        description: { type: 'string' },
        approval: { anyOf: [{ enum: ['never', 'always'] }, closed({ when: condition }, ['when'])] },
        maxCalls: count,
        timeoutMs: count,
      },
      ['capabilityId'],
    ),
  ],
} as const

/** Objects that say in one key which of several forms they have; each form is closed, and errors speak of that form alone. */
export function tagged(
  tag: string,
  forms: {
    readonly [name: string]: { readonly properties: Properties; readonly required?: readonly string[] }
  },
) {
  return {
    type: 'object',
    required: [tag],
    properties: { [tag]: { enum: Object.keys(forms) } },
    allOf: Object.entries(forms).map(([name, { properties, required = [] }]) => ({
      if: { required: [tag], properties: { [tag]: { const: name } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: closed({ [tag]: { const: name }, ...properties }, required),
    })),
  } as const
}
