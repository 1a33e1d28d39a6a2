/** The schema of a draft, as people and models write it. */
import {
  anySchema,
  anyText,
  closed,
  condition,
  count,
  countOrNone,
  flag,
  map,
  text,
  texts,
  toolSchema,
} from './parts.ts'

const pointer = { type: 'string', pattern: '^(/.*)?$' } as const

const sourceKeys = { node: text, pointer, envelope: pointer, value: true, input: pointer } as const
const oneOrigin = {
  if: { type: 'object' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    oneOf: [
      { required: ['node'] },
      { required: ['envelope'] },
      { required: ['value'] },
      { required: ['input'] },
    ],
    dependentRequired: { pointer: ['node'] },
  },
} as const
export const sourceSchema = { ...closed(sourceKeys), ...oneOrigin } as const
/** One source, or several of which the first that exists is taken; one schema, so that errors name the very key. */
const binding = { ...sourceSchema, type: ['object', 'array'], items: sourceSchema, minItems: 1 } as const
const bindings = { type: 'object', additionalProperties: binding } as const
/** A binding of the whole answer, or one per property. */
const answer = {
  ...binding,
  properties: { ...sourceKeys, properties: bindings },
  if: { type: 'object', not: { required: ['properties'] } },
} as const

const targets = { anyOf: [text, { ...texts, minItems: 1 }] } as const

export const nodeKinds = [
  'structuring',
  'branch',
  'execution',
  'transformation',
  'validation',
  'fallback',
  'routing',
  'map',
  'loop',
] as const

/** Items of one map and rounds of one loop. */
export const mostIterations = 100_000

export const nodeSchema = closed(
  {
    id: text,
    kind: { enum: nodeKinds },
    label: anyText,
    capabilityId: text,
    derived: flag,
    facets: closed({ input: texts, output: texts }),
    contracts: closed({ input: anySchema, output: anySchema }),
    inputs: bindings,
    instructions: anyText,
    tools: { type: 'array', items: toolSchema, minItems: 1 },
    routing: closed(
      {
        routes: {
          type: 'array',
          items: closed({ condition, to: targets, label: anyText }, ['condition', 'to']),
        },
        elseTo: targets,
      },
      ['routes'],
    ),
    map: closed({
      maxItems: { ...count, maximum: mostIterations },
      concurrency: count,
      onItemFail: { enum: ['fail', 'skip', 'collect'] },
    }),
    loop: closed({
      maxRounds: { ...count, maximum: mostIterations },
      until: condition,
      onMaxRounds: { enum: ['fail', 'accept'] },
      state: anySchema,
    }),
    body: { $ref: '#' },
    postConditions: { type: 'array', items: condition },
    data: map,
    constraints: closed({
      max_duration_ms: count,
      no_credential_access: flag,
      no_execution_authority: flag,
      no_network_access: flag,
    }),
    retry: closed({ max: countOrNone, backoffMs: countOrNone }),
    alternates: texts,
    onFail: { enum: ['fail', 'ask'] },
    callBudget: count,
    tokenBudget: count,
    costBudgetUsd: { type: 'number', exclusiveMinimum: 0 },
    timeoutMs: count,
    rationale: anyText,
    metadata: map,
  },
  ['id'],
)

export const limitsSchema = closed({
  maxTokens: count,
  maxCalls: count,
  maxCostUsd: { type: 'number', exclusiveMinimum: 0 },
  deadlineMs: count,
  concurrency: count,
  maxAsks: countOrNone,
  maxReplans: countOrNone,
})

export const draftSchema = closed(
  {
    nodes: { type: 'array', items: nodeSchema, minItems: 1 },
    edges: {
      type: 'array',
      items: closed({ from: text, to: text, when: { enum: ['pass', 'fail', 'always'] } }, ['from', 'to']),
    },
    output: answer,
    limits: limitsSchema,
    metadata: map,
  },
  ['nodes'],
)
