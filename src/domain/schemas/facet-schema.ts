/** The schema of a facet, with the spellings that the specification uses side by side. */
import { anySchema, anyText, closed, text, texts } from './parts.ts'

/** Facets are properties of contracts and words in conditions, so their names have no dots or slashes. */
const facetName = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_-]*$', maxLength: 100 } as const

const direction = { enum: ['input', 'output', 'bidirectional'] } as const

export const facetSchema = closed(
  {
    name: facetName,
    title: text,
    description: anyText,
    schema: anySchema,
    semantics: { anyOf: [anyText, closed({ instruction: anyText }, ['instruction'])] },
    instruction: anyText,
    metadata: {
      type: 'object',
      properties: {
        version: text,
        direction,
        directionality: direction,
        dependencies: texts,
        propertyKey: facetName,
      },
      anyOf: [{ required: ['direction'] }, { required: ['directionality'] }],
    },
  },
  ['name', 'schema', 'metadata'],
)
