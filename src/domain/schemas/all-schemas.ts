/** The JSON Schema of every noun that comes from outside: what the parsers check with, published for editors and forms. */
import { diagnosticBundleSchema } from './diagnostic-schema.ts'
import { limitsSchema, nodeKinds, nodeSchema, sourceSchema } from './draft-schema.ts'
import { constraintSchema } from './envelope-schema.ts'
import { anySchema, closed, condition, count, map, text, texts } from './parts.ts'
import { raoContractSchema } from './rao-schema.ts'

export { capabilitySchema } from './capability-schema.ts'
export { diagnosticBundleSchema, diagnosticSchema } from './diagnostic-schema.ts'
export { draftSchema } from './draft-schema.ts'
export { contractSchema, envelopeSchema } from './envelope-schema.ts'
export { facetSchema } from './facet-schema.ts'
export { policySchema } from './policy-schema.ts'
export { replySchema } from './reply-schema.ts'

const sources = { type: 'array', items: sourceSchema } as const
const bySource = { type: 'object', additionalProperties: sources } as const
const provenance = {
  type: 'array',
  items: closed({ facet: text, pointer: { type: 'string' } }, ['facet', 'pointer']),
} as const

const planNodeSchema = closed(
  {
    ...nodeSchema.properties,
    kind: { enum: nodeKinds },
    body: { $ref: '#/$defs/body' },
    contracts: closed({ input: anySchema, output: anySchema }, ['input', 'output']),
    inputs: bySource,
    alternateContracts: {
      type: 'object',
      additionalProperties: closed({
        input: anySchema,
        output: anySchema,
        postConditions: { type: 'array', items: condition },
      }),
    },
    requires: texts,
    needs: { type: 'array', items: closed({ input: text, from: texts }, ['input', 'from']) },
    postConditions: { type: 'array', items: condition },
    guards: { type: 'array', items: constraintSchema },
    provides: texts,
    enforces: texts,
    facetProvenance: closed({ input: provenance, output: provenance }, ['input', 'output']),
    rao: {
      type: 'array',
      items: closed({ from: text, capabilityId: text, contract: raoContractSchema }, [
        'from',
        'capabilityId',
        'contract',
      ]),
    },
  },
  [
    'id',
    'kind',
    'contracts',
    'inputs',
    'needs',
    'postConditions',
    'guards',
    'provides',
    'enforces',
    'facetProvenance',
  ],
)

/** What a plan and the body of a map or a loop have in common. */
const graph = {
  nodes: { type: 'array', items: planNodeSchema, minItems: 1 },
  edges: {
    type: 'array',
    items: closed(
      {
        from: text,
        to: text,
        when: { enum: ['pass', 'fail', 'always'] },
        kind: { enum: ['control', 'data'] },
      },
      ['from', 'to', 'when', 'kind'],
    ),
  },
  output: { anyOf: [sources, closed({ properties: bySource }, ['properties'])] },
} as const

/** The schema of a proven plan, as journals and streams hold it. Nothing reads plans with it: only `prove` makes them. */
export const planSchema = {
  ...closed(
    {
      version: count,
      ...graph,
      aside: bySource,
      limits: limitsSchema,
      diagnostics: diagnosticBundleSchema,
      metadata: map,
    },
    ['version', 'nodes', 'edges', 'output', 'limits', 'diagnostics', 'metadata'],
  ),
  $defs: { body: closed(graph, ['nodes', 'edges', 'output']) },
} as const
