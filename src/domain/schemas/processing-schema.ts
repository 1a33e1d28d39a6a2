/** The schema of a `processing` block: the keys of the specification, spelt as there, and no others. */
import { conversions } from '../../output/index.ts'
import { anySchema, closed, count, countOrNone, flag, text, texts } from './parts.ts'

const share = { type: 'number', minimum: 0, maximum: 1 } as const
/** A model by its name, or with a system prompt. */
const precheckAgent = {
  type: ['string', 'object'],
  minLength: 1,
  properties: { model: text, instructions: { type: 'string' } },
  additionalProperties: false,
} as const
const listed = (type: keyof typeof conversions) =>
  ({ type: 'array', items: { enum: conversions[type] } }) as const

const precheck = {
  enabled: flag,
  mode: { enum: ['observe', 'guide'] },
  validator_agent: precheckAgent,
  max_tokens: count,
  score_threshold: share,
  required_context_keys: texts,
  inject_feedback: { enum: ['prepend', 'context_key', null] },
  retry_guidance_prefix: { type: 'string' },
  context_feedback_key: text,
  goal_context_key: text,
  delimiters: { type: 'array', items: text, minItems: 2, maxItems: 2 },
  consensus_agent: precheckAgent,
  consensus_samples: countOrNone,
  consensus_threshold: share,
} as const

/** The keys of the specification, as people write them. */
export const writtenProcessing = closed({
  structured_output: { enum: ['off', 'auto', 'openai_json', 'outlines', 'xgrammar'] },
  aop: { enum: ['off', 'minimal', 'full'] },
  shadow: flag,
  enforcement: { enum: ['off', 'validate', 'repair'] },
  enforce_grammar: flag,
  coercion: closed({
    tolerant_level: { enum: [0, 1, 2] },
    max_unescape_depth: { type: 'integer', minimum: 0, maximum: 16 },
    anyof_strategy: { enum: ['first-pass'] },
    allow: closed({
      integer: listed('integer'),
      number: listed('number'),
      boolean: listed('boolean'),
      string: listed('string'),
      array: listed('array'),
      object: listed('object'),
      null: listed('null'),
    }),
  }),
  repair: closed({ max_attempts: countOrNone, enable_llm: flag }),
  fallback: closed({ max_stages: countOrNone, enable_extractor: flag, degrade_to_string: flag }),
  degrade_on_unexpected_behavior: flag,
  schema_simplify: flag,
  streaming: closed({ enabled: flag, early_abort: flag, aggregate_structured: flag }),
  reasoning_precheck: closed(precheck),
  stages: texts,
  max_output_tokens: count,
})

/** A block of a node: compilers also say which inputs only the precheck reads, and the schema that is only asked for. */
export const processingSchema = closed({
  ...writtenProcessing.properties,
  schema: anySchema,
  reasoning_precheck: closed({ ...precheck, context_inputs: texts }),
})
