/** A JSON Schema from a file, or why there is none. */
import { isObject } from '../base/json.ts'
import type { JsonSchema } from '../output/index.ts'
import type { Unreadable } from './read-input.ts'
import { readJson } from './read-json.ts'

export type SchemaInput = { readonly schema: JsonSchema } | { readonly unreadable: Unreadable }

export async function readSchema(file: string): Promise<SchemaInput> {
  const read = await readJson(file, 'the schema')
  if ('unreadable' in read) return read
  const { value } = read
  if (typeof value === 'boolean') return { schema: value }
  if (isObject(value)) return { schema: value as JsonSchema }
  return {
    unreadable: {
      message: `${file} holds no JSON Schema: it must be an object, true or false`,
      hint: 'Start from {"type": "object", "properties": {}}',
    },
  }
}
