/** Reads a JSON Schema from a file. */
import { isObject } from '../../base/json.ts'
import type { JsonSchema } from '../../output/index.ts'
import type { Unreadable } from '../read-input.ts'
import { readJson } from './read-json.ts'

type SchemaInput =
  | { readonly schema: JsonSchema; readonly text: string }
  | { readonly unreadable: Unreadable }

export async function readSchema(file: string): Promise<SchemaInput> {
  const read = await readJson(file, 'the schema')
  if ('unreadable' in read) return read
  const { value, text } = read
  if (typeof value === 'boolean') return { schema: value, text }
  if (isObject(value)) return { schema: value as JsonSchema, text }
  return {
    unreadable: {
      message: `${file} holds no JSON Schema: it must be an object, true or false`,
      hint: 'Start from {"type": "object", "properties": {}}',
    },
  }
}
