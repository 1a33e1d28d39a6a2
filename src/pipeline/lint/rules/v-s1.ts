/** V-S1: object and list schemas that do not declare their contents. */
import { isObject, type Json } from '../../../base/json.ts'
import { plainValue } from '../../yaml/yaml-tree.ts'
import type { Rule } from '../rule.ts'

export const vS1: Rule<'V-S1'> = {
  id: 'V-S1',
  title: 'A schema without its parts',
  severity: 'note',
  help: `An object schema without \`properties\`, or a list schema without \`items\`, accepts anything inside. The model does not see what is required, and nothing reports when it is missing.

Name the properties and what their values are, or the items. \`additionalProperties\` with a schema is enough for maps of any keys.`,
  good: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write.
    output_schema: { type: array, items: { type: string } }
steps:
  - name: write
    agent: writer
    processing: { structured_output: auto }
`,
  bad: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write.
    output_schema: { type: array }
steps:
  - name: write
    agent: writer
    processing: { structured_output: auto }
`,
  *check({ agents }) {
    for (const { name, schema } of agents.values()) {
      const missing = schema && missingPart(plainValue(schema))
      if (!schema || missing === undefined) continue
      yield {
        range: schema.alias ?? schema.range,
        message: `the schema of the agent "${name}" has no ${missing}`,
        hint: `Say what is inside: ${missing}`,
      }
    }
  },
}

function missingPart(schema: Json): string | undefined {
  if (!isObject(schema)) return undefined
  const has = (...keys: readonly string[]) => keys.some((key) => Object.hasOwn(schema, key))
  if (has('$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const')) return undefined
  if (schema['type'] === 'object' && !has('properties', 'additionalProperties', 'patternProperties'))
    return 'properties'
  return schema['type'] === 'array' && !has('items', 'prefixItems', 'contains') ? 'items' : undefined
}
