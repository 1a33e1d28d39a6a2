/** The schema of an envelope and of the contract in it. */

import { labelPattern, mostLabels, priorityLevels } from '../placement.ts'
import { limitsSchema } from './draft-schema.ts'
import { modelSettingsSchema } from './model-settings-schema.ts'
import { anySchema, closed, condition, map, text } from './parts.ts'
import { policiesSchema, policyDefs } from './policy-schema.ts'

export const constraintSchema = closed(
  {
    constraintId: text,
    expr: condition,
    level: { enum: ['hard', 'soft', 'informational'] },
    rationale: { type: 'string' },
  },
  ['expr'],
)

export const contractSchema = closed(
  {
    mode: { const: 'json_schema' },
    schema: anySchema,
    hints: map,
    constraints: { type: 'array', items: constraintSchema },
  },
  ['schema'],
)

/** Older name of hard constraints on one facet; `goal-condition.ts` turns it into them. */
const goalConditionSchema = closed(
  { facet: text, path: { type: 'string', pattern: '^(/.*)?$' }, condition: { type: 'object' } },
  ['facet', 'condition'],
)

/** Free, but a limit that cannot be read must not be no limit. */
/** A name or value of a label. */
const label = { type: 'string', pattern: labelPattern.source } as const
const labelsSchema = {
  type: 'object',
  propertyNames: label,
  additionalProperties: label,
  maxProperties: mostLabels,
} as const

export const requestSchema = {
  type: 'object',
  properties: {
    threadId: text,
    resumeRunId: text,
    priority: { enum: Object.keys(priorityLevels) },
    placement: labelsSchema,
    ...limitsSchema.properties,
  },
} as const

export const envelopeSchema = {
  ...closed(
    {
      objective: { type: 'string', pattern: '\\S' },
      inputs: map,
      constraints: requestSchema,
      outputContract: contractSchema,
      policies: policiesSchema,
      specialInstructions: { type: 'array', items: { type: 'string' } },
      modelSettings: modelSettingsSchema,
      metadata: map,
      goal_condition: {
        anyOf: [goalConditionSchema, { type: 'array', items: goalConditionSchema }],
        deprecated: true,
      },
    },
    ['objective', 'outputContract'],
  ),
  $defs: policyDefs,
} as const
