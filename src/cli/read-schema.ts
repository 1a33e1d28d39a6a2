/** A JSON Schema from a file, or why there is none. */
import { type JsonSchema, parse } from '../output/index.ts'
import { lineAndColumn } from './print.ts'
import { readInput, type Unreadable } from './read-input.ts'

const maxSchemaBytes = 4 * 1024 * 1024

export type SchemaInput = { readonly schema: JsonSchema } | { readonly unreadable: Unreadable }

export async function readSchema(file: string): Promise<SchemaInput> {
  const input = await readInput(file, { maxBytes: maxSchemaBytes })
  if ('unreadable' in input) return input
  let value: unknown
  try {
    value = JSON.parse(input.text)
  } catch (error) {
    return { unreadable: notJson(file, input.text, error as SyntaxError) }
  }
  if (typeof value === 'boolean') return { schema: value }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { schema: value as JsonSchema }
  return {
    unreadable: {
      message: `${file} holds no JSON Schema: it must be an object, true or false`,
      hint: 'Start from {"type": "object", "properties": {}}',
    },
  }
}

function notJson(file: string, text: string, error: SyntaxError): Unreadable {
  const place = lineAndColumn(text, whereItBreaks(text, error))
  return {
    message: `${file}:${place}: the schema is not JSON: ${error.message}`,
    hint: 'A schema file must be strict JSON, without comments or trailing commas',
  }
}

/** V8 does not always say where; the first change that our own reader would make does. */
function whereItBreaks(text: string, error: SyntaxError): number {
  const said = /position (\d+)/.exec(error.message)
  if (said) return Number(said[1])
  const spans = parse(text, undefined, { aop: 'minimal' }).repairs.flatMap(({ at }) =>
    'span' in at ? [at.span[0]] : [],
  )
  return spans.length > 0 ? Math.min(...spans) : 0
}
