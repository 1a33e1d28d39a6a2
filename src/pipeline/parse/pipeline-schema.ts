/**
 * The JSON Schemas of pipeline files: one per kind of step, so that messages mention only that kind, and one
 * of the whole file for editors.
 */

import { mostIterations } from '../../domain/schemas/draft-schema.ts'
import {
  anySchema,
  closed,
  condition,
  count,
  countOrNone,
  flag,
  map,
  text,
} from '../../domain/schemas/parts.ts'
import { writtenProcessing } from '../../domain/schemas/processing-schema.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

type Properties = { readonly [name: string]: JsonSchema }

/** Seconds. */
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 604_800 } as const
const share = { type: 'number', minimum: 0, maximum: 1 } as const
const dollars = { type: 'number', exclusiveMinimum: 0 } as const
const versions = { type: ['string', 'number'] } as const

/** The keys of the specification, plus the schema of the answer. */
const stepProcessing = closed({ ...writtenProcessing.properties, schema: anySchema })

export const agentSchema = closed({
  model: text,
  system_prompt: {
    type: ['string', 'object'],
    properties: { from_file: text, variables: map },
    required: ['from_file'],
    additionalProperties: false,
  },
  output_schema: anySchema,
  processing: stepProcessing,
  model_settings: closed({ max_tokens: count }),
  timeout: seconds,
  max_retries: countOrNone,
  description: text,
})

const usageLimits = closed({
  total_tokens_limit: count,
  total_cost_usd_limit: dollars,
  max_tokens: count,
  max_cost_usd: dollars,
  max_calls: count,
})

const bound = { ...count, maximum: mostIterations } as const
const steps = { type: 'array', items: map } as const
const branches = {
  type: 'object',
  additionalProperties: { type: ['array', 'object'] },
  minProperties: 1,
} as const

/** Node ids join names with dots and slashes, so names must not contain them. */
const stepName = { type: 'string', pattern: '^[^./]{1,100}$' } as const

/** Keys of every kind of step. */
const common: Properties = {
  kind: text,
  name: stepName,
  input: true,
  updates_context: flag,
  mergeable_output: flag,
  sink_to: text,
  meta: map,
}

/** Keys of steps that call a worker. */
const calling: Properties = {
  agent: text,
  uses: text,
  params: map,
  processing: stepProcessing,
  meta: { ...map, properties: { processing: stepProcessing } },
  output_schema: anySchema,
  validate_fields: { type: ['boolean', 'array'], items: text },
  fallback: {
    type: ['string', 'object'],
    properties: { agent: text, uses: text },
    additionalProperties: false,
  },
  usage_limits: usageLimits,
  timeout: seconds,
  max_retries: countOrNone,
  on_fail: { enum: ['fail', 'ask'] },
  contract: { type: ['boolean', 'string'] },
  contract_version: text,
  auto_approve_above: share,
  review_low: share,
  review_high: share,
  suppress_below: share,
  confidence_type: text,
  max_inference_ms: count,
  constraints: closed({
    max_duration_ms: count,
    no_credential_access: flag,
    no_execution_authority: flag,
    no_network_access: flag,
  }),
}

export const stepSchemas = {
  step: closed({ ...common, ...calling }),
  parallel: closed({ ...common, branches }, ['branches']),
  conditional: closed({ ...common, condition, condition_expression: text, branches, default_branch: text }, [
    'branches',
  ]),
  map: closed(
    {
      ...common,
      map: closed(
        {
          iterable_input: text,
          body: steps,
          max_items: bound,
          concurrency: count,
          on_item_fail: { enum: ['fail', 'skip', 'collect'] },
        },
        ['iterable_input', 'body'],
      ),
    },
    ['map'],
  ),
  loop: closed(
    {
      ...common,
      loop: closed(
        {
          body: steps,
          max_loops: bound,
          exit_condition: condition,
          on_max_loops: { enum: ['fail', 'accept'] },
        },
        ['body', 'max_loops'],
      ),
    },
    ['loop'],
  ),
  router: closed(
    { ...common, router: closed({ router_agent: text, branches }, ['router_agent', 'branches']) },
    ['router'],
  ),
  hitl: closed({ ...common, message: text, input_schema: anySchema }, ['message']),
} as const satisfies Record<string, JsonSchema>

export type StepKind = keyof typeof stepSchemas

const limitKeys = {
  max_tokens: count,
  max_calls: count,
  max_cost_usd: dollars,
  deadline: seconds,
  concurrency: count,
  max_asks: countOrNone,
} as const

export const fileSchema = closed(
  {
    version: versions,
    name: text,
    description: text,
    input_schema: anySchema,
    output_schema: anySchema,
    context: map,
    agents: { type: 'object', additionalProperties: map },
    imports: { type: 'object', additionalProperties: text },
    steps: { ...steps, minItems: 1 },
    limits: closed(limitKeys),
    meta: map,
  },
  ['steps'],
)

/** The schema of the whole file, for editors. `proviso run` and `proviso validate` check what it cannot express. */
export function pipelineSchema(): JsonSchema {
  const step = { $ref: '#/$defs/step' }
  const list = { type: 'array', items: step }
  const several = { type: 'object', minProperties: 1, additionalProperties: { anyOf: [list, step] } }
  const kinds = Object.entries(stepSchemas).map(([kind, schema]) => {
    const properties: Record<string, JsonSchema> = { ...schema.properties }
    if ('branches' in properties) properties['branches'] = several
    for (const part of ['map', 'loop', 'router'] as const) {
      const inner = properties[part] as { properties: Record<string, JsonSchema> } | undefined
      if (!inner) continue
      const nested = { ...inner.properties }
      if ('body' in nested) nested['body'] = list
      if ('branches' in nested) nested['branches'] = several
      properties[part] = { ...inner, properties: nested }
    }
    const names = kind === 'router' ? ['router', 'dynamic_router'] : [kind]
    return {
      ...schema,
      properties: { ...properties, kind: { enum: names } },
      ...(kind !== 'step' && { required: ['kind', ...(('required' in schema && schema.required) || [])] }),
    }
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Proviso pipeline',
    ...fileSchema,
    properties: {
      ...fileSchema.properties,
      agents: { type: 'object', additionalProperties: { $ref: '#/$defs/agent' } },
      steps: { ...list, minItems: 1 },
    },
    $defs: { agent: agentSchema, step: { anyOf: kinds } },
  } as JsonSchema
}
