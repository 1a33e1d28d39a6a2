/**
 * The JSON Schemas of pipeline files: one per kind of step, so that messages mention only that kind, and one
 * of the whole file for editors.
 */

import { mostIterations } from '../../domain/schemas/draft-schema.ts'
import { modelSettingsSchema } from '../../domain/schemas/model-settings-schema.ts'
import {
  anySchema,
  closed,
  count,
  countOrNone,
  flag,
  condition as logic,
  map,
  text,
} from '../../domain/schemas/parts.ts'
import { writtenProcessing } from '../../domain/schemas/processing-schema.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { mergeStrategies } from './pipeline.ts'

type Properties = { readonly [name: string]: JsonSchema }

/** Seconds. */
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 604_800 } as const
const share = { type: 'number', minimum: 0, maximum: 1 } as const
const dollars = { type: 'number', exclusiveMinimum: 0 } as const
/** JSON-Logic, or an expression. */
const condition = { type: [...logic.type, 'string'], minLength: 1 } as const
const versions = { type: ['string', 'number'] } as const

/** The keys of the specification, plus the schema of the answer. */
const stepProcessing = closed({ ...writtenProcessing.properties, schema: anySchema })

const { topP, maxOutputTokens, reasoningEffort, providerOptions, ...sameInFiles } =
  modelSettingsSchema.properties

/** As in code, in snake_case; `max_tokens` is the older name of `max_output_tokens`. */
const modelSettings = closed({
  ...sameInFiles,
  top_p: topP as JsonSchema,
  max_output_tokens: maxOutputTokens as JsonSchema,
  max_tokens: maxOutputTokens as JsonSchema,
  reasoning_effort: reasoningEffort as JsonSchema,
  provider_options: providerOptions as JsonSchema,
})

const approval = { anyOf: [{ enum: ['never', 'always'] }, closed({ when: condition }, ['when'])] } as const

/** Tools of an agent: ids of capabilities, `agents.NAME` or `http_get`, or maps with more about one. */
const tools = {
  type: 'array',
  items: {
    type: ['string', 'object'],
    minLength: 1,
    properties: {
      uses: text,
      name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$' },
      description: text,
      approval,
      max_calls: count,
      timeout: seconds,
    },
    required: ['uses'],
    additionalProperties: false,
  },
} as const

export const agentSchema = closed({
  tools,
  handoffs: tools,
  limits: closed({
    turns: { ...count, minimum: 2 },
    tokens: count,
    cost_usd: { type: 'number', exclusiveMinimum: 0 },
    result_characters: { ...count, minimum: 200 },
  }),
  tool_choice: { anyOf: [{ enum: ['auto', 'none', 'required'] }, closed({ tool: text }, ['tool'])] },
  model: text,
  system_prompt: {
    type: ['string', 'object'],
    properties: { from_file: text, variables: map },
    required: ['from_file'],
    additionalProperties: false,
  },
  output_schema: anySchema,
  processing: stepProcessing,
  model_settings: modelSettings,
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
  // The name of an agent, or the agent itself, which is checked apart.
  agent: { type: ['string', 'object'], minLength: 1 },
  tools,
  uses: text,
  params: map,
  processing: stepProcessing,
  model_settings: modelSettings,
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
  parallel: closed({ ...common, branches, merge_strategy: { enum: [...mergeStrategies] } }, ['branches']),
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
    model_settings: modelSettings,
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
    if ('agent' in properties) properties['agent'] = { anyOf: [text, { $ref: '#/$defs/agent' }] }
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
