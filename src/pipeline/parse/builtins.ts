/** The built-ins that steps may use: a row each, with the schemas of its parameters. Parser, compiler, lint and docs read it. */
import { closed, flag, text } from '../../domain/schemas/parts.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

interface BuiltinRow {
  readonly params: { readonly [name: string]: JsonSchema }
  readonly required?: readonly string[]
  /** It calls a model or a server: limits of calls and retries have an effect. */
  readonly calls?: 'model' | 'server'
  /** What its output always is, for lint rules. */
  readonly output?: 'object' | 'array' | 'text'
}

export const builtins = {
  extract_from_text: {
    params: { schema: { type: ['object', 'boolean'] }, model: text },
    calls: 'model',
    output: 'object',
  },
  wrap_dict: { params: { key: text }, output: 'object' },
  ensure_object: { params: { key: text }, output: 'object' },
  passthrough: { params: {} },
  stringify: { params: {}, output: 'text' },
  select_fields: {
    params: {
      fields: {
        type: ['array', 'object'],
        items: text,
        additionalProperties: text,
        minItems: 1,
        minProperties: 1,
      },
    },
    required: ['fields'],
    output: 'object',
  },
  flatten: { params: {}, output: 'array' },
  join: { params: { separator: { type: 'string' } }, output: 'text' },
  to_csv: {
    params: {
      columns: { type: 'array', items: text, minItems: 1, uniqueItems: true },
      header: flag,
      delimiter: { enum: [',', ';', '\t', '|'] },
      formulas: { enum: ['escape', 'keep'] },
    },
    output: 'text',
  },
  http_get: { params: {}, calls: 'server', output: 'object' },
} as const satisfies Record<string, BuiltinRow>

export type BuiltinName = keyof typeof builtins

export function isBuiltinName(name: string): name is BuiltinName {
  return Object.hasOwn(builtins, name)
}

export function getBuiltin(name: BuiltinName): BuiltinRow {
  return builtins[name]
}

export function paramsSchema(name: BuiltinName): JsonSchema {
  const { params, required = [] } = getBuiltin(name)
  return closed(params, required)
}
